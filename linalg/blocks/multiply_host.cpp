#include <array>
#include <heddle/linalg/blocks/host_kernels.hpp>
#include <heddle/linalg/blocks/row_loops.hpp>
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
    for (Index r = first; r < end; ++r, product += c_ld) {
      if (beta == 0) {
        write_row<false>(product, w + r * w_ld, y + r * y_ld);
      } else {
        write_row<true>(product, w + r * w_ld, y + r * y_ld);
      }
    }
  }

  /// row ← product, plus β added where `kAdd`.
  template <bool kAdd>
  void write_row(const T* product, const T* added, T* row) const {
    if (b < kLanes<T>) {
      for (Index j = 0; j < b; ++j) row[j] = kAdd ? product[j] + beta * added[j] : product[j];
      return;
    }
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

/// A product with C packed, and memory for a panel of it per thread.
template <class T>
class PackedProduct {
 public:
  /// Takes the context's scratch memory, of which `sums` doubles are left for sums.
  PackedProduct(HostContext& context, const RowProduct<T>& p, Index sums)
      : c_ld_(round_up_to_lanes<T>(p.b)), panel_size_(kPanelRows * c_ld_ + kThreadGap<T>) {
    const auto packed =
        static_cast<std::size_t>(p.a * c_ld_ + kThreadGap<T> + context.threads() * panel_size_);
    T* const c = static_cast<T*>(
        context.scratch(sizeof(T) * packed + sizeof(double) * static_cast<std::size_t>(sums)));
    panels_ = c + p.a * c_ld_ + kThreadGap<T>;
    sums_ = reinterpret_cast<double*>(c + packed);  // whole vectors lie before it
    for (Index k = 0; k < p.a; ++k) {
      for (Index j = 0; j < p.b; ++j) c[k * c_ld_ + j] = static_cast<T>(p.alpha * p.C(k, j));
      std::fill(c + k * c_ld_ + p.b, c + (k + 1) * c_ld_, T{0});
    }
    product_ = {p.n, p.a, p.b, p.X, c, c_ld_, p.beta, p.w, p.w_ld, p.y, p.y_ld};
    const auto columns = static_cast<double>(p.a + p.b);
    const double flops = 2 * static_cast<double>(p.n) * static_cast<double>(p.a * p.b);
    threads_ = team_size(context.threads(), static_cast<double>(p.n) * columns * sizeof(T), flops);
  }

  int threads() const noexcept { return threads_; }
  double* sums() const noexcept { return sums_; }

  /// Rows first … end − 1 of Y, at most a panel. The product is complete before any of it is
  /// written: Y may lie over X.
  void compute_panel(Index first, Index end, int member) const {
    T* const panel = panels_ + member * panel_size_;
    product_.multiply_panel(first, end, panel);
    product_.write_panel(first, end, panel);
  }

 private:
  Index c_ld_;
  Index panel_size_;
  T* panels_;
  double* sums_;
  Product<T> product_;
  int threads_;
};

}  // namespace

template <Isa kVariant, Scalar T>
void multiply_kernel(HostContext& context, const RowProduct<T>& p) {
  if (is_column_times_number(p)) return multiply_column(context, p);
  const PackedProduct<T> product(context, p, 0);
  const Slabs panels{p.n, kPanelRows};
  parallel_for(product.threads(), panels.count(), [&](Index panel, int member) {
    product.compute_panel(panels.begin(panel), panels.end(panel), member);
  });
}

template <Isa kVariant, Scalar T>
void multiply_kernel(HostContext& context, const RowProduct<T>& p,
                     SmallView<double, HostSpace> squares) {
  const Slabs slabs = make_slabs(p.n, kMinSlabRows);
  const Index partials = slabs.count() * p.b;
  const PackedProduct<T> product(context, p, partials);
  std::fill_n(product.sums(), partials, 0.0);
  const auto square = [&p](Index i, Index j) {
    const double y = static_cast<double>(p.y[i * p.y_ld + j]);
    return y * y;
  };
  parallel_for(product.threads(), slabs.count(), [&](Index slab, int member) {
    double* const sums = product.sums() + slab * p.b;
    for (Index first = slabs.begin(slab); first < slabs.end(slab); first += kPanelRows) {
      const Index end = std::min(first + kPanelRows, slabs.end(slab));
      product.compute_panel(first, end, member);
      add_rows(first, end, p.b, square, sums);
    }
  });
  add_slabs(slabs, product.sums(), squares);
}

#define HEDDLE_INSTANTIATE(T)                                                 \
  template void multiply_kernel<kIsa, T>(HostContext&, const RowProduct<T>&); \
  template void multiply_kernel<kIsa, T>(HostContext&, const RowProduct<T>&,  \
                                         SmallView<double, HostSpace>);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
