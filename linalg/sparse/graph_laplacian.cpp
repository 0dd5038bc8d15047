#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/context/host_parallel.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <limits>
#include <string>
#include <vector>

namespace heddle {
namespace {

constexpr Index kLeastLaplacianRows = 1024;  // rows of a piece of work

/// The weight of an edge whose stored entry is `value`.
template <Scalar T>
T edge_weight(T value, EdgeWeights weights) noexcept {
  if (weights == EdgeWeights::stored) return value;
  return value != T{0} ? T{1} : T{0};
}

/// The weight of the edge from `row` to `col`, 0 if there is none.
template <Scalar T>
T edge_weight(const CsrView<T, HostSpace>& A, Index row, Index col, EdgeWeights weights) noexcept {
  const std::int32_t* begin = A.columns + A.row_offsets[row];
  const std::int32_t* end = A.columns + A.row_offsets[row + 1];
  const std::int32_t* found = std::lower_bound(begin, end, col);
  if (found == end || *found != col) return T{0};
  return edge_weight(A.values[found - A.columns], weights);
}

/// Whether two weights differ by rounding errors at most, as sums of the same terms in different
/// orders do.
template <Scalar T>
bool are_close(T a, T b) noexcept {
  constexpr T kRoundings = 10000;
  return std::abs(a - b) <= kRoundings * std::numeric_limits<T>::epsilon() * std::max(a, b);
}

/// Whether the stored entry k of `row` is a weight that the Laplacian of A cannot use.
template <Scalar T>
bool is_fault(const CsrView<T, HostSpace>& A, Index row, Index k, const LaplacianOptions& options) {
  const Index col = A.columns[k];
  if (col == row) return false;
  const T weight = edge_weight(A.values[k], options.weights);
  if (!(weight >= 0) || !std::isfinite(weight)) return true;
  return !options.symmetrize && !are_close(weight, edge_weight(A, col, row, options.weights));
}

/// The first entry that `is_fault`, in row order. −1 if there is none.
template <Scalar T>
Index find_fault(HostContext& context, const CsrView<T, HostSpace>& A,
                 const LaplacianOptions& options) {
  const Slabs pieces = make_slabs(A.rows, kLeastLaplacianRows);
  std::vector<Index> faults(static_cast<std::size_t>(pieces.count()), -1);
  parallel_for(context.threads(), pieces.count(), [&](Index piece) {
    Index& fault = faults[static_cast<std::size_t>(piece)];
    for (Index row = pieces.begin(piece); row < pieces.end(piece) && fault < 0; ++row) {
      for (Index k = A.row_offsets[row]; k < A.row_offsets[row + 1] && fault < 0; ++k) {
        if (is_fault(A, row, k, options)) fault = k;
      }
    }
  });
  const auto found = std::find_if(faults.begin(), faults.end(), [](Index k) { return k >= 0; });
  return found == faults.end() ? -1 : *found;
}

template <Scalar T>
std::string describe(Index row, Index col, T value) {
  return fmt::format("entry ({}, {}) is {}", row + 1, col + 1, value);
}

template <Scalar T>
void check_weights(HostContext& context, const CsrView<T, HostSpace>& A,
                   const LaplacianOptions& options) {
  const Index k = find_fault(context, A, options);
  if (k < 0) return;
  const Index row =
      std::upper_bound(A.row_offsets, A.row_offsets + A.rows + 1, k) - A.row_offsets - 1;
  const Index col = A.columns[k];
  const T weight = edge_weight(A.values[k], options.weights);
  const std::string found = describe(row, col, weight);
  if (!std::isfinite(weight)) {
    throw InvalidArgument("a graph Laplacian takes finite weights, but " + found);
  }
  if (weight < 0) {
    throw InvalidArgument("a graph Laplacian takes no negative weights, but " + found +
                          "; weights: unit gives every edge the weight 1");
  }
  throw InvalidArgument("the graph is directed: " + found + ", " +
                        describe(col, row, edge_weight(A, col, row, options.weights)) +
                        "; a Laplacian takes undirected graphs. symmetrize: true gives both "
                        "directions the larger of the two weights");
}

/// Allocates the Laplacian of W, with offsets: the diagonal and the edges of each row.
template <Scalar T>
HostCsrMatrix<T> allocate_laplacian(HostContext& context, const CsrView<T, HostSpace>& W) {
  Buffer<Index, HostSpace> offsets(context, static_cast<std::size_t>(W.rows) + 1);
  offsets[0] = 0;
  for (Index row = 0; row < W.rows; ++row) {
    Index count = 1;
    for (Index k = W.row_offsets[row]; k < W.row_offsets[row + 1]; ++k) {
      count += W.columns[k] != row && W.values[k] != T{0};
    }
    const auto i = static_cast<std::size_t>(row);
    offsets[i + 1] = offsets[i] + count;
  }
  HostCsrMatrix<T> L(context, W.rows, W.rows, offsets[static_cast<std::size_t>(W.rows)]);
  std::copy_n(offsets.data(), offsets.size(), L.row_offsets());
  return L;
}

/// The sum of the weights of the edges of `row`.
template <Scalar T>
double degree_of(const CsrView<T, HostSpace>& W, Index row, EdgeWeights weights) {
  double degree = 0;
  for (Index k = W.row_offsets[row]; k < W.row_offsets[row + 1]; ++k) {
    if (W.columns[k] != row) degree += static_cast<double>(edge_weight(W.values[k], weights));
  }
  return degree;
}

/// √(ab), also where ab leaves the range of double. Where it does not, the value is the rounded
/// root of the rounded product, which is exact for a = b.
double geometric_mean(double a, double b) noexcept {
  const double product = a * b;
  return std::isnormal(product) ? std::sqrt(product) : std::sqrt(a) * std::sqrt(b);
}

}  // namespace

template <Scalar T>
HostCsrMatrix<T> graph_laplacian(HostContext& context, CsrView<T, HostSpace> A,
                                 const LaplacianOptions& options,
                                 std::vector<double>* degrees_of_rows) {
  if (A.rows != A.cols) {
    throw InvalidArgument("graph_laplacian: the matrix must be square, got " +
                          std::to_string(A.rows) + "x" + std::to_string(A.cols));
  }
  check_weights(context, A, options);
  const HostCsrMatrix<T> symmetric = symmetrize(context, A);
  const CsrView<T, HostSpace> W = symmetric.view();
  HostCsrMatrix<T> L = allocate_laplacian(context, W);
  Buffer<double, HostSpace> degrees(context, static_cast<std::size_t>(W.rows));
  parallel_for(context.threads(), W.rows, [&](Index row) {
    degrees[static_cast<std::size_t>(row)] = degree_of(W, row, options.weights);
  });
  for (std::size_t row = 0; row < degrees.size(); ++row) {
    if (std::isfinite(static_cast<T>(degrees[row]))) continue;
    throw InvalidArgument("a graph Laplacian takes finite degrees, but the weights of row " +
                          std::to_string(row + 1) + " have a sum that is too large");
  }
  parallel_for(context.threads(), W.rows, [&](Index row) {
    const double degree = degrees[static_cast<std::size_t>(row)];
    const bool normalized = options.kind == LaplacianKind::normalized;
    Index next = L.view().row_offsets[row];
    const auto store = [&](Index col, double value) {
      L.columns()[next] = static_cast<std::int32_t>(col);
      L.values()[next++] = static_cast<T>(value);
    };
    const auto store_diagonal = [&] { store(row, normalized && degree > 0 ? 1 : degree); };
    bool below = true;  // the diagonal is still to come
    for (Index k = W.row_offsets[row]; k < W.row_offsets[row + 1]; ++k) {
      const Index col = W.columns[k];
      if (col == row || W.values[k] == T{0}) continue;
      if (below && col > row) {
        store_diagonal();
        below = false;
      }
      const auto weight = static_cast<double>(edge_weight(W.values[k], options.weights));
      const double other = degrees[static_cast<std::size_t>(col)];
      store(col, normalized ? -weight / geometric_mean(degree, other) : -weight);
    }
    if (below) store_diagonal();
  });
  if (degrees_of_rows != nullptr) {
    degrees_of_rows->assign(degrees.data(), degrees.data() + degrees.size());
  }
  return L;
}

#define HEDDLE_INSTANTIATE(T)                                                    \
  template HostCsrMatrix<T> graph_laplacian(HostContext&, CsrView<T, HostSpace>, \
                                            const LaplacianOptions&, std::vector<double>*);
HEDDLE_FOR_EACH_REAL(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
