#pragma once

#include <heddle/spmm/kernels/product.hpp>

namespace heddle::detail::cuda {

template <class T>
using SpmmProduct = detail::SpmmProduct<T, DeviceSpace>;

/// A product of which is known when a kernel is compiled that it has no terms but β C. They would
/// take registers.
template <class T>
struct PlainProduct : SpmmProduct<T> {
  static constexpr bool kTerms = false;
};

/// A plain product with an adjoint whose values are those of another matrix in another order: the
/// value of entry k is the conjugate of A.values[positions[k]].
template <class T>
struct GatheredProduct : SpmmProduct<T> {
  static constexpr bool kTerms = false;
  const std::uint32_t* positions = nullptr;
};

/// A product in double with an A whose values are all exact in single precision, read from a copy
/// of half the size. Its sums have the same bits as those of `Base`.
template <class Base>
struct NarrowProduct : Base {
  const float* narrow_values = nullptr;
};

/// Bytes between rows of B. `SpmmPlan` ensures that they are below 2³².
template <class T>
constexpr unsigned b_pitch(const SpmmProduct<T>& product) noexcept {
  return static_cast<unsigned>(product.ldb * static_cast<Index>(sizeof(T)));
}

/// The width in bytes of a thread's widest load. Complex numbers are loaded one at a time, at
/// addresses that are multiples of their size.
inline constexpr int kVectorBytes = 16;

/// The number of values in such a load.
template <class T>
inline constexpr int kVectorWidth = kVectorBytes / static_cast<int>(sizeof(T));

/// Whether every row of a block is aligned to 16 bytes.
template <class T>
bool rows_are_aligned(const T* block, Index ld) noexcept {
  return reinterpret_cast<std::uintptr_t>(block) % kVectorBytes == 0 && ld % kVectorWidth<T> == 0;
}

/// Whether every row of the product's blocks is aligned to 16 bytes. Its columns may end within a
/// vector.
template <class T>
bool blocks_are_aligned(const SpmmProduct<T>& product) noexcept {
  return rows_are_aligned(product.B, product.ldb) && rows_are_aligned(product.C, product.ldc) &&
         (product.delta == T{0} || rows_are_aligned(product.X, product.ldx)) &&
         (product.eta == T{0} || rows_are_aligned(product.Y, product.ldy));
}

/// Whether every thread may load and store 16 bytes of a row at once: rows of all blocks are
/// aligned to 16 bytes, and N is a multiple of the vector width.
template <class T>
bool is_vectorisable(const SpmmProduct<T>& product) noexcept {
  return product.N % kVectorWidth<T> == 0 && blocks_are_aligned(product);
}

}  // namespace heddle::detail::cuda
