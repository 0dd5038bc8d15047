#pragma once

#include <heddle/linalg/base/isa.hpp>
#include <heddle/linalg/data/views.hpp>
#include <heddle/spmm/kernels/host/row_split/row_schedule.hpp>

namespace heddle::detail {

/// Columns of C that `row_split` multiplies at once at most, with the widest registers. Wider
/// blocks are cut into stripes.
template <Scalar T>
inline constexpr Index kMaxStripe = 8 * 64 / static_cast<int>(sizeof(T));

/// `row_split` for one instruction set.
template <Isa kVariant, Scalar T, class Values>
void row_split_kernel(const CsrView<T, HostSpace>& A, Values values, const RowSchedule& schedule,
                      T* partials, int threads, T alpha, const ConstBlockView<T, HostSpace>& B,
                      T beta, const BlockView<T, HostSpace>& C);

/// C = α A B + β C with α ≠ 0, vectorised over the columns of B (for one column along the rows of
/// A). `values` are those of A: A.values, or `GatheredValues` where they stand in another order.
/// The threads take chunks of about equal nonzeros in turn. `partials` holds kMaxStripe<T> values
/// for each segment of the schedule.
///
/// Deterministic: each entry of C is one sum in the order of the row, or of segments in order. C is
/// not read for β = 0. Shapes are the caller's business.
template <Scalar T, class Values>
void row_split(const CsrView<T, HostSpace>& A, Values values, const RowSchedule& schedule,
               T* partials, int threads, T alpha, const ConstBlockView<T, HostSpace>& B, T beta,
               const BlockView<T, HostSpace>& C) {
  with_host_isa([&](auto isa) {
    row_split_kernel<isa()>(A, values, schedule, partials, threads, alpha, B, beta, C);
  });
}

}  // namespace heddle::detail
