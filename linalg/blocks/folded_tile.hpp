#pragma once

#include <array>
#include <concepts>
#include <heddle/linalg/context/host_simd.hpp>
#include <utility>
#if defined(__AVX512DQ__) && defined(__AVX512VL__)
#include <immintrin.h>
#define HEDDLE_FOLDS
#endif

/// Rows of X C for a C of few columns, of which a vector holds several rows.
namespace heddle {
inline namespace HEDDLE_ISA {

/// The rows of a C of b columns of T that a vector holds, 1 where one row does not leave room for
/// another. C(k, j) is lane j·F + k mod F of vector k/F, F = fold<T>(b).
template <class T>
constexpr Index fold([[maybe_unused]] Index b) noexcept {
#if defined(HEDDLE_FOLDS)
  if constexpr (std::same_as<T, double>) return b <= 2 ? 4 : b <= 4 ? 2 : 1;
#endif
  return 1;
}

/// F entries of a row of X, again and again.
template <int F>
Vector<double> repeated(const double* x) noexcept;
/// The first `count` < F of them and zeros, with nothing read behind them.
template <int F>
Vector<double> repeated(const double* x, Index count) noexcept;
/// The sums of F neighbouring lanes, in the first lanes.
template <int F>
Vector<double> unfolded(Vector<double> v) noexcept;

#if defined(HEDDLE_FOLDS)

template <int F>
inline Vector<double> repeated(const double* x) noexcept {
  if constexpr (F == 2) return _mm512_broadcast_f64x2(_mm_loadu_pd(x));
  if constexpr (F == 4) return _mm512_broadcast_f64x4(_mm256_loadu_pd(x));
}

template <int F>
inline Vector<double> repeated(const double* x, Index count) noexcept {
  const auto lanes = static_cast<__mmask8>((1u << count) - 1);
  if constexpr (F == 2) return _mm512_broadcast_f64x2(_mm_maskz_loadu_pd(lanes, x));
  if constexpr (F == 4) return _mm512_broadcast_f64x4(_mm256_maskz_loadu_pd(lanes, x));
}

template <int F>
inline Vector<double> unfolded(Vector<double> v) noexcept {
  v += __builtin_shufflevector(v, v, 1, 0, 3, 2, 5, 4, 7, 6);
  if constexpr (F == 2) return __builtin_shufflevector(v, v, 0, 2, 4, 6, 0, 2, 4, 6);
  v += __builtin_shufflevector(v, v, 2, 3, 0, 1, 6, 7, 4, 5);
  return __builtin_shufflevector(v, v, 0, 4, 0, 4, 0, 4, 0, 4);
}

#endif

/// out[r, j] = Σ_k x[r, k] C(k, j) for kRows rows, and what comes next of X and Y. Rows of x lie
/// row_stride apart, those of out a vector.
template <int F, int kRows>
void multiply_folded_tile(Index a, const double* x, Index row_stride, const double* c, double* out,
                          TileAhead x_ahead, TileAhead y_ahead) {
  constexpr Index kSteps = kCacheLine / static_cast<Index>(sizeof(double)) / F;  // per line of X
  Vector<double> sum[kRows] = {};
  y_ahead.fetch();  // a row of Y is at most half a line
  Index k = 0;
  for (Index step = 0; k + F <= a; k += F, c += kLanes<double>, ++step) {
    if (step % kSteps == 0) x_ahead.fetch();
    const Vector<double> c_rows = load(c);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) sum[r] += repeated<F>(x + r * row_stride + k) * c_rows;
  }
  if (const Index rest = a - k; rest > 0) {
    const Vector<double> c_rows = load(c);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) sum[r] += repeated<F>(x + r * row_stride + k, rest) * c_rows;
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) store<double>(out + r * kLanes<double>, unfolded<F>(sum[r]));
}

using FoldedTile = void (*)(Index, const double*, Index, const double*, double*, TileAhead,
                            TileAhead);

template <int F, int... kIndex>
constexpr std::array<FoldedTile, sizeof...(kIndex)> folded_tiles(
    std::integer_sequence<int, kIndex...>) {
  return {multiply_folded_tile<F, kIndex + 1>...};
}

/// multiply_folded_tile<F, r> is element r − 1.
template <int F>
inline constexpr auto kFoldedTiles = folded_tiles<F>(std::make_integer_sequence<int, kTileRows>());

}  // namespace HEDDLE_ISA
}  // namespace heddle
