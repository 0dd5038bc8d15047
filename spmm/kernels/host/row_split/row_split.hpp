#pragma once

#include <heddle/linalg/context/host_simd.hpp>
#include <heddle/linalg/data/views.hpp>
#include <heddle/spmm/kernels/host/row_split/row_schedule.hpp>

namespace heddle::detail {

/// Vectors of C that a row keeps in registers: with `kMaxRunHeight` rows at a time, three quarters
/// of the registers.
inline constexpr int kMaxVectors = kVectorBytes == 64 ? 8 : 4;

/// Columns of C that `row_split` multiplies at once at most; wider blocks are cut into stripes.
template <Scalar T>
inline constexpr Index kMaxStripe = kMaxVectors* kVectorBytes / static_cast<int>(sizeof(T));

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
               const BlockView<T, HostSpace>& C);

}  // namespace heddle::detail
