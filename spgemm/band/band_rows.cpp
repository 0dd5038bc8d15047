#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/spgemm/band/band_rows.hpp>

namespace heddle::detail {
namespace {

/// Rows whose sums stay in registers: four vectors of 256 bits, which hide the latency of a
/// multiply-add.
template <class T>
constexpr Index kLanes = 128 / static_cast<Index>(sizeof(T));

/// Rows row … row + count − 1 of diagonal number c, count ≤ kLanes.
template <class T>
void multiply_block(const BandProduct<T>& p, Index c, Index row, Index count) noexcept {
  T sum[kLanes<T>] = {};
  for (Index n = p.begins[c]; n < p.begins[c + 1]; ++n) {
    const DiagonalPair pair = p.pairs[n];
    const Index k = row + pair.shift;
    const T* const a = p.A + (pair.A * p.ld_A + row);
    if (count == kLanes<T> && k >= 0 && k + count <= p.inner) {
      const T* const b = p.B + (pair.B * p.ld_B + k);
#pragma omp simd
      for (Index v = 0; v < kLanes<T>; ++v) sum[v] += a[v] * b[v];
    } else {
      const Index begin = k < 0 ? -k : 0;
      const Index end = k + count > p.inner ? p.inner - k : count;
      const T* const b = p.B + pair.B * p.ld_B;
      for (Index v = begin; v < end; ++v) sum[v] += a[v] * b[k + v];
    }
  }
  T* const target = p.C + (c * p.ld_C + row);
  if (count == kLanes<T>) {
    for (Index v = 0; v < kLanes<T>; ++v) target[v] = sum[v];
  } else {
    for (Index v = 0; v < count; ++v) target[v] = sum[v];
  }
}

}  // namespace

template <Isa kIsaOf, Scalar T>
void multiply_band_rows(const BandProduct<T>& product, Index first, Index last) noexcept {
  for (Index c = 0; c < product.diagonals; ++c) {
    for (Index row = first; row < last; row += kLanes<T>) {
      const Index left = last - row;
      multiply_block(product, c, row, left < kLanes<T> ? left : kLanes<T>);
    }
  }
}

#define HEDDLE_INSTANTIATE(T) \
  template void multiply_band_rows<kIsa, T>(const BandProduct<T>&, Index, Index) noexcept;
HEDDLE_FOR_EACH_REAL(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
