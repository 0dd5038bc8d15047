#pragma once

#include <heddle/spmm/kernels/product.hpp>

namespace heddle::detail::cuda {

template <class T>
using SpmmProduct = detail::SpmmProduct<T, DeviceSpace>;

/// A product with an A whose values stand in another order: that of entry k is
/// A.values[positions[k]].
template <class T>
struct GatheredProduct : SpmmProduct<T> {
  const std::uint32_t* positions = nullptr;
};

/// Bytes from one row of B to the next, which `SpmmPlan` keeps below 2³².
template <class T>
constexpr unsigned b_pitch(const SpmmProduct<T>& product) noexcept {
  return static_cast<unsigned>(product.ldb * static_cast<Index>(sizeof(T)));
}

/// Bytes of the widest load of one thread.
inline constexpr int kVectorBytes = 16;

/// Values in such a load.
template <class T>
inline constexpr int kVectorWidth = kVectorBytes / static_cast<int>(sizeof(T));

/// Whether every row of a block starts on 16 bytes.
template <class T>
bool rows_are_aligned(const T* block, Index ld) noexcept {
  return reinterpret_cast<std::uintptr_t>(block) % kVectorBytes == 0 && ld % kVectorWidth<T> == 0;
}

/// Whether every thread may load and store 16 bytes of a row at once: rows of B and C start on 16
/// bytes and N is a multiple of the vector width.
template <class T>
bool is_vectorisable(const SpmmProduct<T>& product) noexcept {
  return product.N % kVectorWidth<T> == 0 && rows_are_aligned(product.B, product.ldb) &&
         rows_are_aligned(product.C, product.ldc);
}

}  // namespace heddle::detail::cuda
