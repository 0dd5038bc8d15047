#pragma once

#include <heddle/spmm/kernels/cuda/product.hpp>
#include <heddle/spmm/triangular/row_flags.hpp>
#include <vector>

namespace heddle::detail::cuda {

/// Y = A⁻¹X with everything in device memory, A a triangle as `detail::LevelOrder` stores it. Y may
/// be X.
template <class T>
struct Substitution {
  CsrView<T, DeviceSpace> entries;  ///< beside the diagonal, rows in the order of their levels
  const std::int32_t* rows = nullptr;
  const T* inverse_diagonal = nullptr;
  const T* X = nullptr;
  Index ldx = 0;
  T* Y = nullptr;
  Index ldy = 0;
  Index N = 0;
};

/// All rows in one launch for each stripe of 32 lanes' columns. A row belongs to N·sizeof(T)/16
/// lanes that load 16 bytes of a row of Y each, times lane groups that take its entries in turn and
/// add up by shuffles, as many as the mean row keeps busy. Its threads each watch the flag of one
/// entry's row; once all are set they add the entries, and go on to as many more. Rows in the order
/// of levels wait for none but earlier ones, and blocks take them in that order.
///
/// Moves A once a stripe, X and Y once, and the rows of Y that entries name through L2, with 4
/// bytes of flags each; takes at least as long as there are levels times the way of a value from
/// one multiprocessor to another. Deterministic: tickets and flags decide when a row is summed,
/// never in which order.
template <class T>
void launch_by_flags(CudaContext& context, const Substitution<T>& substitution, RowFlags& flags);

/// The same, to the bit, by a launch for each level of each stripe.
template <class T>
void launch_by_levels(CudaContext& context, const Substitution<T>& substitution,
                      const std::vector<Index>& level_begins);

/// Threads that serve a row of `entries` for the columns of one stripe.
template <class T>
int threads_of_row(const Substitution<T>& substitution);

}  // namespace heddle::detail::cuda
