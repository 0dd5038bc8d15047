#pragma once

#include <heddle/linalg/views.hpp>
#include <heddle/spmm/host/row_schedule.hpp>

namespace heddle::detail {

/// Bytes of a vector register and how many there are.
#if defined(__AVX512F__)
inline constexpr int kVectorBytes = 64;
inline constexpr int kVectorRegisters = 32;
#elif defined(__AVX__)
inline constexpr int kVectorBytes = 32;
inline constexpr int kVectorRegisters = 16;
#else
inline constexpr int kVectorBytes = 16;
inline constexpr int kVectorRegisters = 16;
#endif

/// Vectors of C that a row keeps in registers: with `kMaxRunHeight` rows at a time, three quarters
/// of the registers.
inline constexpr int kMaxVectors = kVectorRegisters / 4;

/// Columns of C that `row_split` multiplies at once at most; wider blocks are cut into slabs.
template <Scalar T>
inline constexpr Index kMaxSlab = kMaxVectors* kVectorBytes / static_cast<int>(sizeof(T));

/// C = α A B + β C with α ≠ 0, vectorised over the columns of B (for one column along the rows of
/// A). The threads take contiguous chunks of about equal nonzeros. `partials` holds
/// kMaxSlab<T> values for each segment of the schedule.
///
/// Deterministic: each entry of C is one sum in the order of the row, or of segments in order. C is
/// not read for β = 0. Shapes are the caller's business.
template <Scalar T>
void row_split(const CsrView<T, HostSpace>& A, const RowSchedule& schedule, T* partials,
               int threads, T alpha, const ConstBlockView<T, HostSpace>& B, T beta,
               const BlockView<T, HostSpace>& C);

}  // namespace heddle::detail
