#pragma once

#include <algorithm>
#include <bit>
#include <heddle/spmm/kernels/cuda/product.hpp>
#include <utility>

/// Converts run-time numbers to the template arguments of a kernel.
namespace heddle::detail::cuda {

/// Calls f.template operator()<k>() with the first k of the ascending list `k0, ks…` that is ≥
/// `wanted`, or with the last one if all are smaller.
template <int k0, int... ks, class F>
void dispatch_at_least(int wanted, F&& f) {
  if constexpr (sizeof...(ks) > 0) {
    if (wanted > k0) return dispatch_at_least<ks...>(wanted, std::forward<F>(f));
  }
  f.template operator()<k0>();
}

/// Calls f.template operator()<kWidth, kLanes>(), where a thread loads kWidth values at once and
/// kLanes lanes process the `N` columns of a row. kLanes is a power of two up to `most_lanes` ≤ 32.
/// If N exceeds their columns, the product is computed in stripes of columns.
template <class T, class F>
void dispatch_lanes(bool vectorisable, Index N, Index most_lanes, F&& f) {
  const auto lanes_for = [&](int width) {
    return static_cast<int>(std::min<Index>(most_lanes, (N + width - 1) / width));
  };
  if (vectorisable) {
    dispatch_at_least<1, 2, 4, 8, 16, 32>(lanes_for(kVectorWidth<T>), [&]<int kLanes>() {
      f.template operator()<kVectorWidth<T>, kLanes>();
    });
  } else {
    dispatch_at_least<1, 2, 4, 8, 16, 32>(
        lanes_for(1), [&]<int kLanes>() { f.template operator()<1, kLanes>(); });
  }
}

template <class T, class F>
void dispatch_lanes(const SpmmProduct<T>& product, Index most_lanes, F&& f) {
  dispatch_lanes<T>(is_vectorisable(product), product.N, most_lanes, std::forward<F>(f));
}

/// Calls f(product), as a `PlainProduct` if it has no terms but β C. For kernels in which the terms
/// would take registers from the sums.
template <class T, class F>
void dispatch_terms(const SpmmProduct<T>& product, F&& f) {
  if (product.has_epilogue()) return f(product);
  f(PlainProduct<T>{product});
}

/// ⌈a / b⌉ for a grid dimension.
inline unsigned blocks_for(Index a, Index b) noexcept {
  return static_cast<unsigned>((a + b - 1) / b);
}

}  // namespace heddle::detail::cuda
