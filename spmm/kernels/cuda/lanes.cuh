#pragma once

#include <heddle/linalg/context/kernel.cuh>
#include <heddle/spmm/kernels/cuda/product.hpp>
#include <utility>

/// Shared by the SpMM kernels: a few neighbouring columns in one thread's registers, their loads,
/// and the sum over a range of a row of A. `epilogue.cuh` stores such sums.
///
/// Each kernel sets the number of blocks that a multiprocessor must hold (`kBlocks` of its
/// configuration). Without this, the compiler saves registers by serialising the gathers of B,
/// although several gathers in flight per thread gain more than the last warps do.
namespace heddle::detail::cuda {

inline constexpr int kWarpSize = 32;
inline constexpr unsigned kFullWarp = 0xffffffffu;

/// `kWidth` neighbouring values of a row, loaded and stored at once.
template <class T, int kWidth>
struct alignas(sizeof(T) * kWidth) Lane {
  static_assert(sizeof(T) * kWidth <= kVectorBytes);
  T values[kWidth] = {};

  __device__ T& operator[](int i) { return values[i]; }
  __device__ const T& operator[](int i) const { return values[i]; }
};

/// Ordinary loads: the kernel may begin before the one that writes this memory has ended.
__device__ inline Lane<double, 1> load_lane(const double* from, Lane<double, 1>*) {
  return {{*from}};
}
__device__ inline Lane<double, 2> load_lane(const double* from, Lane<double, 2>*) {
  const double2 v = *reinterpret_cast<const double2*>(from);
  return {{v.x, v.y}};
}
__device__ inline Lane<float, 1> load_lane(const float* from, Lane<float, 1>*) { return {{*from}}; }
__device__ inline Lane<float, 2> load_lane(const float* from, Lane<float, 2>*) {
  const float2 v = *reinterpret_cast<const float2*>(from);
  return {{v.x, v.y}};
}
__device__ inline Lane<float, 4> load_lane(const float* from, Lane<float, 4>*) {
  const float4 v = *reinterpret_cast<const float4*>(from);
  return {{v.x, v.y, v.z, v.w}};
}
__device__ inline Lane<std::complex<double>, 1> load_lane(const std::complex<double>* from,
                                                          Lane<std::complex<double>, 1>*) {
  const double2 v = *reinterpret_cast<const double2*>(from);
  return {{{v.x, v.y}}};
}
template <int kWidth, class T>
__device__ Lane<T, kWidth> load(const T* from) {
  return load_lane(from, static_cast<Lane<T, kWidth>*>(nullptr));
}

/// `kWidth` neighbouring values of row `row`, where rows are `pitch` bytes apart. The address takes
/// one 32-bit multiplication, because a 64-bit one would take as long as the sums.
template <int kWidth, class T>
__device__ Lane<T, kWidth> load_row(const T* first, std::int32_t row, unsigned pitch) {
  const auto offset = static_cast<std::uint64_t>(static_cast<std::uint32_t>(row)) * pitch;
  return load<kWidth>(reinterpret_cast<const T*>(reinterpret_cast<const char*>(first) + offset));
}

/// sum += a·b. Complex numbers take four fused operations. The operator of std::complex also
/// repairs products of infinite numbers, which takes several times as long.
template <Scalar T>
__device__ void multiply_add(T a, T b, T& sum) {
  if constexpr (kComplex<T>) {
    sum = T(fma(-a.imag(), b.imag(), fma(a.real(), b.real(), sum.real())),
            fma(a.imag(), b.real(), fma(a.real(), b.imag(), sum.imag())));
  } else {
    sum += a * b;
  }
}
template <class T, int kWidth>
__device__ void multiply_add(T a, const Lane<T, kWidth>& b, Lane<T, kWidth>& sum) {
#pragma unroll
  for (int i = 0; i < kWidth; ++i) multiply_add(a, b[i], sum[i]);
}

/// sum += b.
using heddle::add;
template <class T, int kWidth>
__device__ void add(const Lane<T, kWidth>& b, Lane<T, kWidth>& sum) {
#pragma unroll
  for (int i = 0; i < kWidth; ++i) add(b[i], sum[i]);
}

/// The number whose real and imaginary part are `of_part` of those of `value`.
template <Scalar T, class F>
__device__ T by_parts(T value, const F& of_part) {
  if constexpr (kComplex<T>) {
    return T(of_part(value.real()), of_part(value.imag()));
  } else {
    return of_part(value);
  }
}

/// sum += the `sum` of the lane that is `distance` lanes further, within groups of `width` lanes.
template <class T, int kWidth>
__device__ void add_from_lane(int distance, int width, Lane<T, kWidth>& sum) {
#pragma unroll
  for (int i = 0; i < kWidth; ++i) {
    add(by_parts(sum[i],
                 [&](auto part) { return __shfl_down_sync(kFullWarp, part, distance, width); }),
        sum[i]);
  }
}

/// Values whose conjugates are those of a matrix, stored in another order, from some entry on.
template <class T>
struct GatheredValues {
  const T* values;
  const std::uint32_t* positions;
};

/// The values of A from entry `begin` on, and the k-th of these.
template <class T>
__device__ const T* values_from(const SpmmProduct<T>& p, Index begin) {
  return p.A.values + begin;
}
template <class T>
__device__ GatheredValues<T> values_from(const GatheredProduct<T>& p, Index begin) {
  return {p.A.values, p.positions + begin};
}
template <class Base>
__device__ const float* values_from(const NarrowProduct<Base>& p, Index begin) {
  return p.narrow_values + begin;
}
template <class V>
__device__ V load_value(const V* values, int k) {
  if constexpr (kComplex<V>) {
    const double2 v = __ldg(reinterpret_cast<const double2*>(values + k));
    return {v.x, v.y};
  } else {
    return __ldg(values + k);
  }
}
/// An ordinary load, since these values may change between products.
template <class T>
__device__ T load_value(const GatheredValues<T>& from, int k) {
  return conjugate(load<1>(from.values + __ldg(from.positions + k))[0]);
}

/// The type in which the values of a product's A are stored.
template <class Product>
using StoredValue =
    decltype(load_value(values_from(std::declval<const Product&>(), Index{}), int{}));

/// sum += Σ values[k]·B(columns[k], ·) over k = first, first + kStep, … < `length`. `B` points at
/// the thread's columns of row 0, and rows are `pitch` bytes apart. The loads of `kUnroll` terms
/// are in flight together, also at the end of a row, because rows of a mesh are shorter than two
/// rounds.
template <int kStep, int kUnroll, class Values, class T, int kWidth>
__device__ void accumulate(const std::int32_t* columns, Values values, int first, int length,
                           const T* B, unsigned pitch, Lane<T, kWidth>& sum) {
  using Stored = decltype(load_value(values, 0));
  int k = first;
  for (; k + (kUnroll - 1) * kStep < length; k += kUnroll * kStep) {
    Stored a[kUnroll];
    Lane<T, kWidth> b[kUnroll];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      b[u] = load_row<kWidth>(B, __ldg(columns + k + u * kStep), pitch);
      a[u] = load_value(values, k + u * kStep);
    }
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) multiply_add(static_cast<T>(a[u]), b[u], sum);
  }
  if (k >= length) return;
  Stored a[kUnroll] = {};
  Lane<T, kWidth> b[kUnroll];
#pragma unroll
  for (int u = 0; u < kUnroll - 1; ++u) {
    if (k + u * kStep < length) {
      b[u] = load_row<kWidth>(B, __ldg(columns + k + u * kStep), pitch);
      a[u] = load_value(values, k + u * kStep);
    }
  }
#pragma unroll
  for (int u = 0; u < kUnroll - 1; ++u) multiply_add(static_cast<T>(a[u]), b[u], sum);
}

}  // namespace heddle::detail::cuda
