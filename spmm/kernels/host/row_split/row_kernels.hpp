#pragma once

#include <algorithm>
#include <cstring>
#include <heddle/linalg/data/views.hpp>
#include <heddle/spmm/kernels/host/epilogue.hpp>
#include <heddle/spmm/kernels/host/row_split/columns.hpp>
#include <heddle/spmm/kernels/host/row_split/gathered_values.hpp>
#include <heddle/spmm/kernels/product.hpp>

/// The inner loops of `row_split`: a product for some rows, a few vector registers of columns wide.
namespace heddle::detail {
inline namespace HEDDLE_ISA {

/// The rows of B to prefetch.
enum class Prefetch {
  none,
  front,   ///< those behind the last column, which advances with the row
  entries  ///< those of the entries some places ahead, for columns scattered over more than a cache
};

/// A product, or N ≥ 1 columns of one. `Values` is how the kernels read the values of A: A.values,
/// or `GatheredValues` from an A that keeps them in another order.
template <Scalar T, class Values>
struct Product : SpmmProduct<T, HostSpace> {
  Values values;
  Prefetch prefetch;
  bool stream;  ///< store C past the caches; only for β = 0 and where all rows of C are aligned
};

/// Asks for `bytes` bytes from `from` on. Must be inlined: g++ takes a function that does nothing
/// but prefetch for one without effect and drops the call.
[[gnu::always_inline]] inline void prefetch_bytes(const void* from, std::size_t bytes) noexcept {
  constexpr std::size_t kLine = 64;
  for (std::size_t at = 0; at < bytes; at += kLine) {
    __builtin_prefetch(static_cast<const char*>(from) + at);
  }
}

/// Prefetches values, or the positions at which they are stored.
template <Scalar T>
[[gnu::always_inline]] inline void prefetch_values(const T* values, std::size_t count) noexcept {
  prefetch_bytes(values, count * sizeof(T));
}
template <Scalar T>
[[gnu::always_inline]] inline void prefetch_values(const GatheredValues<T>& values,
                                                   std::size_t count) noexcept {
  prefetch_bytes(values.positions, count * sizeof(std::uint32_t));
}

/// Prefetches the value of entry k, for values in arbitrary order.
template <Scalar T>
[[gnu::always_inline]] inline void prefetch_scattered_value(const T*, Index) noexcept {}
template <Scalar T>
[[gnu::always_inline]] inline void prefetch_scattered_value(const GatheredValues<T>& values,
                                                            Index k) noexcept {
  __builtin_prefetch(values.values + values.positions[k]);
}

/// Prefetches the entries of A a few rows after the `length`·H entries at `begin`. Hardware
/// prefetch follows the values of one row, but not those of H rows at a time, and it restarts at
/// each page.
template <Scalar T, int H, class Values>
[[gnu::always_inline]] inline void prefetch_entries(const Product<T, Values>& p, Index begin,
                                                    Index length) noexcept {
  // On two cores of a Zen 5 EPYC 2 to 8 KiB of values ahead gave 1.3 to 1.5 times the speed of
  // none.
  constexpr Index kAhead = 4096 / sizeof(T);
  const std::size_t entries = static_cast<std::size_t>(length) * H;
  prefetch_values(p.values + begin + kAhead, entries);
  prefetch_bytes(p.A.columns + begin + kAhead, entries * sizeof(std::int32_t));
}

/// Prefetches H rows of B a few places after the last column of a row of A. On a grid, the last
/// column advances with the row and is the only one that no earlier row has used.
template <Scalar T, int W, int V, int H, class Values>
[[gnu::always_inline]] inline void prefetch_front(const Product<T, Values>& p,
                                                  Index last_column) noexcept {
  // 16 to 64 rows ahead did equally well, at up to 1.5 times the speed of none.
  constexpr Index kAhead = 16;
  const Index front = std::min(last_column + kAhead, p.A.cols - 1);
  const Index end = std::min(front + H, p.A.cols);
  for (Index row = front; row < end; ++row) {
    prefetch_bytes(p.B + row * p.ldb, V * W * sizeof(T));
  }
}

/// Prefetches the rows of B for as many entries as H rows of A have distinct ones, some entries
/// after the `length`·H entries at `begin`. More cache misses are then in flight than the core
/// starts by itself.
template <Scalar T, int W, int V, int H, class Values>
[[gnu::always_inline]] inline void prefetch_scattered(const Product<T, Values>& p, Index begin,
                                                      Index length) noexcept {
  // On two cores of a Zen 5 EPYC 64 to 128 lines ahead: up to 1.8 times the speed of none.
  constexpr Index kAhead = V * W * sizeof(T) <= 128 ? 64 : 16;
  const Index first = begin + (H - 1) * length + kAhead;
  const Index last = std::min(first + length, p.A.nnz);
  for (Index k = first; k < last; ++k) {
    prefetch_bytes(p.B + p.A.columns[k] * p.ldb, V * W * sizeof(T));
    prefetch_scattered_value(p.values, k);
  }
}

/// Prefetches what the terms of the product read, some rows ahead. Hardware prefetch does not
/// follow these streams in addition to those of A and B.
template <Scalar T, int W, int V, int H, class Values>
[[gnu::always_inline]] inline void prefetch_terms(const Product<T, Values>& p, Index row) noexcept {
  // On two cores of a Zen 5 EPYC 8 to 32 rows ahead: 1.3 to 1.5 times the speed of none.
  constexpr Index kAhead = 16;
  const Index first = std::min(row + kAhead, p.A.rows - 1);
  const Index last = std::min(first + H, p.A.rows);
  for (Index ahead = first; ahead < last; ++ahead) {
    if (p.beta != T{0}) prefetch_bytes(p.C + ahead * p.ldc, V * W * sizeof(T));
    if (p.delta != T{0}) prefetch_bytes(p.X + ahead * p.ldx, V * W * sizeof(T));
    if (p.eta != T{0}) prefetch_bytes(p.Y + ahead * p.ldy, V * W * sizeof(T));
  }
}

/// acc[h][·] = Σ_k values[h·length + k]·B(columns[k], ·) over the `length` entries of H rows of A
/// that have the same columns.
template <Scalar T, int W, int V, int H, class Values>
inline void accumulate(const Product<T, Values>& p, Index begin, Index length,
                       typename VectorOfLanes<T, W>::Type (&acc)[H][V]) noexcept {
  using Vector = typename VectorOfLanes<T, W>::Type;
  // Two partial sums per entry of C where registers suffice, because a single sum is one chain of
  // dependent additions.
  constexpr int kSums = H == 1 && V <= 4 ? 2 : 1;
  constexpr int kUnroll = H == 1 ? 2 : 4;
  const Columns<T, W, V> columns(p.N);
  const std::int32_t* const index = p.A.columns + begin;
  const Values values = p.values + begin;
  const T* const B_last =
      p.B + columns.offset(V - 1);  // so that no address needs a second addition
  Vector sums[kSums][H][V] = {};
  const auto add_entry = [&](Index k, Vector(&sum)[H][V]) {
    const Index b = index[k] * p.ldb;
    for (int v = 0; v < V; ++v) {
      auto bv = load_vector<Vector>((v == V - 1 ? B_last : p.B + v * W) + b);
      if constexpr (H > 1) keep_in_register(bv);
      for (int h = 0; h < H; ++h) sum[h][v] += values[h * length + k] * bv;
    }
  };
  Index k = 0;
  for (; k + kUnroll <= length; k += kUnroll) {
    for (int u = 0; u < kUnroll; ++u) add_entry(k + u, sums[u % kSums]);
  }
  for (; k < length; ++k) add_entry(k, sums[0]);
  for (int h = 0; h < H; ++h) {
    for (int v = 0; v < V; ++v) {
      acc[h][v] = kSums == 1 ? sums[0][h][v] : sums[0][h][v] + sums[kSums - 1][h][v];
    }
  }
}

/// Rows first … last − 1, H at a time.
template <Scalar T, int W, int V, int H, class Values>
void multiply_rows(const Product<T, Values>& p, Index first, Index last) noexcept {
  using Vector = typename VectorOfLanes<T, W>::Type;
  const Columns<T, W, V> columns(p.N);
  for (Index row = first; row < last; row += H) {
    const Index begin = p.A.row_offsets[row];
    const Index length = p.A.row_offsets[row + 1] - begin;
    prefetch_entries<T, H>(p, begin, length);
    if (p.prefetch == Prefetch::front && length > 0) {
      prefetch_front<T, W, V, H>(p, p.A.columns[begin + length - 1]);
    } else if (p.prefetch == Prefetch::entries) {
      prefetch_scattered<T, W, V, H>(p, begin, length);
    }
    prefetch_terms<T, W, V, H>(p, row);
    Vector acc[H][V];
    accumulate<T, W, V, H>(p, begin, length, acc);
    for (int h = 0; h < H; ++h) {
      const T* const c = p.C + (row + h) * p.ldc;
      for (int v = 0; v < V; ++v) {
        acc[h][v] *= p.alpha;
        if (p.beta != T{0}) acc[h][v] += p.beta * columns.load(c, v);
      }
      finish_row(p, row + h, columns, acc[h], p.stream);
    }
  }
}

/// sum[0 … N − 1] = Σ A_k B(column_k, ·) over entries begin … end − 1 of one row.
template <Scalar T, int W, int V, class Values>
void multiply_segment(const Product<T, Values>& p, Index begin, Index end, T* sum) noexcept {
  const Columns<T, W, V> columns(p.N);
  typename VectorOfLanes<T, W>::Type acc[1][V];
  accumulate<T, W, V, 1>(p, begin, end - begin, acc);
  for (int v = 0; v < V; ++v) columns.store(sum, v, acc[0][v]);
}

/// As many values as the vector has lanes. By reference: the vector may be wider than the build's
/// registers.
template <class Vector, Scalar T>
inline void load_values(const T* values, Vector& loaded) noexcept {
  std::memcpy(&loaded, values, sizeof loaded);
}
template <class Vector, Scalar T>
inline void load_values(const GatheredValues<T>& values, Vector& loaded) noexcept {
  constexpr int kLanes = sizeof(Vector) / sizeof(T);
  for (int lane = 0; lane < kLanes; ++lane) loaded[lane] = values[lane];
}

/// dot[h] = Σ_k values[h·length + k]·B(columns[k]): one column, vectorised along the row.
template <Scalar T, int H, class Values>
inline void accumulate_dots(const Product<T, Values>& p, Index begin, Index length,
                            T (&dot)[H]) noexcept {
  constexpr int kLanes = 8;
  using Vector = typename VectorOfLanes<T, kLanes>::Type;
  const std::int32_t* const index = p.A.columns + begin;
  const Values values = p.values + begin;
  Vector acc[H] = {};
  Index k = 0;
  for (; k + kLanes <= length; k += kLanes) {
    Vector b;
    for (int lane = 0; lane < kLanes; ++lane) b[lane] = p.B[index[k + lane] * p.ldb];
    for (int h = 0; h < H; ++h) {
      Vector a;
      load_values(values + h * length + k, a);
      acc[h] += a * b;
    }
  }
  for (int h = 0; h < H; ++h) {
    dot[h] = k == 0 ? T{0}
                    : ((acc[h][0] + acc[h][4]) + (acc[h][2] + acc[h][6])) +
                          ((acc[h][1] + acc[h][5]) + (acc[h][3] + acc[h][7]));
  }
  for (; k < length; ++k) {
    const T b = p.B[index[k] * p.ldb];
    for (int h = 0; h < H; ++h) dot[h] += values[h * length + k] * b;
  }
}

/// Rows first … last − 1 of one column, H at a time.
template <Scalar T, int H, class Values>
void multiply_rows_by_vector(const Product<T, Values>& p, Index first, Index last) noexcept {
  for (Index row = first; row < last; row += H) {
    const Index begin = p.A.row_offsets[row];
    const Index length = p.A.row_offsets[row + 1] - begin;
    prefetch_entries<T, H>(p, begin, length);
    T dot[H];
    accumulate_dots<T, H>(p, begin, length, dot);
    for (int h = 0; h < H; ++h) {
      const T* const old = p.C + (row + h) * p.ldc;
      T c[1] = {p.beta == T{0} ? p.alpha * dot[h] : p.alpha * dot[h] + p.beta * *old};
      finish_row(p, row + h, OneColumn<T>(), c);
    }
  }
}

/// One column of `multiply_segment`.
template <Scalar T, class Values>
void multiply_segment_by_vector(const Product<T, Values>& p, Index begin, Index end,
                                T* sum) noexcept {
  T dot[1];
  accumulate_dots<T, 1>(p, begin, end - begin, dot);
  *sum = dot[0];
}

}  // namespace HEDDLE_ISA
}  // namespace heddle::detail
