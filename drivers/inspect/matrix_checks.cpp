#include <fmt/format.h>

#include <Eigen/SparseCholesky>
#include <algorithm>
#include <cmath>
#include <heddle/drivers/inspect/matrix_checks.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/spectrum/lanczos_bounds.hpp>
#include <limits>
#include <string_view>
#include <vector>

namespace heddle::detail {
namespace {

/// Eigenvalues of D^(−1/2) B D^(−1/2), with the diagonal D of B, that count as 0.
constexpr double kZero = 1e-12;

/// Where no pivot is below this share of its diagonal entry, B has no such eigenvalue. Pivots are
/// larger than the smallest eigenvalue, hence the margin.
constexpr double kSmallPivot = 1e-8;

/// An asymmetry of up to this share of the largest entry may come from printing few digits.
constexpr double kPrinted = 1e-2;

[[noreturn]] void refuse_mass(const std::string& message) {
  throw ProblemError(ProblemPart::mass, message);
}

template <WideScalar W>
using Factor = Eigen::SimplicialLDLT<Eigen::SparseMatrix<W>>;

/// Names the first small or negative pivot of B = L D Lᴴ. Empty if there is none.
template <WideScalar W>
std::string small_pivot(const Factor<W>& factor, const Eigen::VectorXd& diagonal) {
  if (factor.info() != Eigen::Success) return "a zero pivot";
  for (int k = 0; k < diagonal.size(); ++k) {
    const int row = factor.permutationPinv().indices()[k];
    const double pivot = real_part(factor.vectorD()[k]);
    if (!(pivot > kSmallPivot * diagonal[row])) {
      return fmt::format("the pivot {} in row {}", pivot, row + 1);
    }
  }
  return {};
}

/// An entry in messages.
template <WideScalar W>
std::string number(W value) {
  if constexpr (kComplex<W>) return fmt::format("{}{:+}i", value.real(), value.imag());
  return fmt::format("{}", real_part(value));
}

/// The dimension of the null space of a B whose rows with a zero diagonal entry are zero. Throws
/// `ProblemError` if B is indefinite. The inertia of B ∓ τD tells its eigenvalues near 0 from
/// others (Sylvester's law of inertia).
template <WideScalar W>
Index null_space_by_factors(CsrView<W, HostSpace> B) {
  using EigenMatrix = Eigen::SparseMatrix<W>;
  const std::vector<int> offsets(B.row_offsets, B.row_offsets + B.rows + 1);
  const auto n = static_cast<int>(B.rows);
  const Eigen::Map<const EigenMatrix> mapped(
      n, n, static_cast<Eigen::Index>(B.nnz), offsets.data(), B.columns,
      B.values);  // the conjugate of B, which has its eigenvalues
  const Eigen::VectorXd diagonal = EigenMatrix(mapped).diagonal().real();
  const Eigen::VectorXd unit = (diagonal.array() == 0).cast<double>();  // fills the zero rows
  const auto zero_rows = static_cast<Index>(unit.sum());
  const auto plus_diagonal = [&](const Eigen::VectorXd& added) {
    EigenMatrix D(n, n);
    D.reserve(Eigen::VectorXi::Constant(n, 1));
    for (int i = 0; i < n; ++i) D.insert(i, i) = added[i];
    return EigenMatrix(EigenMatrix(mapped) + D);
  };
  const Eigen::VectorXd filled = diagonal + unit;
  const std::string small = small_pivot<W>(Factor<W>(plus_diagonal(unit)), filled);
  if (small.empty()) return zero_rows;
  const Factor<W> above(plus_diagonal(unit + kZero * diagonal));
  if (above.info() != Eigen::Success || above.vectorD().real().minCoeff() <= 0) {
    refuse_mass("the mass matrix is not positive definite: its factorisation meets " + small);
  }
  const Factor<W> below(plus_diagonal(unit - kZero * diagonal));
  return zero_rows + static_cast<Index>((below.vectorD().real().array() < 0).count());
}

}  // namespace

void check_square(ProblemPart part, Index rows, Index cols) {
  if (rows != cols) {
    const std::string_view way_out =
        part == ProblemPart::matrix
            ? "; normal_equations finds its singular values, or least-squares solutions"
            : "";
    throw ProblemError(
        part, fmt::format("the matrix is {} x {}, it must be square{}", rows, cols, way_out));
  }
  if (rows == 0) throw ProblemError(part, "the matrix has no rows");
}

void check_shape(Index rows, Index cols, bool normal_equations) {
  if (!normal_equations) return check_square(ProblemPart::matrix, rows, cols);
  if (rows > 0 && cols > 0) return;
  throw ProblemError(ProblemPart::matrix,
                     fmt::format("the matrix is {} x {}, it has no entries", rows, cols));
}

void check_symmetric(HostContext& context, ProblemPart part, const Matrix& A) {
  for (const Asymmetry& pair : find_asymmetry(context, A.view(), kSymmetryTolerance)) {
    const bool nearly = std::abs(pair.value - pair.transposed) <= kPrinted * A.largest();
    throw ProblemError(
        part, fmt::format("the matrix is not symmetric: entry ({0}, {1}) is {2}, entry ({1}, "
                          "{0}) is {3}{4}",
                          pair.row + 1, pair.col + 1, pair.value, pair.transposed,
                          nearly ? "; symmetrize: average takes (A + A^T)/2" : ""));
  }
}

void check_symmetric(HostContext& context, ProblemPart part, const ComplexMatrix& A) {
  for (const auto& pair : find_asymmetry(context, A.view(), kSymmetryTolerance)) {
    if (pair.row == pair.col) {
      throw ProblemError(
          part,
          fmt::format("the matrix is not Hermitian: diagonal entry ({0}, {0}) is {1}, not real",
                      pair.row + 1, number(pair.value)));
    }
    const bool symmetric =
        std::abs(pair.value - pair.transposed) <= kSymmetryTolerance * std::abs(pair.value);
    throw ProblemError(
        part, fmt::format("the matrix is not Hermitian: entry ({0}, {1}) is {2}, entry ({1}, {0}) "
                          "is {3}, not its conjugate{4}",
                          pair.row + 1, pair.col + 1, number(pair.value), number(pair.transposed),
                          symmetric ? "; complex symmetric matrices have no real eigenvalues, and "
                                      "no solver here takes them"
                                    : ""));
  }
}

template <WideScalar W>
Index null_space_of_mass(HostContext& context, CsrView<W, HostSpace> B) {
  if (std::all_of(B.values, B.values + B.nnz, [](W value) { return value == W{}; })) {
    refuse_mass("the mass matrix is zero, so no eigenvalue is finite");
  }
  std::vector<double> root(static_cast<std::size_t>(B.rows), 0);  // square roots of the diagonal
  const auto for_each_entry = [&B](auto&& visit) {
    for (Index i = 0; i < B.rows; ++i) {
      for (Index k = B.row_offsets[i]; k < B.row_offsets[i + 1]; ++k) {
        visit(static_cast<std::size_t>(i), static_cast<std::size_t>(B.columns[k]), B.values[k]);
      }
    }
  };
  for_each_entry([&](std::size_t i, std::size_t j, W entry) {
    if (i != j) return;
    const double value = real_part(entry);
    if (value < 0) {
      refuse_mass(
          fmt::format("the mass matrix is not positive definite: diagonal entry ({0}, "
                      "{0}) is {1}",
                      i + 1, value));
    }
    root[i] = std::sqrt(value);
  });
  constexpr double kRounding = 1 + 8 * std::numeric_limits<double>::epsilon();
  for_each_entry([&](std::size_t i, std::size_t j, W value) {
    if (i == j || value == W{}) return;
    if (root[i] > 0 && std::abs(value) / root[i] <= root[j] * kRounding) return;
    refuse_mass(
        fmt::format("the mass matrix is not positive definite: entry ({}, {}) is {}, "
                    "more than its diagonal entries {} and {} allow",
                    i + 1, j + 1, number(value), root[i] * root[i], root[j] * root[j]));
  });
  if (B.rows <= kFactorizedOrder) return null_space_by_factors(B);
  const SpectrumBounds bounds = lanczos_bounds<W>(context, B);
  constexpr double kNegative = 100 * std::numeric_limits<double>::epsilon();
  if (bounds.smallest_ritz < -kNegative * bounds.largest_ritz) {
    refuse_mass(fmt::format("the mass matrix is not positive definite: x'Bx = {} for some unit x",
                            bounds.smallest_ritz));
  }
  return std::count(root.begin(), root.end(), 0.0);
}

template Index null_space_of_mass(HostContext&, CsrView<double, HostSpace>);
template Index null_space_of_mass(HostContext&, CsrView<std::complex<double>, HostSpace>);

}  // namespace heddle::detail
