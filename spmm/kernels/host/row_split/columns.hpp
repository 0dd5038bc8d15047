#pragma once

#include <cstring>
#include <heddle/linalg/context/host_simd.hpp>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

/// A row of a block in vector registers.
namespace heddle::detail {
inline namespace HEDDLE_ISA {

/// W lanes of T, arithmetic lane by lane.
template <Scalar T, int W>
struct VectorOfLanes {
  using Type __attribute__((vector_size(W * sizeof(T)))) = T;
};

/// Keeps g++ from loading a vector anew for each of its uses: it turns a load with several uses
/// into as many memory operands, and the loads are what limits the kernels (clang does not).
template <class Vector>
inline void keep_in_register(Vector& vector) noexcept {
#if defined(__SSE2__) && !defined(__clang__)
  asm("" : "+v"(vector));
#else
  static_cast<void>(vector);
#endif
}

/// Stores a whole register past the caches: `to` must be aligned to it. A line that is only written
/// is then not read first.
template <class Vector>
inline void stream_register(void* to, const Vector& vector) noexcept {
  static_assert(sizeof(Vector) == kVectorBytes);
#if defined(__AVX512F__)
  _mm512_stream_si512(static_cast<__m512i*>(to), reinterpret_cast<__m512i>(vector));
#elif defined(__AVX__)
  _mm256_stream_si256(static_cast<__m256i*>(to), reinterpret_cast<__m256i>(vector));
#elif defined(__SSE2__)
  _mm_stream_si128(static_cast<__m128i*>(to), reinterpret_cast<__m128i>(vector));
#else
  std::memcpy(to, &vector, sizeof vector);
#endif
}

/// Makes this thread's `stream_register`s visible to others before what it stores next.
inline void end_streaming() noexcept {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

template <class Vector, Scalar T>
inline Vector load_vector(const T* from) noexcept {
  Vector vector;
  std::memcpy(&vector, from, sizeof vector);
  return vector;
}

/// V vectors of W columns that cover N columns, (V − 1)·W < N ≤ V·W, N ≥ W: the last vector ends at
/// column N, so it repeats columns of the one before it where N is not a multiple of W, which makes
/// masks and scalar rests unnecessary. All columns are loaded before any is stored.
template <Scalar T, int W, int V>
class Columns {
 public:
  using Vector = typename VectorOfLanes<T, W>::Type;

  explicit Columns(Index N) noexcept : last_(N - W) {}

  /// The first column of vector v.
  Index offset(int v) const noexcept { return v == V - 1 ? last_ : v * W; }

  Vector load(const T* row, int v) const noexcept { return load_vector<Vector>(row + offset(v)); }

  void store(T* row, int v, const Vector& vector) const noexcept {
    std::memcpy(row + offset(v), &vector, sizeof vector);
  }

  /// `store` past the caches where the vectors fill registers.
  void stream(T* row, int v, const Vector& vector) const noexcept {
    if constexpr (sizeof(Vector) == kVectorBytes) {
      stream_register(row + offset(v), vector);
    } else {
      store(row, v, vector);
    }
  }

 private:
  Index last_;
};

}  // namespace HEDDLE_ISA
}  // namespace heddle::detail
