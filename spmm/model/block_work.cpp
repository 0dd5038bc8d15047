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
  const double loads = std::min(4.0, std::ceil(product.N / (8 * width)));
  const double stripe = 8 * width * (loads == 3 ? 4 : loads);
  const double stripes = std::ceil(product.N / stripe);
  const double enough_warps = kWarp * product.device.multiprocessors;
  const double share = std::clamp(enough_warps / panels, 1.0, 8.0);

  KernelWork work;
  BlockReads reads{nnz * product.scalar_bytes + 24 * tiles, stripes, 0};
  reads.fetches = nnz / product.reuse.at(kRows * kWarps / share);
  count_traffic(product, reads, work);
  const double row_bytes = stripe * product.scalar_bytes;  // of B in a stripe
  const double load_wavefronts =
      loads * std::max(kColumns * 8 * width * product.scalar_bytes / kLineBytes, kColumns / 2);
  work.wavefronts =
      tiles * stripes * (load_wavefronts + 3) + panels * stripes * row_bytes * kRows / kLineBytes;
  const double conversions = product.scalar_bytes < 8 ? loads * width : 0;
  work.instructions = tiles * stripes * (18 + 3 * loads + loads * width + conversions) +
                      panels * share * stripes * (60 + 20 * loads);
  constexpr double kCyclesPerTile = 2;
  work.tensor_cycles = tiles * stripes * loads * width * kCyclesPerTile;
  constexpr double kResidentWarps = 24;
  const double warps = panels * share * stripes;
  work.waves = std::max(1.0, warps / (kResidentWarps * product.device.multiprocessors));
  const double unroll = loads * width == 1 ? 8 : 3;
  work.chain = 4 + 2 * tiles / (panels * share * unroll);
  // Units of long panels have at least 64 tiles.
  work.longest_chain = 4 + 2 * std::max(64.0, tiles / (panels * share)) / unroll;
  if (A.variation() < 0.5) work.longest_chain = work.chain;
  return work;
}

std::optional<KernelWork> staged_work(const ProductShape& product) {
  const MatrixFeatures& A = product.A;
  constexpr double kRows = 64;
  const double nnz = static_cast<double>(A.nnz);
  const double rows = static_cast<double>(A.rows);
  const double reuse = std::max({1.0, A.reuse_grid});
  const double distinct = nnz / reuse;
  const double vector = 16 / product.scalar_bytes;
  const double vectors = std::ceil(product.N / vector);
  const double padded = rows * std::ceil(A.row_mean / 4 + 0.4) * 4;  // entries in whole quads
  const double blocks = rows / kRows;
  // Shared memory of one of two thread blocks on a multiprocessor, in pieces of a block.
  constexpr double kShare = 110 * 1024;
  const double block_bytes = distinct / blocks * product.N * product.scalar_bytes +
                             padded / blocks * (product.scalar_bytes + 2);
  const double stripes = std::clamp(std::ceil(block_bytes / kShare), 1.0, vectors);

  KernelWork work;
  BlockReads reads{padded * (product.scalar_bytes + 2) + 4 * distinct + 40 * blocks, 1, distinct};
  count_traffic(product, reads, work);
  const double copied = distinct * vectors * 16;
  const double read = padded * vectors * 16;
  const double from_A = padded * stripes * (product.scalar_bytes + 2) * std::min(vectors, 4.0);
  work.wavefronts = (2 * copied + read + from_A) / kLineBytes;
  const double products = vector * product.scalar_bytes / 4;
  work.instructions = (padded * vectors * (3 + products) + distinct * vectors * 6) / kWarp +
                      blocks * stripes * 8 * 150;
  const double resident = 2.0 * product.device.multiprocessors;
  work.waves = std::max(1.0, blocks / resident);
  work.chain = 2 + stripes;
  work.longest_chain = work.chain + 6;
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
  BlockReads reads{blocks * (b * b * product.scalar_bytes + 4) + 8 * nodes, stripes, 0};
  reads.fetches = nnz / product.reuse.at(b * groups * 6);
  count_traffic(product, reads, work);
  const double rounds = blocks / (chunk * nodes) * (1 + longest_of(product, groups));  // chunks
  const double B_wavefronts = b * chunk * kWarp * columns * product.scalar_bytes / kLineBytes;
  const double A_wavefronts = b * b * std::max(1.0, groups / 4) * 2;
  work.wavefronts = warps * rounds * (B_wavefronts + A_wavefronts);
  const double products = b * b * chunk * columns * product.scalar_bytes / 8;
  work.instructions =
      warps * (rounds * (products * 2 + b * b + b * chunk * 6 + 20) + 60 + b * columns * 4);
  constexpr double kResidentWarps = 20;
  work.waves = std::max(1.0, warps / (kResidentWarps * product.device.multiprocessors));
  work.chain = 4 + rounds;
  work.longest_chain = 4 + static_cast<double>(A.row_max) / (b * chunk * A.node_fill);
  return work;
}

}  // namespace heddle::detail
