#include <algorithm>
#include <cmath>
#include <heddle/spmm/kernels/cuda/staged/stripe_lanes.hpp>
#include <heddle/spmm/kernels/cuda/staged_mma/tile_shape.hpp>
#include <heddle/spmm/model/traffic.hpp>
#include <heddle/spmm/model/work.hpp>

namespace heddle::detail {
namespace {

/// How `staged` divides a product, as means over its thread blocks.
struct StagedParts {
  double block_rows;       ///< rows of C per thread block
  double distinct;         ///< rows of B that thread blocks copy, altogether
  double pair_length;      ///< distinct columns of two neighbouring rows
  double blocks;           ///< thread blocks
  double vectors_of_B;     ///< vectors of 16 bytes per row of B
  double vectors;          ///< the same with those behind the last column
  bool pairs;              ///< whether threads have two vectors each
  double lanes;            ///< threads per row of C
  double conflicts;        ///< loads of a vector from shared memory per load without conflicts
  double pieces;           ///< of a thread block's rows
  double quads;            ///< columns of pairs of rows, padded to fours
  double stripes;          ///< of columns of C
  double resident = 2;     ///< thread blocks on a multiprocessor
  double entry_bytes = 0;  ///< of a column of a pair of rows

  explicit StagedParts(const ProductShape& product) {
    constexpr double kNarrowBytes = 80;  // up to which rows of floats have tall blocks
    const bool tall = product.scalar_bytes < 8 && product.N * product.scalar_bytes <= kNarrowBytes;
    block_rows = tall ? 128 : 64;
    distinct = static_cast<double>(product.A.nnz) / std::max(1.0, product.A.reuse_grid);
    pair_length = 2 * product.A.row_mean / product.reuse.at(2);
    blocks = std::max(1.0, static_cast<double>(product.A.rows) / block_rows);
    entry_bytes = 2 * product.value_bytes + 2;
    set_lanes(product, tall);
    set_pieces(product);
  }

 private:
  void set_lanes(const ProductShape& product, bool tall) {
    vectors_of_B = std::ceil(product.N * product.scalar_bytes / 16);
    const auto own = static_cast<Index>(vectors_of_B);
    pairs = !tall && cuda::has_paired_vectors(own);
    vectors = pairs ? static_cast<double>(cuda::padded_vectors(own, cuda::kPhase)) : vectors_of_B;
    lanes = pairs ? vectors / 2 : vectors;
    conflicts = pairs ? 1 : 1.5;
  }

  void set_pieces(const ProductShape& product) {
    constexpr double kShare = 110 * 1024;  // memory of one of two thread blocks on a multiprocessor
    constexpr double kPieceColumns = 512;
    const double piece_entries = kShare / 4 / entry_bytes;
    const double teams = static_cast<double>(product.A.rows) / 2;
    const auto quads_of = [&](double count) {
      return teams * (pair_length / 4 + 0.4 * std::min(count, pair_length)) * 4;
    };
    pieces = std::ceil(
        std::max({1.0, distinct / blocks / kPieceColumns, quads_of(1) / blocks / piece_entries}));
    quads = quads_of(pieces);
    const double bytes = distinct * product.N * product.scalar_bytes + quads * entry_bytes;
    const double block_bytes = bytes / (blocks * pieces);
    stripes = std::clamp(std::ceil(block_bytes / kShare), 1.0, vectors);
    if (!pairs) return;
    constexpr double kMostThreads = 65536 / 80;  // on a multiprocessor, by their registers
    const double own_lanes = cuda::paired_lanes(static_cast<Index>(vectors));
    stripes = std::max(stripes, vectors / (2 * own_lanes));
    resident = std::clamp(std::floor(2 * kShare * stripes / block_bytes), 1.0,
                          std::floor(kMostThreads / (block_rows / 2 * own_lanes)));
  }
};

/// How `staged_mma` divides a product, as means over its row blocks.
struct TileParts {
  double block_rows;  ///< of A
  double blocks;      ///< of rows
  double distinct;    ///< rows of B that row blocks copy, altogether
  double pieces;      ///< of a row block
  double tiles;       ///< altogether
  double width;       ///< columns of B in one load of a lane
  double loads;       ///< loads of a lane from one row of B
  double stripe;      ///< columns of C that are multiplied together
  double stripes;     ///< of columns of C
  double active;      ///< loads that are within the block, over all stripes
  double consumers;   ///< warps that multiply, of a thread block
  double producers;   ///< warps that copy
  double resident;    ///< thread blocks on a multiprocessor
  double part_bytes;  ///< A's part of all pieces

