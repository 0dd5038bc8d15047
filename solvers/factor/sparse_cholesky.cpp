#include <algorithm>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/factor/sparse_cholesky.hpp>
#include <limits>
#include <span>
#include <utility>

namespace heddle::detail {
namespace {

/// The lower triangle of P A Pᵀ, where P moves row i to position[i]. It also stores zeros for the
/// entries that only `other` has and on the diagonal.
template <WideScalar W>
HostCsrMatrix<W> lower_triangle(HostContext& context, const CsrView<W, HostSpace>& A,
                                const CsrView<W, HostSpace>& other,
                                std::span<const std::int32_t> position) {
  std::vector<Triplet<W>> entries;
  entries.reserve(static_cast<std::size_t>((A.nnz + other.nnz) / 2 + A.rows));
  const auto add = [&](const CsrView<W, HostSpace>& M, bool with_values) {
    for (Index i = 0; i < M.rows; ++i) {
      const Index row = position[static_cast<std::size_t>(i)];
      for (std::int64_t e = M.row_offsets[i]; e < M.row_offsets[i + 1]; ++e) {
        const Index column = position[static_cast<std::size_t>(M.columns[e])];
        if (column <= row) entries.push_back({row, column, with_values ? M.values[e] : W{0}});
      }
    }
  };
  add(A, true);
  add(other, false);
  for (Index i = 0; i < A.rows; ++i) entries.push_back({i, i, W{0}});
  return csr_from_triplets<W>(context, A.rows, A.cols, entries);
}

template <WideScalar W>
HostCsrMatrix<W> identity(HostContext& context, Index n) {
  HostCsrMatrix<W> result(context, n, n, n);
  for (Index i = 0; i < n; ++i) {
    result.row_offsets()[i] = i;
    result.columns()[i] = static_cast<std::int32_t>(i);
    result.values()[i] = 1;
  }
  result.row_offsets()[n] = n;
  return result;
}

/// The pattern of A and B together. Its values are those of A.
template <WideScalar W>
HostCsrMatrix<W> united(HostContext& context, const CsrView<W, HostSpace>& A,
                        const CsrView<W, HostSpace>& B) {
  std::vector<Triplet<W>> entries;
  entries.reserve(static_cast<std::size_t>(A.nnz + B.nnz));
  for (const CsrView<W, HostSpace>* M : {&A, &B}) {
    for (Index i = 0; i < M->rows; ++i) {
      for (std::int64_t e = M->row_offsets[i]; e < M->row_offsets[i + 1]; ++e) {
        entries.push_back({i, M->columns[e], M == &A ? M->values[e] : W{0}});
      }
    }
  }
  return csr_from_triplets<W>(context, A.rows, A.cols, entries);
}

}  // namespace

template <WideScalar W>
SparseCholeskyOf<W>::SparseCholeskyOf(HostContext& context, const CsrView<W, HostSpace>& A,
                                      const CsrView<W, HostSpace>& B, double max_entries,
                                      const CholeskyBackend& backend)
    : backend_(backend), max_entries_(std::min(max_entries, backend.most_entries())) {
  if (static_cast<double>(A.nnz + B.nnz) >= max_entries_) return;
  const HostCsrMatrix<W> unit = identity<W>(context, B.rows == 0 ? A.rows : 0);
  const CsrView<W, HostSpace> mass = B.rows == 0 ? unit.view() : B;
  order_ = backend.order(pattern_of(B.rows == 0 ? A : united(context, A, B).view()));
  std::vector<std::int32_t> position(order_.size());
  for (std::size_t k = 0; k < order_.size(); ++k) {
    position[static_cast<std::size_t>(order_[k])] = static_cast<std::int32_t>(k);
  }
  A_ = lower_triangle(context, A, mass, position);
  B_ = lower_triangle(context, mass, A, position);
}

/// Row i of L has entries in all columns on the paths of the elimination tree from the columns of
/// row i of A up to i.
template <WideScalar W>
bool SparseCholeskyOf<W>::analyse() {
  if (order_.empty()) return false;  // A itself has too many entries
  const CsrView<W, HostSpace> A = A_.view();
  const auto n = static_cast<std::size_t>(A.rows);
  std::vector<std::int32_t> parent(n, -1), seen(n, -1), length(n, 1);
  cost_ = {static_cast<double>(n), 0};
  for (Index i = 0; i < A.rows; ++i) {
    if (cost_.entries > max_entries_) return false;
    const auto row = static_cast<std::int32_t>(i);
    seen[static_cast<std::size_t>(i)] = row;
    for (std::int64_t e = A.row_offsets[i]; e < A.row_offsets[i + 1]; ++e) {
      auto j = static_cast<std::size_t>(A.columns[e]);
      while (seen[j] != row) {
        if (parent[j] < 0) parent[j] = row;
        seen[j] = row;
        ++length[j];
        ++cost_.entries;
        j = static_cast<std::size_t>(parent[j]);
      }
    }
  }
  for (const std::int32_t c : length) cost_.operations += static_cast<double>(c) * c;
  return cost_.entries <= max_entries_;
}

template <WideScalar W>
std::optional<HostCsrMatrix<W>> SparseCholeskyOf<W>::factor(HostContext& context,
                                                            double sigma) const {
  const CsrView<W, HostSpace> A = A_.view();
  std::vector<W> values(A.values, A.values + A.nnz);
  for (std::size_t e = 0; e < values.size(); ++e) values[e] -= sigma * B_.view().values[e];
  auto made =
      backend_.factor(context, {A.rows, A.cols, A.nnz, A.row_offsets, A.columns, values.data()});
  if (!made) return std::nullopt;
  const CsrView<W, HostSpace> L = std::as_const(*made).view();
  for (Index k = 0; k < A.rows; ++k) {
    const double root = real_part(L.values[L.row_offsets[k]]);
    const double diagonal = real_part(values[static_cast<std::size_t>(A.row_offsets[k + 1] - 1)]);
    if (!(root * root > kSmallestPivot * diagonal)) return std::nullopt;
  }
  return made;
}

template class SparseCholeskyOf<double>;
template class SparseCholeskyOf<std::complex<double>>;

}  // namespace heddle::detail
