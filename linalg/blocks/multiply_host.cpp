#include <array>
#include <cstring>
#include <heddle/linalg/blocks/host_kernels.hpp>
#include <heddle/linalg/context/host_parallel.hpp>
#include <heddle/linalg/context/host_simd.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <utility>

namespace heddle {
namespace {

/// Rows of X that are multiplied by all of C before the next rows. For moderate block widths, these
/// rows, the same rows of Y, the prefetched lines and C fit in the first-level cache.
constexpr Index kPanelRows = 24;

/// Cache lines of the kTileRows next rows of a row-major matrix, a line of each at a time.
struct TileAhead {
  LinesAhead lines;

  template <class T>
  TileAhead(const T* start, Index ld)
      : lines{reinterpret_cast<const char*>(start), ld * static_cast<Index>(sizeof(T))} {}

  void fetch() noexcept {
#pragma GCC unroll 8
    for (int row = 0; row < kTileRows; ++row) lines.fetch();
    lines.line += kCacheLine - kTileRows * lines.pitch;
  }
};

/// out[r, j] = Σ_k x(r, k) c[k, j] for kRows rows and kVectors vectors of columns, and what comes
/// next of X and Y.
template <class T, int kRows, int kVectors>
void multiply_tile(Index a, Strided<T> x, const T* c, Index c_ld, T* out, TileAhead x_ahead,
                   TileAhead y_ahead) {
  Vector<T> sum[kRows][kVectors] = {};
  for (Index k = 0; k < a; ++k, c += c_ld, x.data += x.col_stride) {
    if (k % (kCacheLine / static_cast<Index>(sizeof(T))) == 0) {
      x_ahead.fetch();
      y_ahead.fetch();
    }
    Vector<T> c_row[kVectors];
#pragma GCC unroll 8
    for (int j = 0; j < kVectors; ++j) c_row[j] = load(c + j * kLanes<T>);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
      for (int j = 0; j < kVectors; ++j) sum[r][j] += x.data[r * x.row_stride] * c_row[j];
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
    for (int j = 0; j < kVectors; ++j) store<T>(out + r * c_ld + j * kLanes<T>, sum[r][j]);
  }
}

template <class T>
using MultiplyTile = void (*)(Index, Strided<T>, const T*, Index, T*, TileAhead, TileAhead);

template <class T, int... kIndex>
constexpr std::array<MultiplyTile<T>, sizeof...(kIndex)> multiply_tiles(
    std::integer_sequence<int, kIndex...>) {
  return {multiply_tile<T, kIndex / kTileVectors + 1, kIndex % kTileVectors + 1>...};
}

/// multiply_tile<T, r, v> is element (r − 1)·kTileVectors + v − 1.
template <class T>
constexpr auto kMultiplyTiles =
    multiply_tiles<T>(std::make_integer_sequence<int, kTileRows * kTileVectors>());

/// Y = X C + β W for X n×a, packed C a×b (α in it, c_ld whole vectors), row-major W and Y n×b.
template <class T>
struct Product {
  Index n;
  Index a;
  Index b;
  Strided<T> X;
  const T* c;
  Index c_ld;
  T beta;
  const T* w;
  Index w_ld;
  T* y;
  Index y_ld;

  /// out ← rows first … end − 1 of X C.
  void multiply_panel(Index first, Index end, T* out) const {
    const Index ahead = end + kPanelRows <= n ? kPanelRows : 0;
    for_each_piece(c_ld / kLanes<T>, kTileVectors, [&](Index vector, Index width) {
      const Index column = vector * kLanes<T>;
      for (Index r = first; r < end; r += kTileRows) {
        const Index rows = std::min<Index>(kTileRows, end - r);
        kMultiplyTiles<T>[static_cast<std::size_t>((rows - 1) * kTileVectors + width - 1)](
            a, {X.row(r), X.row_stride, X.col_stride}, c + column, c_ld,
            out + (r - first) * c_ld + column, {X.row(r + ahead), X.row_stride},
            {w + r * w_ld, w_ld});
      }
    });
  }

