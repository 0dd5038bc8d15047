#pragma once

#include <heddle/linalg/base/isa.hpp>
#include <heddle/linalg/data/views.hpp>

namespace heddle::detail {
inline namespace HEDDLE_ISA {

/// One column of a row where `finish_row` expects vectors of columns.
template <Scalar T>
struct OneColumn {
  using Vector = T;

  Index column = 0;

  T load(const T* row, int) const noexcept { return row[column]; }
  void store(T* row, int, T value) const noexcept { row[column] = value; }
  void stream(T* row, int v, T value) const noexcept { store(row, v, value); }
};

/// Ends one row of a product: C = c + γ B' + δ X and Y = Y + η C, for the columns that `columns`
/// covers in V vectors. `c` is α A B + β C there. `past_caches`: store C by `Columns::stream`.
template <class Product, class Columns, int V>
[[gnu::always_inline]] inline void finish_row(const Product& p, Index row, const Columns& columns,
                                              typename Columns::Vector (&c)[V],
                                              bool past_caches = false) noexcept {
  using T = typename Product::Value;
  if (p.gamma != T{0}) {
    for (int v = 0; v < V; ++v) c[v] += p.gamma * columns.load(p.B + row * p.ldb, v);
  }
  if (p.delta != T{0}) {
    for (int v = 0; v < V; ++v) c[v] += p.delta * columns.load(p.X + row * p.ldx, v);
  }
  T* const C_row = p.C + row * p.ldc;
  for (int v = 0; v < V; ++v) {
    if (past_caches) {
      columns.stream(C_row, v, c[v]);
    } else {
      columns.store(C_row, v, c[v]);
    }
  }
  if (p.eta == T{0}) return;
  // The vectors may overlap, so that all are read before any is stored.
  T* const Y_row = p.Y + row * p.ldy;
  for (int v = 0; v < V; ++v) c[v] = columns.load(Y_row, v) + p.eta * c[v];
  for (int v = 0; v < V; ++v) columns.store(Y_row, v, c[v]);
}

}  // namespace HEDDLE_ISA
}  // namespace heddle::detail
