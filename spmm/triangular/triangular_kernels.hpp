#pragma once

#include <heddle/spmm/kernels/cuda/product.hpp>
#include <heddle/spmm/triangular/row_flags.hpp>
#include <vector>

namespace heddle::detail::cuda {

/// Y = A⁻¹X with everything in device memory, A a triangle as `detail::LevelOrder` stores it. Y may
/// be X.
template <class T>
struct Substitution {
  CsrView<T, DeviceSpace> entries;  ///< off the diagonal, rows in the order of their levels
  const std::int32_t* rows = nullptr;
  const T* inverse_diagonal = nullptr;
  const T* X = nullptr;
  Index ldx = 0;
  T* Y = nullptr;
  Index ldy = 0;
  Index N = 0;
};

/// Solves all rows in one launch per stripe of columns, where 32 lanes hold the columns of a
/// stripe. N·sizeof(T)/16 lanes hold the columns of a row and load 16 bytes of a row of Y each.
/// Several such lane groups, as many as the mean row length keeps busy, take the row's entries
/// cyclically and add their sums by shuffles. Each thread of a row polls the flag of the row that
/// one entry depends on. Once all these flags are set, the threads add the entries and continue
/// with as many more. In the order of levels, a row depends on earlier rows only, and blocks take
/// rows in that order.
///
/// Moves A once per stripe of columns, X and Y once, and the rows of Y that entries name through
/// L2, with 4 bytes of flags each; takes at least as long as there are levels times the way of a
/// value from one multiprocessor to another. Deterministic: tickets and flags decide when a row is
/// summed, never in which order.
template <class T>
void launch_by_flags(CudaContext& context, const Substitution<T>& substitution, RowFlags& flags);

/// Gives the same bits by one launch per level and stripe.
template <class T>
void launch_by_levels(CudaContext& context, const Substitution<T>& substitution,
                      const std::vector<Index>& level_begins);

/// The number of threads per row, for rows of `entries` entries and the columns of one stripe.
template <class T>
int threads_of_row(const Substitution<T>& substitution);

}  // namespace heddle::detail::cuda
