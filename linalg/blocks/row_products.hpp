#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <heddle/linalg/blocks/folded_tile.hpp>
#include <heddle/linalg/blocks/host_kernels.hpp>
#include <heddle/linalg/blocks/scaled_rows.hpp>
#include <heddle/linalg/context/host_parallel.hpp>
#include <heddle/linalg/context/host_simd.hpp>
#include <utility>

/// Rows of Y = α X C + β W, panel by panel, for the host kernels.
namespace heddle {
inline namespace HEDDLE_ISA {

/// Rows of X that are multiplied by all of C before the next rows. For moderate block widths, these
/// rows, the same rows of Y, the prefetched lines and C fit in the first-level cache.
inline constexpr Index kProductPanelRows = 24;

/// Rows of X and Y between those that are multiplied and those that are prefetched. A whole panel
/// takes a tenth longer, blocks in pages of 4 KiB a fifth.
inline constexpr Index kProductRowsAhead = 12;

/// out[r, j] = Σ_k x[r, k] c[k, j] for kRows rows and kVectors vectors of columns, and what comes
/// next of X and Y. The strides of x are numbers of their own: a core waits some 20 cycles for a
/// structure on the stack that it reads in other units than it was written in.
template <class T, int kRows, int kVectors>
void multiply_tile(Index a, const T* x, Index row_stride, Index col_stride, const T* c, Index c_ld,
                   T* out, TileAhead x_ahead, TileAhead y_ahead) {
  Vector<T> sum[kRows][kVectors] = {};
  // Two pointers and the strides of half as many rows all fit in registers.
  constexpr int kHalf = (kRows + 1) / 2;
  const T* below = x + kHalf * row_stride;
  for (Index k = 0; k < a; ++k, c += c_ld, x += col_stride, below += col_stride) {
    if (k % (kCacheLine / static_cast<Index>(sizeof(T))) == 0) {
      x_ahead.fetch();
      y_ahead.fetch();
    }
    Vector<T> c_row[kVectors];
#pragma GCC unroll 8
    for (int j = 0; j < kVectors; ++j) c_row[j] = load(c + j * kLanes<T>);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      const T x_r = r < kHalf ? x[r * row_stride] : below[(r - kHalf) * row_stride];
#pragma GCC unroll 8
      for (int j = 0; j < kVectors; ++j) sum[r][j] += x_r * c_row[j];
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
    for (int j = 0; j < kVectors; ++j) store<T>(out + r * c_ld + j * kLanes<T>, sum[r][j]);
  }
}

template <class T>
using MultiplyTile = void (*)(Index, const T*, Index, Index, const T*, Index, T*, TileAhead,
                              TileAhead);

template <class T, int... kIndex>
constexpr std::array<MultiplyTile<T>, sizeof...(kIndex)> multiply_tiles(
    std::integer_sequence<int, kIndex...>) {
  return {multiply_tile<T, kIndex / kTileVectors + 1, kIndex % kTileVectors + 1>...};
}

/// multiply_tile<T, r, v> is element (r − 1)·kTileVectors + v − 1.
template <class T>
inline constexpr auto kMultiplyTiles =
    multiply_tiles<T>(std::make_integer_sequence<int, kTileRows * kTileVectors>());

/// Y = X C + β W for X n×a, packed C a×b (α in it, c_ld whole vectors, `folded` rows in each),
/// row-major W and Y n×b.
template <class T>
struct Product {
  Index n;
  Index a;
  Index b;
  Strided<T> X;
  const T* c;
  Index c_ld;
  Index folded;
  T beta;
  const T* w;
  Index w_ld;
  T* y;
  Index y_ld;
  T* copy;  // of Y, unless null
  Index copy_ld;

  /// out ← rows first … end − 1 of X C.
  void multiply_panel(Index first, Index end, T* out) const {
    const Index ahead = end + kProductRowsAhead <= n ? kProductRowsAhead : 0;
    if constexpr (fold<T>(1) > 1) {
      if (folded > 1) return multiply_folded_panel(first, end, ahead, out);
    }
    for_each_piece(c_ld / kLanes<T>, kTileVectors, [&](Index vector, Index width) {
      const Index column = vector * kLanes<T>;
      for (Index r = first; r < end; r += kTileRows) {
        const Index rows = std::min<Index>(kTileRows, end - r);
        kMultiplyTiles<T>[static_cast<std::size_t>((rows - 1) * kTileVectors + width - 1)](
            a, X.row(r), X.row_stride, X.col_stride, c + column, c_ld,
            out + (r - first) * c_ld + column, {X.row(r + ahead), X.row_stride},
            {w + (r + ahead) * w_ld, w_ld});
      }
    });
  }

  /// multiply_panel with several rows of C in a vector.
  void multiply_folded_panel(Index first, Index end, Index ahead, T* out) const {
    const auto& tiles = folded == 2 ? kFoldedTiles<2> : kFoldedTiles<4>;
    for (Index r = first; r < end; r += kTileRows) {
      const Index rows = std::min<Index>(kTileRows, end - r);
      tiles[static_cast<std::size_t>(rows - 1)](
          a, X.row(r), X.row_stride, c, out + (r - first) * c_ld, {X.row(r + ahead), X.row_stride},
          {w + (r + ahead) * w_ld, w_ld});
    }
  }

  /// Rows first … end − 1 of Y from those of X C and of W, which are `added_ld` entries apart.
  void write_panel(Index first, Index end, const T* product, const T* added, Index added_ld) const {
    const auto& write_panels = beta == 0 ? kWritePanels<false> : kWritePanels<true>;
    write_panels[static_cast<std::size_t>(narrow())](*this, first, end, product, added, added_ld);
    if (copy == nullptr) return;
    for (Index r = first; r < end; ++r) std::copy_n(y + r * y_ld, b, copy + r * copy_ld);
  }

  /// b where it is less than a vector, else 0.
  Index narrow() const { return b < kLanes<T> ? b : 0; }

  /// write_panel for rows of kCols entries, which fill less than a vector (0: of any other b), with
  /// β W where `kAdd`.
  template <bool kAdd, int kCols>
  static void write_rows(const Product& p, Index first, Index end, const T* product, const T* added,
                         Index added_ld) {
    T* row = p.y + first * p.y_ld;
    for (Index r = first; r < end; ++r, product += p.c_ld, added += added_ld, row += p.y_ld) {
      if constexpr (kCols == 0) {
        p.template write_row<kAdd>(product, added, row);
      } else {
        T sum[kCols];
#pragma GCC unroll 16
        for (int j = 0; j < kCols; ++j) {
          sum[j] = kAdd ? product[j] + p.beta * added[j] : product[j];
        }
        std::memcpy(row, sum, sizeof sum);
      }
    }
  }

  using WritePanel = void (*)(const Product&, Index, Index, const T*, const T*, Index);

  template <bool kAdd, int... kCols>
  static constexpr std::array<WritePanel, sizeof...(kCols)> write_panels(
      std::integer_sequence<int, kCols...>) {
    return {write_rows<kAdd, kCols>...};
  }

  /// write_rows<kAdd, b> is element b.
  template <bool kAdd>
  static constexpr auto kWritePanels =
      write_panels<kAdd>(std::make_integer_sequence<int, static_cast<int>(kLanes<T>)>());

  /// row ← product, plus β added where `kAdd`.
  template <bool kAdd>
  void write_row(const T* product, const T* added, T* row) const {
    const auto vector_at = [&](Index j) {
      if constexpr (kAdd) return load(product + j) + beta * load(added + j);
      return load(product + j);
    };
    // The last vector ends with the row, over entries of the one before: it is read before those
    // are written.
    const Vector<T> last = vector_at(b - kLanes<T>);
    for (Index j = 0; j + kLanes<T> < b; j += kLanes<T>) store<T>(row + j, vector_at(j));
    store<T>(row + b - kLanes<T>, last);
  }
};

/// A product with C packed into memory that the caller provides, and a panel for each thread.
template <class T>
class PackedProduct {
 public:
  /// Numbers of memory.
  static Index memory_size(const RowProduct<T>& p, int threads) {
    return p.a * round_up_to_lanes<T>(p.b) + kThreadGap<T> + threads * panel_size(p);
  }

  PackedProduct(const RowProduct<T>& p, T* memory)
      : panel_size_(panel_size(p)),
        scaled_(p.scaled),
        product_{p.n,
                 p.a,
                 p.b,
                 p.X,
                 memory,
                 round_up_to_lanes<T>(p.b),
                 p.X.col_stride == 1 ? fold<T>(p.b) : 1,
                 p.beta,
                 p.w,
                 p.w_ld,
                 p.y,
                 p.y_ld,
                 p.copy,
                 p.copy_ld} {
    const Index c_ld = product_.c_ld;
    T* vector = memory;
    for (Index first = 0; first < p.a; first += product_.folded, vector += c_ld) {
      std::fill_n(vector, c_ld, T{0});
      const Index rows = std::min(product_.folded, p.a - first);
      for (Index k = 0; k < rows; ++k) {
        for (Index j = 0; j < p.b; ++j) {
          vector[j * product_.folded + k] = static_cast<T>(p.alpha * p.C(first + k, j));
        }
      }
    }
    panels_ = memory + p.a * c_ld + kThreadGap<T>;
  }

  /// Computes rows first … end − 1 of Y on the thread `member`. The product of a panel of X is
  /// complete before any of it is written: Y may lie over X.
  void compute(Index first, Index end, int member) const {
    T* const out = panels_ + member * panel_size_;
    for (; first < end; first += kProductPanelRows) {
      const Index last = std::min(first + kProductPanelRows, end);
      product_.multiply_panel(first, last, out);
      if constexpr (std::same_as<T, double>) {
        if (scaled_ != nullptr) {
          T* const added = out + kProductPanelRows * product_.c_ld;
          for (Index r = first; r < last; ++r) {
            read_row(*scaled_, r, added + (r - first) * product_.c_ld);
          }
          product_.write_panel(first, last, out, added, product_.c_ld);
          continue;
        }
      }
      product_.write_panel(first, last, out, product_.w + first * product_.w_ld, product_.w_ld);
    }
  }

 private:
  /// Rows of X C, and of W if they are computed.
  static Index panel_size(const RowProduct<T>& p) {
    const Index panels = p.scaled != nullptr ? 2 : 1;
    return panels * kProductPanelRows * round_up_to_lanes<T>(p.b) + kThreadGap<T>;
  }

  Index panel_size_;
  const ScaledView<float, HostSpace>* scaled_;
  Product<T> product_;
  T* panels_;
};

}  // namespace HEDDLE_ISA
}  // namespace heddle
