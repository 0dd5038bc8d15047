#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/small/dense_eigen.hpp>
#include <heddle/linalg/small/small_dense.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/linalg/sparse/csr_ops.hpp>
#include <heddle/solvers/preconditioners/inverse_diagonal.hpp>
#include <heddle/solvers/preconditioners/multigrid/hierarchy.hpp>
#include <heddle/solvers/preconditioners/multigrid/prolongator.hpp>
#include <heddle/solvers/preconditioners/multigrid/smoothing_polynomial.hpp>
#include <heddle/solvers/preconditioners/multigrid/unknowns.hpp>
#include <heddle/solvers/spectrum/lanczos_bounds.hpp>
#include <heddle/spgemm/spgemm.hpp>
#include <limits>
#include <utility>
#include <vector>

namespace heddle::detail {
namespace {

constexpr Index kCoarsestRows = 300;  // the dense inverse of this order takes about 0.03 s
constexpr Index kMostDenseRows =
    1200;  // the largest order of a dense inverse, where coarsening ends early
constexpr double kMostComplexity = 3;   // entries of all levels per entry of A
constexpr double kLeastReduction = .8;  // rows of a level per row of the finer one, at most
constexpr Index kMostLevels = 20;
constexpr double kMostProducts = 100;  // multiplications of A P per entry of A

/// Between nodes with several unknowns every connection is strong.
double strength_threshold(Index unknowns) { return unknowns > 1 ? 0 : 0.08; }

/// The seconds between calls of `lap`.
class Stopwatch {
 public:
  double lap() {
    const auto before = std::exchange(last_, std::chrono::steady_clock::now());
    return std::chrono::duration<double>(last_ - before).count();
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

[[noreturn]] void refuse_indefinite(double value) {
  throw InvalidArgument(
      fmt::format("MultigridPreconditioner: A must be positive semidefinite, it has an eigenvalue "
                  "below {:.3g} times its largest one",
                  value));
}

[[noreturn]] void refuse_infinite() {
  throw InvalidArgument("MultigridPreconditioner: A has entries that are not finite");
}

/// Bounds the spectrum of A, whose diagonal is one. On coarser levels the rounding errors of PᵀAP,
/// divided by small diagonal entries, may be negative eigenvalues, so that only the finest level
/// tells whether A is indefinite.
double upper_bound(HostContext& context, CsrView<double, HostSpace> A, bool finest) {
  const SpectrumBounds bounds = lanczos_bounds<double>(context, A);
  const double norm = norm_1<double>(context, A);
  if (!std::isfinite(norm) || !std::isfinite(bounds.upper)) refuse_infinite();
  const double bound = std::min(norm, bounds.upper);
  if (!(bound > 0)) return 1;
  const double rounding = static_cast<double>(A.rows) * std::numeric_limits<double>::epsilon();
  if (finest && bounds.smallest_ritz < -std::max(rounding, 1e-12) * bound) {
    refuse_indefinite(bounds.smallest_ritz / bound);
  }
  return bound;
}

/// The binary exponents of the largest entries of the columns of X, 0 for a column of zeros.
std::vector<int> exponents(ConstBlockView<double, HostSpace> X) {
  std::vector<int> made(static_cast<std::size_t>(X.cols()), 0);
  for (Index j = 0; j < X.cols(); ++j) {
    double largest = 0;
    for (Index i = 0; i < X.rows(); ++i) largest = std::max(largest, std::abs(X(i, j)));
    if (largest > 0) made[static_cast<std::size_t>(j)] = std::ilogb(largest);
  }
  return made;
}

/// The near null vectors in terms of the scaled matrix: those given, else the vectors that are 1 at
/// one unknown of all nodes. Powers of two bring the largest entries of those given near 1, so that
/// squares neither overflow nor vanish.
MultiVector<double, HostSpace> near_null_vectors(HostContext& context, Index n, Index unknowns,
                                                 const MultigridOptions& options,
                                                 const Buffer<double, HostSpace>& scaling) {
  const ConstBlockView<double, HostSpace> given = options.near_null;
  if (!given.empty() && given.rows() != n) {
    throw InvalidArgument(
        fmt::format("MultigridPreconditioner: near_null has {} rows, A has {}", given.rows(), n));
  }
  const Index m = given.empty() ? unknowns : given.cols();
  const std::vector<int> scales = exponents(given);
  MultiVector<double, HostSpace> X(context, n, m);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < m; ++j) {
      const double value = given.empty()
                               ? static_cast<double>(i % m == j)
                               : std::scalbn(given(i, j), -scales[static_cast<std::size_t>(j)]);
      X.view()(i, j) = value / scaling.data()[i];
    }
  }
  return X;
}

/// The finest grid, and s with its A = diag(s) A diag(s).
std::pair<Grid, Buffer<double, HostSpace>> finest_grid(HostContext& context,
                                                       CsrView<double, HostSpace> A,
                                                       const MultigridOptions& options) {
  const Index unknowns = options.unknowns > 0 ? options.unknowns : unknowns_per_node(A);
  if (A.rows % unknowns != 0) {
    throw InvalidArgument(fmt::format(
        "MultigridPreconditioner: {} rows are not a multiple of {} unknowns", A.rows, unknowns));
  }
  const Buffer<double, HostSpace> diagonal = extract_diagonal<double>(context, A);
  for (Index i = 0; i < A.rows; ++i) {
    if (diagonal.data()[i] < 0) {
      throw InvalidArgument(fmt::format(
          "MultigridPreconditioner: A must be positive semidefinite, its diagonal entry "
          "in row {} is {:.3g}",
          i + 1, diagonal.data()[i]));
    }
  }
  Buffer<double, HostSpace> scaling = inverse_root_diagonal<double>(context, A);
  Grid grid;
  grid.near_null = near_null_vectors(context, A.rows, unknowns, options, scaling);
  grid.A = with_stored_diagonal<double>(context, A);
  scale_symmetrically(context, scaling, grid.A);
  for (Index row = 0; row <= A.rows; row += unknowns) grid.nodes.push_back(row);
  return {std::move(grid), std::move(scaling)};
}

/// The factors 1/√d_i that scale the diagonal d of A to ones. A d_i that is zero but for rounding
/// belongs to a null vector and stays.
Buffer<double, HostSpace> unit_scaling(HostContext& context, CsrView<double, HostSpace> A) {
  constexpr double kZero = 1e-12;
  Buffer<double, HostSpace> d = extract_diagonal<double>(context, A);
  double largest = 0;
  for (std::size_t i = 0; i < d.size(); ++i) largest = std::max(largest, d.data()[i]);
  for (std::size_t i = 0; i < d.size(); ++i) {
    double& value = d.data()[i];
    value = value > kZero * largest ? 1 / std::sqrt(value) : 1;
  }
  return d;
}

/// The multiplications of A P, which bound its entries.
double multiplications(CsrView<double, HostSpace> A, CsrView<double, HostSpace> P) {
  double sum = 0;
  for (Index e = 0; e < A.nnz; ++e) {
    const std::int32_t k = A.columns[e];
    sum += static_cast<double>(P.row_offsets[k + 1] - P.row_offsets[k]);
  }
  return sum;
}

struct CoarserGrid {
  Grid grid;
  HostCsrMatrix<double> P;
  Index aggregates = 0;  // of the finer grid
};

/// The next coarser grid, and P from it. P is empty if it would not be smaller. Where a row with
/// very many neighbours would fill the next level's matrix, P is T, which is not smoothed.
CoarserGrid coarser_grid(HostContext& context, const Grid& grid, double threshold, double bound) {
  const NodeGraph strong = strong_connections(context, grid, threshold);
  const Aggregates aggregates = aggregate(strong);
  TentativeProlongator tentative = tentative_prolongator(context, grid, aggregates);
  const auto rows = static_cast<double>(grid.A.rows());
  if (tentative.nodes.back() == 0 ||
      static_cast<double>(tentative.nodes.back()) > kLeastReduction * rows) {
    return {};
  }
  HostCsrMatrix<double> P = smoothed_prolongator(context, grid, strong, tentative.T.view(), bound);
  const auto most_products = kMostProducts * static_cast<double>(grid.A.nnz());
  if (multiplications(grid.A.view(), P.view()) > most_products) P = std::move(tentative.T);
  Grid coarse;
  coarse.A = with_stored_diagonal<double>(
      context, galerkin_product<double>(context, grid.A.view(), P.view()).view());
  const Buffer<double, HostSpace> scaling = unit_scaling(context, coarse.A.view());
  scale_symmetrically(context, scaling, coarse.A);
  for (Index e = 0; e < P.nnz(); ++e) P.values()[e] *= scaling.data()[P.columns()[e]];
  coarse.nodes = std::move(tentative.nodes);
  coarse.near_null = std::move(tentative.near_null);
  const BlockView<double, HostSpace> X = coarse.near_null.view();
  for (Index i = 0; i < X.rows(); ++i) {
    for (Index j = 0; j < X.cols(); ++j) X(i, j) /= scaling.data()[i];
  }
  return {std::move(coarse), std::move(P), aggregates.count};
}

/// The pseudoinverse of A with all its entries. Eigenvalues count as zero if they are not larger
/// than rounding, or than the size of negative ones, which come from rounding on all levels but the
/// finest. If A is the `only` level, its null vectors are kept with the factor 1/λ_max, for the
/// preconditioner to be definite.
HostCsrMatrix<double> dense_inverse(HostContext& context, CsrView<double, HostSpace> A, bool only) {
  const Index n = A.rows;
  if (n == 0) return {};
  SmallMatrix<double, HostSpace> H(context, n, n), Z(context, n, n), theta(context, n, 1);
  std::fill_n(H.view(n, n).data, n * n, 0.0);
  for (Index i = 0; i < n; ++i) {
    for (std::int64_t e = A.row_offsets[i]; e < A.row_offsets[i + 1]; ++e) {
      H.view(n, n)(i, A.columns[e]) = A.values[e];
    }
  }
  DenseEigensolver solver(n);
  if (solver.solve(H.view(n, n), theta.view(n, 1), Z.view(n, n)) != DenseFailure::none) {
    refuse_infinite();
  }
  const double* const values = theta.view(n, 1).data;
  const double largest = std::max(std::abs(values[0]), std::abs(values[n - 1]));
  const double rounding = static_cast<double>(n) * 1e-14 * largest;
  if (only && values[0] < -std::max(rounding, 1e-10 * largest)) {
    refuse_indefinite(values[0] / largest);
  }
  const double zero = std::max(rounding, -2 * values[0]);
  const double of_zero = !only ? 0 : largest > 0 ? 1 / std::sqrt(largest) : 1;
  for (Index k = 0; k < n; ++k) {  // Z Θ^(-1/2)
    const double factor = values[k] > zero ? 1 / std::sqrt(values[k]) : of_zero;
    for (Index i = 0; i < n; ++i) Z.view(n, n)(i, k) *= factor;
  }
  small_multiply(context, 1, Z.view(n, n), false, Z.view(n, n), true, 0, H.view(n, n));
  HostCsrMatrix<double> inverse(context, n, n, n * n);
  for (Index i = 0; i <= n; ++i) inverse.row_offsets()[i] = i * n;
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      inverse.columns()[i * n + j] = static_cast<std::int32_t>(j);
      inverse.values()[i * n + j] = H.view(n, n)(std::min(i, j), std::max(i, j));
    }
  }
  return inverse;
}

}  // namespace

