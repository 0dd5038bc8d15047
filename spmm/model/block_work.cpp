#include <algorithm>
#include <cmath>
#include <heddle/spmm/model/traffic.hpp>
#include <heddle/spmm/model/work.hpp>

namespace heddle::detail {
namespace {

constexpr double kWarp = 32;
constexpr double kLineBytes = 128;

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
  constexpr double kCyclesPerTile = 2;
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

/// A in blocks of 64 rows, whose rows of B are staged in shared memory, in pieces of a block and
/// stripes of columns. Two neighbouring rows are multiplied together.
std::optional<KernelWork> staged_work(const ProductShape& product) {
  const MatrixFeatures& A = product.A;
  // A thread block waits for its longest rows, and the counts below are those of mean rows.
  constexpr double kUneven = 1.2;
  if (A.variation() > kUneven) return std::nullopt;
  constexpr double kNarrowBytes = 80;  // up to which rows of floats have tall blocks
  const bool tall = product.scalar_bytes < 8 && product.N * product.scalar_bytes <= kNarrowBytes;
  const double block_rows = tall ? 128 : 64;
  const double nnz = static_cast<double>(A.nnz);
  const double rows = static_cast<double>(A.rows);
  const double distinct = nnz / std::max(1.0, A.reuse_grid);
  const double vector = 16 / product.scalar_bytes;
  const double vectors = std::ceil(product.N / vector);
  const double pair_length = 2 * A.row_mean / product.reuse.at(2);
  const double blocks = std::max(1.0, rows / block_rows);
  // Shared memory of one of two thread blocks on a multiprocessor.
  constexpr double kShare = 110 * 1024;
  const double entry_bytes = 2 * product.value_bytes + 2;
  constexpr double kPieceColumns = 512;
  const double piece_entries = kShare / 4 / entry_bytes;
  // Columns of the pairs of rows, by fours in each of `pieces` pieces.
  const auto quads_of = [&](double pieces) {
    return rows / 2 * (pair_length / 4 + 0.4 * std::min(pieces, pair_length)) * 4;
  };
  const double pieces = std::ceil(
      std::max({1.0, distinct / blocks / kPieceColumns, quads_of(1) / blocks / piece_entries}));
  const double quads = quads_of(pieces);
  const double piece_bytes =
      (distinct * product.N * product.scalar_bytes + quads * entry_bytes) / (blocks * pieces);
  const double stripes = std::clamp(std::ceil(piece_bytes / kShare), 1.0, vectors);

  KernelWork work;
  count_traffic(product, {quads * entry_bytes + 4 * distinct + 40 * blocks, 1, distinct}, work);
  const double copied = distinct * vectors * 16;
  const double read = quads * vectors * 16;
  const double from_A = quads * stripes * entry_bytes * std::min(vectors / stripes, 4.0);
  work.wavefronts = (2 * copied + read + from_A) / kLineBytes;
  const double products = 2 * vector * product.scalar_bytes / 4;
  const double warps = std::max(1.0, block_rows / 2 * vectors / stripes / kWarp);
  work.instructions = (quads * vectors * (4 + products) + distinct * vectors * 6) / kWarp +
                      blocks * pieces * stripes * warps * 150;
  work.waves = std::max(1.0, blocks / (2.0 * product.device.multiprocessors));
  work.chain = 2 + 2 * pieces * stripes;
  const double longest = 1 + longest_of(product, block_rows);
  // All threads of a block wait for its longest pair of rows.
  work.warp_instructions = stripes * (longest * pair_length * (4 + products) + pieces * 150);
  work.tail = work.chain + static_cast<double>(A.row_max) / 4;
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