  explicit TileParts(const ProductShape& product) {
    const MatrixFeatures& A = product.A;
    const double rows = static_cast<double>(A.rows);
    const double nnz = static_cast<double>(A.nnz);
    block_rows = cuda::tile_block_rows(A.rows, static_cast<int>(product.device.multiprocessors));
    blocks = std::ceil(rows / block_rows);
    // Bricks and boxes of a grid. R_grid is that of boxes of 64 rows.
    constexpr double kBoxRows = 64;
    const auto reuse_of = [&](double own_rows) {
      const double in_grid = std::pow(A.reuse_grid, std::log(own_rows) / std::log(kBoxRows));
      return std::clamp(std::max(product.reuse.at(own_rows), in_grid), 1.0, own_rows);
    };
    distinct = nnz / reuse_of(block_rows);
    // The limits of a piece on Hopper, in columns and in bytes.
    constexpr double kPieceBytes = 37e3;
    constexpr double kColumnBytes = 176;
    const double bytes = kColumnBytes * distinct + sizeof(double) * nnz;
    pieces = std::max({1.0, std::ceil(distinct / blocks / cuda::kTilePieceColumns),
                       std::ceil(bytes / blocks / kPieceBytes)});
    const double panels = std::ceil(rows / cuda::kTallRows);
    constexpr double kTouched = 0.6;  // of the pieces, by a panel
    tiles = nnz / (cuda::kTallColumns * reuse_of(cuda::kTallRows)) +
            0.375 * panels * std::max(1.0, kTouched * pieces);
    part_bytes = nnz * product.value_bytes + 16 * tiles + 32 * blocks * pieces;
    set_stripes(product);
  }

