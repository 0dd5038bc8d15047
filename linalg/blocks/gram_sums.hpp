#pragma once

#include <algorithm>
#include <array>
#include <heddle/linalg/blocks/host_kernels.hpp>
#include <heddle/linalg/blocks/scaled_rows.hpp>
#include <heddle/linalg/context/host_parallel.hpp>
#include <heddle/linalg/context/host_simd.hpp>
#include <heddle/linalg/data/block_checks.hpp>
#include <utility>

/// Sums of products XᵀY over slabs of rows, for the host kernels.
namespace heddle {
inline namespace HEDDLE_ISA {

/// Rows that all tiles process before the next rows, so that these rows stay in the first two
/// levels of cache.
inline constexpr Index kGramPanelRows = 64;
inline constexpr Index kGramSlabRows = 512;

inline constexpr Index kDoubles = kLanes<double>;

/// One tile's operands in P = UᵀV: rows u of a panel, the vectors of v (the last of them at
/// v_last), of which a single one has v_lanes columns, and cache lines of the next panel, of which
/// each row prefetches one.
struct TileOperands {
  Index rows;
  const double* u;
  Index u_ld;
  const double* v;
  const double* v_last;
  Index v_ld;
  Index v_lanes;
  LinesAhead ahead[2];
  bool keeps_ahead;  ///< in the first-level cache
};

/// P[i, j] += Σ_r u[r, i] v[r, j] for kRows columns of u and kVectors vectors of columns of v.
template <int kRows, int kVectors>
void gram_tile(const TileOperands& operands, double* P, Index P_ld) {
  Vector<double> sum[kRows][kVectors] = {};
  const FirstLanes lanes(operands.v_lanes);
  const double* u = operands.u;
  const double* v = operands.v;
  const double* v_last = operands.v_last;
  LinesAhead ahead = operands.ahead[0];
  LinesAhead also_ahead = operands.ahead[1];
  for (Index r = 0; r < operands.rows;
       ++r, u += operands.u_ld, v += operands.v_ld, v_last += operands.v_ld) {
    if (operands.keeps_ahead) {
      ahead.fetch();
      also_ahead.fetch();
    } else {
      ahead.fetch<false>();
      also_ahead.fetch<false>();
    }
    Vector<double> v_row[kVectors];
#pragma GCC unroll 8
    for (int j = 0; j + 1 < kVectors; ++j) v_row[j] = load(v + j * kDoubles);
    v_row[kVectors - 1] = load(v_last);
    if constexpr (kVectors == 1) v_row[0] = lanes.of(v_row[0]);
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 8
      for (int j = 0; j < kVectors; ++j) sum[i][j] += u[i] * v_row[j];
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < kVectors; ++j) {
      double* p = P + i * P_ld + j * kDoubles;
      store<double>(p, load(p) + sum[i][j]);
    }
  }
}

// Operands are passed in memory where they were written: a copy on the stack would be read in other
// units than it was written in, for which a core waits some 20 cycles.
using GramTile = void (*)(const TileOperands&, double*, Index);

template <int... kIndex>
constexpr std::array<GramTile, sizeof...(kIndex)> gram_tiles(
    std::integer_sequence<int, kIndex...>) {
  return {gram_tile<kIndex / kTileVectors + 1, kIndex % kTileVectors + 1>...};
}

/// gram_tile<r, v> is element (r − 1)·kTileVectors + v − 1.
inline constexpr auto kGramTiles =
    gram_tiles(std::make_integer_sequence<int, kTileRows * kTileVectors>());

/// Rows of doubles, `ld` entries apart.
struct Rows {
  const double* data;
  Index ld;
};

/// One factor of P = UᵀV. Blocks of doubles are read in place. The last vector of a row ends with
/// the row and overlaps the one before it. In a block narrower than a vector, it extends into the
/// next rows instead. Floats, scaled blocks, and narrow rows without rows after them are packed
/// panel by panel.
template <Scalar T>
struct Factor {
  ConstBlockView<T, HostSpace> block;
  const ScaledView<float, HostSpace>* scaled = nullptr;  // the block, unless null

