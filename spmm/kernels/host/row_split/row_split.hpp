#pragma once

#include <heddle/linalg/base/isa.hpp>
#include <heddle/spmm/kernels/host/row_split/row_schedule.hpp>
#include <heddle/spmm/kernels/product.hpp>

namespace heddle::detail {

/// Columns of C that `row_split` multiplies at once at most, with the widest registers. Wider
/// blocks are cut into stripes.
template <Scalar T>
inline constexpr Index kMaxStripe = 8 * 64 / static_cast<int>(sizeof(T));

/// `row_split` for one instruction set.
template <Isa kVariant, Scalar T, class Values>
void row_split_kernel(const SpmmProduct<T, HostSpace>& product, Values values,
                      const RowSchedule& schedule, T* partials, int threads);

/// The product with α ≠ 0, vectorised over the columns of B (for one column along the rows of A).
/// `values` are those of A: A.values, or `GatheredValues` where they stand in another order. The
/// threads take chunks of about equal nonzeros in turn. `partials` holds kMaxStripe<T> values for
/// each segment of the schedule.
///
/// Deterministic: each entry of C is one sum in the order of the row, or of segments in order, and
/// then of the terms. Operands whose coefficient is 0 are not read. Shapes are the caller's
/// business.
template <Scalar T, class Values>
void row_split(const SpmmProduct<T, HostSpace>& product, Values values, const RowSchedule& schedule,
               T* partials, int threads) {
  with_host_isa(
      [&](auto isa) { row_split_kernel<isa()>(product, values, schedule, partials, threads); });
}

}  // namespace heddle::detail
