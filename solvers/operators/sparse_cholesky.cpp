#include <Eigen/OrderingMethods>
#include <Eigen/SparseCholesky>
#include <algorithm>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/operators/sparse_cholesky.hpp>
#include <limits>
#include <span>

namespace heddle::detail {
namespace {

using EigenMatrix = Eigen::SparseMatrix<double>;
using EigenMap = Eigen::Map<const EigenMatrix>;

/// A pivot below this share of its diagonal entry is zero to rounding.
constexpr double kSmallestPivot = 256 * std::numeric_limits<double>::epsilon();

/// The most entries that Eigen can index.
constexpr double kMostEntries = std::numeric_limits<std::int32_t>::max();

std::vector<std::int32_t> narrow_offsets(const CsrView<double, HostSpace>& A) {
  return {A.row_offsets, A.row_offsets + A.rows + 1};
}

/// The arrays of A by rows, read as a matrix by columns, which is Aᵀ. The lower triangle of a
/// symmetric matrix becomes the upper one.
EigenMap by_columns(const CsrView<double, HostSpace>& A, const std::vector<std::int32_t>& offsets,
                    const double* values) {
  const auto n = static_cast<Eigen::Index>(A.rows);
  return {n, n, static_cast<Eigen::Index>(A.nnz), offsets.data(), A.columns, values};
}

/// The lower triangle of P A Pᵀ, where P moves row i to position[i]. It also stores zeros for the
/// entries that only `other` has and on the diagonal.
HostCsrMatrix<double> lower_triangle(HostContext& context, const CsrView<double, HostSpace>& A,
                                     const CsrView<double, HostSpace>& other,
                                     std::span<const std::int32_t> position) {
  std::vector<Triplet<double>> entries;
  entries.reserve(static_cast<std::size_t>((A.nnz + other.nnz) / 2 + A.rows));
  const auto add = [&](const CsrView<double, HostSpace>& M, bool with_values) {
    for (Index i = 0; i < M.rows; ++i) {
      const Index row = position[static_cast<std::size_t>(i)];
      for (std::int64_t e = M.row_offsets[i]; e < M.row_offsets[i + 1]; ++e) {
        const Index column = position[static_cast<std::size_t>(M.columns[e])];
        if (column <= row) entries.push_back({row, column, with_values ? M.values[e] : 0});
      }
    }
  };
  add(A, true);
  add(other, false);
  for (Index i = 0; i < A.rows; ++i) entries.push_back({i, i, 0});
  return csr_from_triplets<double>(context, A.rows, A.cols, entries);
}

HostCsrMatrix<double> identity(HostContext& context, Index n) {
  HostCsrMatrix<double> result(context, n, n, n);
  for (Index i = 0; i < n; ++i) {
    result.row_offsets()[i] = i;
    result.columns()[i] = static_cast<std::int32_t>(i);
    result.values()[i] = 1;
  }
  result.row_offsets()[n] = n;
  return result;
}

/// An approximate minimum degree order, which keeps the fill small, as the position of each row.
std::vector<std::int32_t> minimum_degree_order(const CsrView<double, HostSpace>& A,
                                               const CsrView<double, HostSpace>& B) {
  const auto offsets_A = narrow_offsets(A);
  const auto offsets_B = narrow_offsets(B);
  EigenMatrix pattern = by_columns(A, offsets_A, A.values) + by_columns(B, offsets_B, B.values);
  Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, std::int32_t> order;
  Eigen::AMDOrdering<std::int32_t>()(pattern, order);
  return {order.indices().data(), order.indices().data() + order.indices().size()};
}

}  // namespace

SparseCholesky::SparseCholesky(HostContext& context, const CsrView<double, HostSpace>& A,
                               const CsrView<double, HostSpace>& B, double max_entries) {
  max_entries = std::min(max_entries, kMostEntries);
  fits_ = static_cast<double>(A.nnz + B.nnz) < max_entries;
  if (!fits_) return;
  const HostCsrMatrix<double> unit = identity(context, B.rows == 0 ? A.rows : 0);
  const CsrView<double, HostSpace> mass = B.rows == 0 ? unit.view() : B;
  order_ = minimum_degree_order(A, mass);
  std::vector<std::int32_t> position(order_.size());
  for (std::size_t k = 0; k < order_.size(); ++k) {
    position[static_cast<std::size_t>(order_[k])] = static_cast<std::int32_t>(k);
  }
  A_ = lower_triangle(context, A, mass, position);
  B_ = lower_triangle(context, mass, A, position);
  count_entries(max_entries);
}

/// Counts the entries of L. Row i of L has entries in all columns on the paths of the elimination
/// tree from the columns of row i of A up to i.
void SparseCholesky::count_entries(double max_entries) {
  const CsrView<double, HostSpace> A = A_.view();
  const auto n = static_cast<std::size_t>(A.rows);
  std::vector<std::int32_t> parent(n, -1), seen(n, -1), length(n, 1);
  entries_ = static_cast<double>(n);
  for (Index i = 0; i < A.rows && fits_; ++i) {
    const auto row = static_cast<std::int32_t>(i);
    seen[static_cast<std::size_t>(i)] = row;
    for (std::int64_t e = A.row_offsets[i]; e < A.row_offsets[i + 1]; ++e) {
      auto j = static_cast<std::size_t>(A.columns[e]);
      while (seen[j] != row) {
        if (parent[j] < 0) parent[j] = row;
        seen[j] = row;
        ++length[j];
        ++entries_;
        j = static_cast<std::size_t>(parent[j]);
      }
    }
    fits_ = entries_ <= max_entries;
  }
  for (const std::int32_t c : length) operations_ += static_cast<double>(c) * c;
}

std::optional<HostCsrMatrix<double>> SparseCholesky::factor(HostContext& context,
                                                            double sigma) const {
  const CsrView<double, HostSpace> A = A_.view();
  std::vector<double> values(A.values, A.values + A.nnz);
  for (std::size_t e = 0; e < values.size(); ++e) values[e] -= sigma * B_.view().values[e];
  const auto offsets = narrow_offsets(A);
  const EigenMatrix upper = by_columns(A, offsets, values.data());
  const Eigen::SimplicialLLT<EigenMatrix, Eigen::Upper, Eigen::NaturalOrdering<int>> made(upper);
  if (made.info() != Eigen::Success) return std::nullopt;
  const EigenMatrix& L = made.matrixL().nestedExpression();
  for (Index k = 0; k < A.rows; ++k) {
    const double root = L.valuePtr()[L.outerIndexPtr()[k]];
    const double diagonal = values[static_cast<std::size_t>(A.row_offsets[k + 1] - 1)];
    if (!(root * root > kSmallestPivot * diagonal)) return std::nullopt;
  }
  HostCsrMatrix<double> transposed(context, A.rows, A.cols, static_cast<Index>(L.nonZeros()));
  std::copy_n(L.outerIndexPtr(), A.rows + 1, transposed.row_offsets());
  std::copy_n(L.innerIndexPtr(), L.nonZeros(), transposed.columns());
  std::copy_n(L.valuePtr(), L.nonZeros(), transposed.values());
  return transposed;
}

}  // namespace heddle::detail