  bool is_packed() const { return !std::same_as<T, double> || scaled != nullptr; }

  Index vectors() const { return round_up_to_lanes<double>(block.cols()) / kDoubles; }
  Index packed_ld() const { return vectors() * kDoubles; }
  Index buffer_size() const {
    return is_packed() || block.cols() < kDoubles ? kGramPanelRows * packed_ld() : 0;
  }

  /// First column of vector k.
  Index column(Index k) const {
    const Index last = is_packed() ? k * kDoubles : std::max<Index>(block.cols() - kDoubles, 0);
    return std::min(k * kDoubles, last);
  }

  /// Rows first … end − 1. Those up to `readable` may be read in addition.
  Rows rows(Index first, Index end, Index readable, double* buffer) const {
    if constexpr (std::same_as<T, double>) {
      const bool in_place = block.cols() >= kDoubles || end + kDoubles <= readable;
      if (in_place && !is_packed()) return {block.data() + first * block.ld(), block.ld()};
    }
    for (Index r = first; r < end; ++r) {
      double* row = buffer + (r - first) * packed_ld();
      if (scaled != nullptr) {
        read_row(*scaled, r, row);
      } else {
        const T* x = block.data() + r * block.ld();
        for (Index j = 0; j < block.cols(); ++j) row[j] = x[j];
      }
      for (Index j = block.cols(); j < packed_ld(); ++j) row[j] = 0;
    }
    return {buffer, packed_ld()};
  }

  Index bytes() const { return block.cols() * scalar_size(); }
  Index scalar_size() const {
    return static_cast<Index>(scaled != nullptr ? sizeof(float) : sizeof(T));
  }
  Index lines() const { return (bytes() + kCacheLine - 1) / kCacheLine + 1; }

  /// Cache line k of the rows from `first` on. The last line of a row ends with the row.
  LinesAhead ahead(Index first, Index k) const {
    const char* row = scaled != nullptr
                          ? reinterpret_cast<const char*>(&scaled->block(first, 0))
                          : reinterpret_cast<const char*>(block.data() + first * block.ld());
    const Index ld = scaled != nullptr ? scaled->block.ld() : block.ld();
    return {row + std::min(k * kCacheLine, bytes() - 1), ld * scalar_size()};
  }
};

/// Whether the factors of P = UᵀV are U = Y and V = X. The columns of V fill whole vectors, those
/// of U need not. V is therefore the factor that needs less padding.
template <class T>
bool is_swapped(const ConstBlockView<T, HostSpace>& X, const ConstBlockView<T, HostSpace>& Y) {
  return Y.cols() * round_up_to_lanes<double>(X.cols()) <
         X.cols() * round_up_to_lanes<double>(Y.cols());
}

/// The sums of one product P = UᵀV, which is XᵀY or its transpose. If U and V are the same block,
/// only tiles that touch the upper triangle are computed.
template <Scalar T>
struct GramSum {
  bool swapped;
  Factor<T> U;
  Factor<T> V;
  bool symmetric;
  Slabs slabs;
  bool keeps_ahead;  // the next panel, in the first-level cache
  Index tiles;

  GramSum(const ConstBlockView<T, HostSpace>& X, const GramProduct<T>& product, const Slabs& rows,
          bool keeps_next_panel)
      : swapped(is_swapped(X, product.Y)),
        U(swapped ? Factor<T>{product.Y, product.scaled} : Factor<T>{X}),
        V(swapped ? Factor<T>{X} : Factor<T>{product.Y, product.scaled}),
        symmetric(same_block(X, product.Y)),
        slabs(rows),
        keeps_ahead(keeps_next_panel),
        tiles(count_tiles()) {}

  Index ld() const { return V.vectors() * kDoubles; }
  Index size() const { return U.block.cols() * ld(); }
  Index buffer_size() const {
    return (symmetric ? 0 : U.buffer_size()) + V.buffer_size() + kThreadGap<double>;
  }

