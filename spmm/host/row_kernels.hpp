#pragma once

#include <cstring>
#include <heddle/linalg/views.hpp>

/// The inner loops of `row_split`: C = α A B + β C for some rows, a few vector registers of columns
/// wide.
namespace heddle::detail {

/// A product, or N ≥ 1 columns of one.
template <Scalar T>
struct Product {
  CsrView<T, HostSpace> A;
  const T* B;
  Index ldb;
  T* C;
  Index ldc;
  Index N;
  T alpha;
  T beta;
};

/// W lanes of T, arithmetic lane by lane.
template <Scalar T, int W>
struct VectorOf {
  using Type __attribute__((vector_size(W * sizeof(T)))) = T;
};

/// V vectors of W columns that cover N columns, (V − 1)·W < N ≤ V·W, N ≥ W: the last vector ends at
/// column N, so it repeats columns of the one before it where N is not a multiple of W, which makes
/// masks and scalar rests unnecessary. All columns are loaded before any is stored.
template <Scalar T, int W, int V>
struct Columns {
  using Vector = typename VectorOf<T, W>::Type;

  explicit Columns(Index N) noexcept : last(N - W) {}

  Index offset(int v) const noexcept { return v == V - 1 ? last : v * W; }

  Vector load(const T* row, int v) const noexcept {
    Vector vector;
    std::memcpy(&vector, row + offset(v), sizeof vector);
    return vector;
  }

  void store(T* row, int v, const Vector& vector) const noexcept {
    std::memcpy(row + offset(v), &vector, sizeof vector);
  }

  Index last;
};

/// acc[h][·] = Σ_k values[h·length + k]·B(columns[k], ·) over the `length` entries of H rows of A
/// that have the same columns.
template <Scalar T, int W, int V, int H>
inline void accumulate(const Product<T>& p, Index begin, Index length,
                       typename VectorOf<T, W>::Type (&acc)[H][V]) noexcept {
  const Columns<T, W, V> columns(p.N);
  const std::int32_t* const index = p.A.columns + begin;
  const T* const values = p.A.values + begin;
  for (Index k = 0; k < length; ++k) {
    const T* const b = p.B + index[k] * p.ldb;
    for (int v = 0; v < V; ++v) {
      const auto bv = columns.load(b, v);
      for (int h = 0; h < H; ++h) acc[h][v] += values[h * length + k] * bv;
    }
  }
}

/// Rows first … last − 1, H at a time.
template <Scalar T, int W, int V, int H>
void multiply_rows(const Product<T>& p, Index first, Index last) noexcept {
  using Vector = typename VectorOf<T, W>::Type;
  const Columns<T, W, V> columns(p.N);
  for (Index row = first; row < last; row += H) {
    const Index begin = p.A.row_offsets[row];
    Vector acc[H][V] = {};
    accumulate<T, W, V, H>(p, begin, p.A.row_offsets[row + 1] - begin, acc);
    for (int h = 0; h < H; ++h) {
      T* const c = p.C + (row + h) * p.ldc;
      for (int v = 0; v < V; ++v) {
        acc[h][v] *= p.alpha;
        if (p.beta != T{0}) acc[h][v] += p.beta * columns.load(c, v);
      }
      for (int v = 0; v < V; ++v) columns.store(c, v, acc[h][v]);
    }
  }
}

/// sum[0 … N − 1] = Σ A_k B(column_k, ·) over entries begin … end − 1 of one row.
template <Scalar T, int W, int V>
void multiply_segment(const Product<T>& p, Index begin, Index end, T* sum) noexcept {
  const Columns<T, W, V> columns(p.N);
  typename VectorOf<T, W>::Type acc[1][V] = {};
  accumulate<T, W, V, 1>(p, begin, end - begin, acc);
  for (int v = 0; v < V; ++v) columns.store(sum, v, acc[0][v]);
}

/// dot[h] = Σ_k values[h·length + k]·B(columns[k]): one column, vectorised along the row.
template <Scalar T, int H>
inline void accumulate_dots(const Product<T>& p, Index begin, Index length, T (&dot)[H]) noexcept {
  constexpr int kLanes = 8;
  using Vector = typename VectorOf<T, kLanes>::Type;
  const std::int32_t* const index = p.A.columns + begin;
  const T* const values = p.A.values + begin;
  Vector acc[H] = {};
  Index k = 0;
  for (; k + kLanes <= length; k += kLanes) {
    Vector b;
    for (int lane = 0; lane < kLanes; ++lane) b[lane] = p.B[index[k + lane] * p.ldb];
    for (int h = 0; h < H; ++h) {
      Vector a;
      std::memcpy(&a, values + h * length + k, sizeof a);
      acc[h] += a * b;
    }
  }
  for (int h = 0; h < H; ++h) {
    dot[h] = ((acc[h][0] + acc[h][4]) + (acc[h][2] + acc[h][6])) +
             ((acc[h][1] + acc[h][5]) + (acc[h][3] + acc[h][7]));
  }
  for (; k < length; ++k) {
    const T b = p.B[index[k] * p.ldb];
    for (int h = 0; h < H; ++h) dot[h] += values[h * length + k] * b;
  }
}

/// Rows first … last − 1 of one column, H at a time.
template <Scalar T, int H>
void multiply_rows_by_vector(const Product<T>& p, Index first, Index last) noexcept {
  for (Index row = first; row < last; row += H) {
    const Index begin = p.A.row_offsets[row];
    T dot[H];
    accumulate_dots<T, H>(p, begin, p.A.row_offsets[row + 1] - begin, dot);
    for (int h = 0; h < H; ++h) {
      T& c = p.C[(row + h) * p.ldc];
      c = p.beta == T{0} ? p.alpha * dot[h] : p.alpha * dot[h] + p.beta * c;
    }
  }
}

/// One column of `multiply_segment`.
template <Scalar T>
void multiply_segment_by_vector(const Product<T>& p, Index begin, Index end, T* sum) noexcept {
  T dot[1];
  accumulate_dots<T, 1>(p, begin, end - begin, dot);
  *sum = dot[0];
}

}  // namespace heddle::detail
