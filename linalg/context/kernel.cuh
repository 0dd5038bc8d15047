#pragma once

#include <algorithm>
#include <heddle/linalg/context/context.hpp>
#include <heddle/linalg/context/scalar.hpp>

/// Shared by the CUDA kernels: launch shapes, sums in a fixed order, double-precision matrix units.
namespace heddle {

inline constexpr int kWarp = 32;

/// Threads per block of most kernels. On an H200, 128 to 256 are faster than 1024 for streaming
/// kernels.
inline constexpr int kThreads = 256;

template <class Integer>
constexpr Integer ceil_div(Integer a, Integer b) {
  return (a + b - 1) / b;
}

// Kernels construct complex numbers, and take their parts, signs and conjugates. They must not add,
// multiply or assign real numbers to them by operators of std::complex: nvcc compiles those of
// libstdc++ to nothing, without a warning. `add`, `product` and T(x) take their place.

/// sum += x.
template <Scalar T>
__device__ void add(T x, T& sum) {
  if constexpr (kComplex<T>) {
    sum = T(sum.real() + x.real(), sum.imag() + x.imag());
  } else {
    sum += x;
  }
}

/// |x|.
template <Scalar T>
__device__ double magnitude(T x) {
  if constexpr (kComplex<T>) {
    return hypot(static_cast<double>(x.real()), static_cast<double>(x.imag()));
  } else {
    return fabs(static_cast<double>(x));
  }
}

/// 1/x. Of a complex x by Smith's algorithm, which neither overflows nor underflows where |x|²
/// does.
template <Scalar T>
__device__ T reciprocal(T x) {
  if constexpr (kComplex<T>) {
    const RealOf<T> re = x.real();
    const RealOf<T> im = x.imag();
    if (fabs(re) >= fabs(im)) {
      const RealOf<T> ratio = im / re;
      const RealOf<T> scale = 1 / (re + im * ratio);
      return {scale, -ratio * scale};
    }
    const RealOf<T> ratio = re / im;
    const RealOf<T> scale = 1 / (re * ratio + im);
    return {ratio * scale, -scale};
  } else {
    return 1 / x;
  }
}

/// Rows divided into slabs: contiguous ranges of equal height, of which the last may be lower, one
/// per thread block. A sum over rows is computed as one sum per slab, added in the order of the
/// slabs. The slabs depend on the number of rows and on the device's size alone, so a sum has the
/// same bits on every launch.
struct DeviceSlabs {
  Index rows;
  Index height;

  Index count() const { return std::max<Index>(1, ceil_div(rows, height)); }
};

/// At most `max_slabs` slabs of at least `min_height` rows (the last may be lower).
inline DeviceSlabs device_slabs(Index rows, Index max_slabs, Index min_height) {
  return {rows, std::max(min_height, ceil_div(rows, max_slabs))};
}

/// How a thread block traverses rows of `cols` contiguous entries: `width` neighbouring threads
/// process a row together, each the columns c, c + width, … Threads beyond the last whole group of
/// `width` have no row.
class RowLayout {
 public:
  explicit RowLayout(Index cols) : width_(static_cast<int>(std::clamp<Index>(cols, 1, kThreads))) {}
  RowLayout(const RowLayout&) = default;

  __host__ __device__ int width() const { return width_; }
  __host__ __device__ int rows_per_block() const { return kThreads / width_; }
  __device__ int column() const { return static_cast<int>(threadIdx.x) % width_; }
  __device__ int row() const { return static_cast<int>(threadIdx.x) / width_; }
  __device__ bool has_row() const { return row() < rows_per_block(); }

 private:
  int width_;
};

/// D += A·B on the matrix units, A 16×8, B 8×8, D 16×8, doubles spread over the 32 lanes: with
/// g = lane / 4 and t = lane mod 4, a[2i + h] = A(g + 8h, t + 4i), b[i] = B(t + 4i, g) and
/// d[2h + c] = D(g + 8h, 2t + c).
__device__ inline void multiply_add_16x8x8(double (&d)[4], const double (&a)[4],
                                           const double (&b)[2]) {
#if __CUDA_ARCH__ >= 900
  asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
#else
  // Older architectures have only products of 8×4 by 4×8, with the same numbers in each lane.
  for (int i = 0; i < 2; ++i) {
    for (int h = 0; h < 2; ++h) {
      asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
          : "+d"(d[2 * h]), "+d"(d[2 * h + 1])
          : "d"(a[2 * i + h]), "d"(b[i]));
    }
  }
#endif
}

}  // namespace heddle
