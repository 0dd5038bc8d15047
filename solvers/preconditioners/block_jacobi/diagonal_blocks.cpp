#include <algorithm>
#include <cmath>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/small/small_dense.hpp>
#include <heddle/solvers/preconditioners/block_jacobi/diagonal_blocks.hpp>
#include <heddle/solvers/preconditioners/inverse_diagonal.hpp>
#include <limits>

namespace heddle::detail {
namespace {

template <Scalar T>
bool equal_columns(const CsrView<T, HostSpace>& A, Index i, Index j) {
  return std::equal(A.columns + A.row_offsets[i], A.columns + A.row_offsets[i + 1],
                    A.columns + A.row_offsets[j], A.columns + A.row_offsets[j + 1]);
}

/// D ← A(first + i, first + j).
template <Scalar T>
void gather_block(const CsrView<T, HostSpace>& A, Index first, SmallView<Wide<T>, HostSpace> D) {
  std::fill_n(D.data, D.rows * D.cols, Wide<T>{});
  for (Index i = 0; i < D.rows; ++i) {
    for (std::int64_t e = A.row_offsets[first + i]; e < A.row_offsets[first + i + 1]; ++e) {
      const Index j = A.columns[e] - first;
      if (j >= 0 && j < D.cols) D(i, j) = static_cast<Wide<T>>(A.values[e]);
    }
  }
}

/// The upper triangle of D ← D⁻¹ = S R⁻¹ R⁻ᴴ S. S is diagonal, RᴴR = S D S has a unit diagonal. M
/// is scratch memory. Returns false, with D overwritten, if D is not positive definite or so nearly
/// singular that rounding its entries to `epsilon` could make it so.
template <WideScalar W>
bool invert_block(HostContext& context, double epsilon, SmallView<W, HostSpace> D,
                  SmallView<W, HostSpace> M) {
  const auto root = [&](Index i) { return std::sqrt(real_part(D(i, i))); };
  for (Index j = 0; j < D.cols; ++j) {
    const double diagonal = real_part(D(j, j));
    if (!(std::isnormal(diagonal) && diagonal > 0)) return false;
  }
  for (Index j = 0; j < D.cols; ++j) {
    for (Index i = 0; i <= j; ++i) M(i, j) = D(i, j) / root(i) / root(j);
  }
  const double rounding = std::sqrt(10 * static_cast<double>(D.rows) * epsilon);
  if (!(cholesky(context, M).diagonal_ratio > rounding)) return false;
  invert_upper(context, M);
  for (Index j = 0; j < D.cols; ++j) {
    for (Index i = 0; i <= j; ++i) M(i, j) /= root(i);
  }
  small_multiply(context, 1, M, false, M, true, 0, D);
  return true;
}

/// D(i, j) of a Hermitian D of which the upper triangle is there.
template <WideScalar W>
W entry_of_upper(SmallView<W, HostSpace> D, Index i, Index j) {
  if (i == j) return W(real_part(D(i, i)));
  return i < j ? D(i, j) : conjugate(D(j, i));
}

}  // namespace

template <Scalar T>
std::vector<Index> runs_of_equal_rows(CsrView<T, HostSpace> A, Index max_rows) {
  std::vector<Index> begins;
  for (Index i = 0; i < A.rows; ++i) {
    if (i == 0 || i - begins.back() == max_rows || !equal_columns(A, i - 1, i)) begins.push_back(i);
  }
  begins.push_back(A.rows);
  return begins;
}

template <Scalar T>
HostCsrMatrix<T> inverse_diagonal_blocks(HostContext& context, CsrView<T, HostSpace> A,
                                         const std::vector<Index>& begins) {
  Index nnz = 0;
  Index largest = 0;
  for (std::size_t k = 0; k + 1 < begins.size(); ++k) {
    const Index size = begins[k + 1] - begins[k];
    nnz += size * size;
    largest = std::max(largest, size);
  }
  const double epsilon = static_cast<double>(std::numeric_limits<RealOf<T>>::epsilon());
  const Buffer<T, HostSpace> diagonal = inverse_diagonal<T>(context, A);
  HostCsrMatrix<T> inverses(context, A.rows, A.cols, nnz);
  SmallMatrix<Wide<T>, HostSpace> block(context, largest, largest);
  SmallMatrix<Wide<T>, HostSpace> factor(context, largest, largest);
  std::int64_t next = 0;
  inverses.row_offsets()[0] = 0;
  for (std::size_t k = 0; k + 1 < begins.size(); ++k) {
    const Index first = begins[k];
    const Index size = begins[k + 1] - first;
    const SmallView<Wide<T>, HostSpace> D = block.view(size, size);
    gather_block(A, first, D);
    const bool inverted = invert_block(context, epsilon, D, factor.view(size, size));
    for (Index i = 0; i < size; ++i) {
      for (Index j = 0; j < size; ++j) {
        const T on_diagonal = i == j ? diagonal[static_cast<std::size_t>(first + i)] : T{0};
        inverses.columns()[next] = static_cast<std::int32_t>(first + j);
        inverses.values()[next++] =
            inverted ? static_cast<T>(entry_of_upper(D, i, j)) : on_diagonal;
      }
      inverses.row_offsets()[first + i + 1] = next;
    }
  }
  return inverses;
}

#define HEDDLE_INSTANTIATE(T)                                                            \
  template std::vector<Index> runs_of_equal_rows(CsrView<T, HostSpace>, Index);          \
  template HostCsrMatrix<T> inverse_diagonal_blocks(HostContext&, CsrView<T, HostSpace>, \
                                                    const std::vector<Index>&);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