 private:
  void set_stripes(const ProductShape& product) {
    const double widest = 16 / product.scalar_bytes;
    const double narrowest = 4 * widest;  // columns of the narrowest stripe
    consumers = 4;
    producers = 2;
    resident = 3;
    loads = 1;
    width = product.N <= narrowest ? widest / 2 : 2;
    if (product.N > std::max(narrowest, 16.0)) {
      constexpr double kRowBytes = 512;
      const bool wide = product.N > 32 && part_bytes > kRowBytes * distinct;
      consumers = 8;
      producers = 4;
      resident = wide ? 1 : 2;
      width = widest;
      loads = (wide ? 8 : 4) / widest;
    }
    stripe = 8 * width * loads;
    stripes = std::ceil(product.N / stripe);
    active = std::ceil(product.N / (8 * width));
  }
};

}  // namespace

std::optional<KernelWork> panel_mma_work(const ProductShape& product) {
  const MatrixFeatures& A = product.A;
  constexpr double kRows = 8;
  constexpr double kColumns = 4;
  constexpr double kWarps = 8;
  const double nnz = static_cast<double>(A.nnz);
  const double panels = std::ceil(static_cast<double>(A.rows) / kRows);
  const double tiles = nnz / (kColumns * product.reuse.at(kRows)) + 0.4 * panels;
  const double widest = 16 / product.scalar_bytes;
  const double width = load_width(product) == 1 || product.N <= 8 ? 1
                       : product.N <= 16                          ? 2
                                                                  : widest;
  const double wanted = std::min(4.0, std::ceil(product.N / (8 * width)));
  const double loads = wanted == 3 ? 4 : wanted;
  const double stripe = 8 * width * loads;
  const double stripes = std::ceil(product.N / stripe);
  const double enough_warps = kWarp * product.device.multiprocessors;
  const double share = std::clamp(enough_warps / panels, 1.0, 8.0);

  KernelWork work;
  BlockReads reads{nnz * product.value_bytes + 24 * tiles, stripes, 0};
  reads.fetches = nnz / product.reuse.at(kRows * kWarps / share);
  count_traffic(product, reads, work);
  const double row_bytes = stripe * product.scalar_bytes;  // of B in a stripe
  const double load_wavefronts =
      loads * std::max(kColumns * 8 * width * product.scalar_bytes / kLineBytes, kColumns / 2);
  work.wavefronts =
      tiles * stripes * (load_wavefronts + 3) + panels * stripes * row_bytes * kRows / kLineBytes;
  const double conversions = product.scalar_bytes < 8 ? loads * width : 0;
  const double unit_tiles = tiles / (panels * share);
  work.warp_instructions =
      unit_tiles * (18 + 3 * loads + loads * width + conversions) + 60 + 20 * loads;
  work.instructions = panels * share * stripes * work.warp_instructions;
  constexpr double kCyclesPerTile = 4;
  work.tensor_cycles = tiles * stripes * loads * width * kCyclesPerTile;
  // Warps on a multiprocessor and tiles in flight, by the columns of a lane.
  const double columns = loads * width;
  const double resident = columns == 4 ? 32 : columns > 8 ? 16 : 24;
  const double unroll = columns == 1 ? 8 : columns < 4 ? 4 : columns < 8 ? 3 : 2;
  const double warps = panels * share * stripes;
  work.waves = std::max(1.0, warps / (resident * product.device.multiprocessors));
  work.chain = 4 + 2 * unit_tiles / unroll;
  // Long panels are cut into units of at least 64 tiles if some have twice the mean length.
  constexpr double kUnitTiles = 64;
  const double spread = 1 + 2 * A.variation();
  const double longest = spread < 2 ? spread * unit_tiles : std::max(unit_tiles, kUnitTiles);
  work.tail = 4 + 2 * longest / unroll;
  if (spread >= 2) {
    // A second pass adds the sums of the units of a panel.
    work.tail += static_cast<double>(A.row_max) / (kColumns * kUnitTiles);
    work.launches = 1.5;
  }
  return work;
}

/// A in blocks of rows, whose rows of B are staged in shared memory, in pieces of a block and
/// stripes of columns. Two neighbouring rows are multiplied together.
std::optional<KernelWork> staged_work(const ProductShape& product) {
  const MatrixFeatures& A = product.A;
  // A thread block waits for its longest rows, and the counts below are those of mean rows.
  constexpr double kUneven = 1.2;
  if (A.variation() > kUneven) return std::nullopt;
  const StagedParts parts(product);
  const double quads = parts.quads;
  const double from_memory = quads * parts.entry_bytes + 4 * parts.distinct + 40 * parts.blocks;
  KernelWork work;
  count_traffic(product, {from_memory, 1, parts.distinct}, work);
  const double copied = parts.distinct * parts.vectors_of_B;
  const double read = quads * parts.vectors * parts.conflicts;
  // Each thread loads the values and places of four columns by 16 and 8 bytes.
  const double from_A = quads * parts.lanes / 4 * (product.value_bytes / 2 + 0.5);
  work.wavefronts = (2 * copied + read + from_A) * 16 / kLineBytes;
  // Multiplications of a vector with two values.
  const double products = 2 * 16 / product.scalar_bytes * product_slots(product);
  constexpr double kPerPiece = 150;
  const double warps = std::max(1.0, parts.block_rows / 2 * parts.lanes / parts.stripes / kWarp);
  work.instructions = (quads * parts.vectors * (4 + products) + copied * 6) / kWarp +
                      parts.blocks * parts.pieces * parts.stripes * warps * kPerPiece;
  work.waves = std::max(1.0, parts.blocks / (parts.resident * product.device.multiprocessors));
  work.chain = 2 + 2 * parts.pieces * parts.stripes;
  // All threads of a block wait for its longest pair of rows.
  const double longest = 1 + longest_of(product, parts.block_rows);
  work.warp_instructions =
      parts.stripes * (longest * parts.pair_length * (4 + products) + parts.pieces * kPerPiece);
  work.tail = work.chain + static_cast<double>(A.row_max) / 4;
  return work;
}

/// Panels of 16 rows on the tensor cores, their rows of B staged in shared memory for up to 128
/// rows.
std::optional<KernelWork> staged_mma_work(const ProductShape& product) {
  const MatrixFeatures& A = product.A;
  // A thread block waits for its longest panel, and the counts below are those of mean rows.
  constexpr double kUneven = 1.2;
  if (A.variation() > kUneven) return std::nullopt;
  const TileParts parts(product);

  KernelWork work;
  count_traffic(product,
                {parts.part_bytes + 4 * parts.distinct + 40 * parts.blocks * parts.pieces,
                 parts.stripes, parts.distinct},
                work);
  const double row_wavefronts = product.N * product.scalar_bytes / kLineBytes;
  const double load_wavefronts = parts.width * product.scalar_bytes / 4;  // of a warp
  constexpr double kTileWavefronts = 4 + 4;  // the tile, and values for two rows per lane
  work.wavefronts =
      parts.tiles * (parts.stripes * kTileWavefronts + parts.active * load_wavefronts) +
      2 * parts.distinct * row_wavefronts + parts.stripes * parts.part_bytes / kLineBytes +
      static_cast<double>(A.rows) * row_wavefronts;
  const double conversions = product.scalar_bytes < 8 ? parts.width : 0;
  constexpr double kPerTile = 26;
  constexpr double kPerPiece = 60;
  constexpr double kPerCopy = 6;
  const double copies = parts.distinct * product.N * product.scalar_bytes / 16 / kWarp;
  const double per_load = 1 + parts.width + conversions;
  const double warps = parts.consumers + parts.producers;
  work.instructions = parts.tiles * (parts.stripes * kPerTile + parts.active * per_load) +
                      kPerCopy * copies +
                      kPerPiece * parts.blocks * parts.pieces * parts.stripes * warps;
  constexpr double kCyclesPerProduct = 4;
  work.tensor_cycles = parts.tiles * parts.active * parts.width * kCyclesPerProduct;
  const double thread_blocks = parts.resident * product.device.multiprocessors;
  work.waves = std::max(1.0, parts.blocks * parts.stripes / thread_blocks);
  // A consumer's part of a row block in a stripe. Short row blocks leave some without a panel.
  const double busy = std::min(parts.consumers, parts.block_rows / cuda::kTallRows);
  work.warp_instructions =
      parts.tiles / parts.blocks / busy * (kPerTile + parts.active / parts.stripes * per_load) +
      kPerPiece * parts.pieces;
  // The first piece waits for its place, its columns and its copies, the others overlap.
  work.chain = 1 + parts.pieces;
  work.tail = 4 + parts.pieces + static_cast<double>(A.row_max) / cuda::kTilePieceColumns;
  return work;
}

std::optional<KernelWork> node_block_work(const ProductShape& product) {
  const MatrixFeatures& A = product.A;
  if (A.node_size == 0) return std::nullopt;
  const double b = A.node_size;
  const double nnz = static_cast<double>(A.nnz);
  const double nodes = std::ceil(static_cast<double>(A.rows) / b);
  const double chunk = 16 / product.scalar_bytes;  // blocks
  const double blocks = nnz / (b * b * A.node_fill) + nodes * (chunk - 1) / 2;
  const bool wide = product.N >= (product.scalar_bytes == 8 ? 32 : 128);
  const double columns = chunk * (wide ? 2 : 1);  // of a lane
  const double wanted = std::ceil(product.N / columns);
  const double stripes = std::ceil(wanted / kWarp);
  const double lanes = std::max(4.0, std::ceil(wanted / stripes / 2) * 2);
  const double groups = std::floor(kWarp / lanes);
  const double units = nodes * stripes;
  const double warps = units / groups;

  KernelWork work;
  BlockReads reads{blocks * (b * b * product.value_bytes + 4) + 8 * nodes, stripes, 0};
  reads.fetches = nnz / product.reuse.at(b * groups * 6);
  count_traffic(product, reads, work);
  const double rounds = blocks / (chunk * nodes) * (1 + longest_of(product, groups));  // chunks
  const double B_wavefronts = b * chunk * kWarp * columns * product.scalar_bytes / kLineBytes;
  const double A_wavefronts = b * b * std::max(1.0, groups / 4) * 2;
  work.wavefronts = warps * rounds * (B_wavefronts + A_wavefronts);
  const double products = b * b * chunk * columns * product.scalar_bytes / 8;
  work.warp_instructions =
      rounds * (products * 2 + b * b + b * chunk * 6 + 20) + 60 + b * columns * 4;
  work.instructions = warps * work.warp_instructions;
  constexpr double kResidentWarps = 20;
  work.waves = std::max(1.0, warps / (kResidentWarps * product.device.multiprocessors));
  work.chain = 4 + rounds;
  work.tail = 4 + static_cast<double>(A.row_max) / (b * chunk * A.node_fill);
  return work;
}

}  // namespace heddle::detail