  /// Entry (i, j) of XᵀY, read from the sums.
  double entry(const double* P, Index i, Index j) const {
    if (swapped || (symmetric && i > j)) std::swap(i, j);
    const Index k = j / kDoubles;
    return P[i * ld() + k * kDoubles + j - V.column(k)];
  }

  double flops() const {
    const double a = static_cast<double>(U.block.cols());
    return symmetric ? entries(U.block) * (a + 1) : 2 * a * entries(V.block);
  }

  /// body(first row of P, rows, first vector, vectors) for each tile of P.
  template <class Body>
  void for_each_tile(const Body& body) const {
    for_each_piece(U.block.cols(), kTileRows, [&](Index i, Index rows) {
      const Index start = symmetric ? i / kDoubles : 0;
      for_each_piece(V.vectors() - start, kTileVectors,
                     [&](Index k, Index width) { body(i, rows, start + k, width); });
    });
  }

  Index count_tiles() const {
    Index count = 0;
    for_each_tile([&](Index, Index, Index, Index) { ++count; });
    return count;
  }

  /// Cache line k of the rows from `first` on, V's lines before U's.
  LinesAhead line_ahead(Index first, Index k) const {
    return k < V.lines() ? V.ahead(first, k) : U.ahead(first, k - V.lines());
  }

  /// P += the sum over rows first … end − 1. Those up to `readable` may be read in addition.
  void add_panel(Index first, Index end, Index readable, double* P, double* buffer) const {
    const Rows v = V.rows(first, end, readable, buffer);
    const Rows u = symmetric ? v : U.rows(first, end, readable, buffer + V.buffer_size());
    const Index next = end + kGramPanelRows <= slabs.rows ? end : first;
    const Index lines = V.lines() + (symmetric ? 0 : U.lines());
    Index half = 0;  // half-tiles done
    for_each_tile([&](Index i, Index rows, Index k, Index width) {
      const TileOperands operands{end - first,
                                  u.data + i,
                                  u.ld,
                                  v.data + V.column(k),
                                  v.data + V.column(k + width - 1),
                                  v.ld,
                                  std::min(V.block.cols(), kDoubles),
                                  {line_ahead(next, half * lines / (2 * tiles)),
                                   line_ahead(next, (half + 1) * lines / (2 * tiles))},
                                  keeps_ahead};
      half += 2;
      kGramTiles[static_cast<std::size_t>((rows - 1) * kTileVectors + width - 1)](
          operands, P + i * ld() + k * kDoubles, ld());
    });
  }
};

/// The sums of up to two products XᵀY. Their sums over a slab are adjacent.
template <Scalar T, std::size_t kCount>
class GramSums {
 public:
  GramSums(const ConstBlockView<T, HostSpace>& X,
           const std::array<GramProduct<T>, kCount>& products)
      : GramSums(X, products, slabs_for(X, products), std::make_index_sequence<kCount>()) {}

  const std::array<GramSum<T>, kCount>& each() const { return sums_; }
  const Slabs& slabs() const { return sums_[0].slabs; }

  Index size() const {
    return total([](const GramSum<T>& sum) { return sum.size(); });
  }
  double flops() const {
    return total([](const GramSum<T>& sum) { return sum.flops(); });
  }
  Index buffer_size() const {
    const auto larger = [](const GramSum<T>& a, const GramSum<T>& b) {
      return a.buffer_size() < b.buffer_size();
    };
    return std::max_element(sums_.begin(), sums_.end(), larger)->buffer_size();
  }