  /// Rows first … end − 1 of Y from those of X C.
  void write_panel(Index first, Index end, const T* product) const {
    if (beta == 0) {
      kWritePanels<false>[static_cast<std::size_t>(narrow())](*this, first, end, product);
    } else {
      kWritePanels<true>[static_cast<std::size_t>(narrow())](*this, first, end, product);
    }
  }

  /// b where it is less than a vector, else 0.
  Index narrow() const { return b < kLanes<T> ? b : 0; }

  /// write_panel for rows of kCols entries, which fill less than a vector (0: of any other b), with
  /// β W where `kAdd`.
  template <bool kAdd, int kCols>
  static void write_rows(const Product& p, Index first, Index end, const T* product) {
    const T* added = p.w + first * p.w_ld;
    T* row = p.y + first * p.y_ld;
    for (Index r = first; r < end; ++r, product += p.c_ld, added += p.w_ld, row += p.y_ld) {
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

  using WritePanel = void (*)(const Product&, Index, Index, const T*);

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

template <class T>
bool is_column_times_number(const RowProduct<T>& p) {
  return p.a == 1 && p.b == 1 && p.X.row_stride == 1 && p.w_ld == 1 && p.y_ld == 1;
}

/// y = c x + β w for columns without gaps, whose entries fill vectors.
template <class T>
void multiply_column(HostContext& context, const RowProduct<T>& p) {
  const T c = static_cast<T>(p.alpha * p.C(0, 0));
  constexpr Index kLeastRows = 512;
  const Slabs slabs = make_slabs(p.n, kLeastRows);
  const double moved = 3 * static_cast<double>(p.n) * sizeof(T);
  parallel_for(team_size(context.threads(), moved, 0), slabs.count(), [&](Index slab) {
    const Index begin = slabs.begin(slab);
    const Index end = slabs.end(slab);
    if (p.beta == T{0}) {
#pragma omp simd
      for (Index i = begin; i < end; ++i) p.y[i] = c * p.X.data[i];
    } else {
#pragma omp simd
      for (Index i = begin; i < end; ++i) p.y[i] = c * p.X.data[i] + p.beta * p.w[i];
    }
  });
}

}  // namespace

template <Isa kVariant, Scalar T>
void multiply_kernel(HostContext& context, const RowProduct<T>& p) {
  if (is_column_times_number(p)) return multiply_column(context, p);
  const Index n = p.n;
  const Index a = p.a;
  const Index b = p.b;
  const Index c_ld = round_up_to_lanes<T>(b);
  const Index panel_size = kPanelRows * c_ld + kThreadGap<T>;
  T* c = static_cast<T*>(
      context.scratch(sizeof(T) * static_cast<std::size_t>(a * c_ld + kThreadGap<T> +
                                                           context.threads() * panel_size)));
  T* products = c + a * c_ld + kThreadGap<T>;
  for (Index k = 0; k < a; ++k) {
    for (Index j = 0; j < b; ++j) c[k * c_ld + j] = static_cast<T>(p.alpha * p.C(k, j));
    std::fill(c + k * c_ld + b, c + (k + 1) * c_ld, T{0});
  }
  const Product<T> product{n, a, b, p.X, c, c_ld, p.beta, p.w, p.w_ld, p.y, p.y_ld};
  const double blocks = static_cast<double>(n * (a + b)) * sizeof(T);
  const int threads =
      team_size(context.threads(), blocks, 2 * static_cast<double>(n) * static_cast<double>(a * b));
  // A panel's product is complete before any of it is written: Y may lie over X.
  parallel_for(threads, (n + kPanelRows - 1) / kPanelRows, [&](Index panel, int member) {
    const Index first = panel * kPanelRows;
    const Index end = std::min(first + kPanelRows, n);
    T* out = products + member * panel_size;
    product.multiply_panel(first, end, out);
    product.write_panel(first, end, out);
  });
}

#define HEDDLE_INSTANTIATE(T) \
  template void multiply_kernel<kIsa, T>(HostContext&, const RowProduct<T>&);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