Hierarchy make_hierarchy(HostContext& context, CsrView<double, HostSpace> A,
                         const MultigridOptions& options) {
  if (options.degree < 1 || options.degree > kMostSmoothingDegree) {
    throw InvalidArgument(
        fmt::format("MultigridPreconditioner: the degree must be 1 to {}, it is {}",
                    kMostSmoothingDegree, options.degree));
  }
  Stopwatch stopwatch;
  Hierarchy made;
  auto [grid, scaling] = finest_grid(context, A, options);
  made.scaling = std::move(scaling);
  const Index unknowns = grid.near_null.cols();
  double entries = static_cast<double>(grid.A.nnz());
  const double most = kMostComplexity * entries;
  while (true) {
    const double bound = upper_bound(context, grid.A.view(), made.levels.empty());
    made.levels.push_back({.upper_bound = bound});
    HierarchyLevel& level = made.levels.back();
    const bool last = grid.A.rows() <= kCoarsestRows || std::ssize(made.levels) == kMostLevels;
    auto [coarse, P, aggregates] =
        last ? CoarserGrid() : coarser_grid(context, grid, strength_threshold(unknowns), bound);
    entries += static_cast<double>(coarse.A.nnz());
    level.A = std::move(grid.A);
    level.seconds = stopwatch.lap();
    if (P.cols() == 0 || entries > most) break;
    level.P = std::move(P);
    level.aggregates = aggregates;
    grid = std::move(coarse);
  }
  const CsrView<double, HostSpace> coarsest = made.levels.back().A.view();
  if (coarsest.rows <= kMostDenseRows) {
    made.coarse_inverse = dense_inverse(context, coarsest, made.levels.size() == 1);
    made.levels.back().seconds += stopwatch.lap();
  }
  return made;
}

}  // namespace heddle::detail