  /// P ← the sums over the rows of a slab, of which `prepare(first, end)` first computes those of
  /// each panel. `in_slab`: whether nothing beyond the slab may be read.
  template <class Prepare>
  void sum_slab(Index slab, bool in_slab, const Prepare& prepare, double* P, double* buffer) const {
    const Slabs& rows = slabs();
    const Index readable = in_slab ? rows.end(slab) : rows.rows;
    std::fill_n(P, size(), 0.0);
    for (Index first = rows.begin(slab); first < rows.end(slab); first += kGramPanelRows) {
      const Index end = std::min(first + kGramPanelRows, rows.end(slab));
      prepare(first, end);
      double* at = P;
      for (const GramSum<T>& sum : sums_) {
        sum.add_panel(first, end, readable, at, buffer);
        at += sum.size();
      }
    }
  }

  /// Doubles of memory for the sums of all slabs and the buffers of the threads.
  Index memory_size(int threads) const {
    return std::max<Index>(slabs().count(), 1) * size() + threads * buffer_size();
  }

  /// Computes the products. `prepare(first, end, member)` is called for each panel of rows before
  /// it is read, on the thread that reads it, and may write rows of the blocks if `writes`.
  template <class Prepare>
  void compute(int threads, bool writes, const Prepare& prepare, double* P,
               const std::array<GramProduct<T>, kCount>& products) const {
    const Index count = slabs().count();
    const Index size = this->size();
    double* buffers = P + std::max<Index>(count, 1) * size;
    if (count == 0) std::fill_n(P, size, 0.0);
    parallel_for(threads, count, [&](Index slab, int member) {
      sum_slab(
          slab, writes, [&](Index first, Index end) { prepare(first, end, member); },
          P + slab * size, buffers + member * buffer_size());
    });
    // The slabs' sums are added in the order of the slabs, whichever thread computed them.
    const auto summed = static_cast<double>(count * size);
    constexpr Index kSums = 64;  // of a piece
    const Index pieces = (size + kSums - 1) / kSums;
    parallel_for(team_size(threads, summed * sizeof(double), summed), pieces, [&](Index piece) {
      const Index end = size * (piece + 1) / pieces;
      for (Index slab = 1; slab < count; ++slab) {
        const double* part = P + slab * size;
        for (Index k = size * piece / pieces; k < end; ++k) P[k] += part[k];
      }
    });
    for (std::size_t k = 0; k < kCount; ++k) {
      const GramSum<T>& sum = sums_[k];
      const SmallView<double, HostSpace> G = products[k].G;
      for (Index j = 0; j < G.cols; ++j) {
        for (Index i = 0; i < G.rows; ++i) G(i, j) = sum.entry(P, i, j);
      }
      P += sum.size();
    }
  }

 private:
  template <std::size_t... kIndex>
  GramSums(const ConstBlockView<T, HostSpace>& X,
           const std::array<GramProduct<T>, kCount>& products, const Slabs& slabs,
           std::index_sequence<kIndex...>)
      : sums_{GramSum<T>(X, products[kIndex], slabs, keeps_two_panels(X, products))...} {}

  /// Whether the first-level cache holds a panel of all blocks and the next one.
  static bool keeps_two_panels(const ConstBlockView<T, HostSpace>& X,
                               const std::array<GramProduct<T>, kCount>& products) {
    constexpr Index kCacheBytes = 32 << 10;
    Index columns = X.cols();
    for (const GramProduct<T>& product : products) {
      if (!same_block(X, product.Y)) columns += product.Y.cols();
    }
    return 2 * kGramPanelRows * columns * static_cast<Index>(sizeof(T)) <= kCacheBytes;
  }

  static Slabs slabs_for(const ConstBlockView<T, HostSpace>& X,
                         const std::array<GramProduct<T>, kCount>& products) {
    Index height = std::max(kGramSlabRows, 2 * X.cols());
    for (const GramProduct<T>& product : products) {
      height = std::max(height, 2 * product.Y.cols());
    }
    return make_slabs(X.rows(), height);
  }

  template <class Number>
  auto total(const Number& number) const {
    auto sum = number(sums_[0]);
    for (std::size_t k = 1; k < kCount; ++k) sum += number(sums_[k]);
    return sum;
  }

  std::array<GramSum<T>, kCount> sums_;
};

}  // namespace HEDDLE_ISA
}  // namespace heddle
