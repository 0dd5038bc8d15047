#include <algorithm>
#include <cmath>
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
void gather_block(const CsrView<T, HostSpace>& A, Index first, SmallView<double, HostSpace> D) {
  std::fill_n(D.data, D.rows * D.cols, 0.0);
  for (Index i = 0; i < D.rows; ++i) {
    for (std::int64_t e = A.row_offsets[first + i]; e < A.row_offsets[first + i + 1]; ++e) {
      const Index j = A.columns[e] - first;
      if (j >= 0 && j < D.cols) D(i, j) = static_cast<double>(A.values[e]);
    }
  }
}

/// The upper triangle of D ← D⁻¹ = S R⁻¹ R⁻ᵀ S. S is diagonal, RᵀR = S D S has a unit diagonal. W
/// is scratch memory. Returns false, with D overwritten, if D is not positive definite or so nearly
/// singular that rounding its entries to `epsilon` could make it so.
bool invert_block(HostContext& context, double epsilon, SmallView<double, HostSpace> D,
                  SmallView<double, HostSpace> W) {
  for (Index j = 0; j < D.cols; ++j) {
    if (!(std::isnormal(D(j, j)) && D(j, j) > 0)) return false;
  }
  for (Index j = 0; j < D.cols; ++j) {
    for (Index i = 0; i <= j; ++i) W(i, j) = D(i, j) / std::sqrt(D(i, i)) / std::sqrt(D(j, j));
  }
  const double rounding = std::sqrt(10 * static_cast<double>(D.rows) * epsilon);
  if (!(cholesky(context, W).diagonal_ratio > rounding)) return false;
  invert_upper(context, W);
  for (Index j = 0; j < D.cols; ++j) {
    for (Index i = 0; i <= j; ++i) W(i, j) /= std::sqrt(D(i, i));
  }
  small_multiply(context, 1, W, false, W, true, 0, D);
  return true;
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
  const double epsilon = static_cast<double>(std::numeric_limits<T>::epsilon());
  const Buffer<T, HostSpace> diagonal = inverse_diagonal<T>(context, A);
  HostCsrMatrix<T> inverses(context, A.rows, A.cols, nnz);
  SmallMatrix<double, HostSpace> block(context, largest, largest);
  SmallMatrix<double, HostSpace> factor(context, largest, largest);
  std::int64_t next = 0;
  inverses.row_offsets()[0] = 0;
  for (std::size_t k = 0; k + 1 < begins.size(); ++k) {
    const Index first = begins[k];
    const Index size = begins[k + 1] - first;
    const SmallView<double, HostSpace> D = block.view(size, size);
    gather_block(A, first, D);
    const bool inverted = invert_block(context, epsilon, D, factor.view(size, size));
    for (Index i = 0; i < size; ++i) {
      for (Index j = 0; j < size; ++j) {
        const T on_diagonal = i == j ? diagonal[static_cast<std::size_t>(first + i)] : T{0};
        inverses.columns()[next] = static_cast<std::int32_t>(first + j);
        inverses.values()[next++] =
            inverted ? static_cast<T>(D(std::min(i, j), std::max(i, j))) : on_diagonal;
      }
      inverses.row_offsets()[first + i + 1] = next;
    }
  }
  return inverses;
}

template std::vector<Index> runs_of_equal_rows(CsrView<float, HostSpace>, Index);
template std::vector<Index> runs_of_equal_rows(CsrView<double, HostSpace>, Index);
template HostCsrMatrix<float> inverse_diagonal_blocks(HostContext&, CsrView<float, HostSpace>,
                                                      const std::vector<Index>&);
template HostCsrMatrix<double> inverse_diagonal_blocks(HostContext&, CsrView<double, HostSpace>,
                                                       const std::vector<Index>&);

}  // namespace heddle::detail
