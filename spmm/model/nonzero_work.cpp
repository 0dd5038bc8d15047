#include <algorithm>
#include <bit>
#include <cmath>
#include <heddle/spmm/model/traffic.hpp>
#include <heddle/spmm/model/work.hpp>

namespace heddle::detail {
namespace {

constexpr double kResidentWalks = 40;
/// The step of the merge path that gives this many stretches, within limits.
constexpr double kStretches = 65536;
constexpr double kShortestStep = 16;
constexpr double kLongestStep = 128;

double path_step(double length) {
  const auto even = static_cast<unsigned>(length / kStretches) + 1;
  return std::clamp(static_cast<double>(std::bit_ceil(even)), kShortestStep, kLongestStep);
}

/// The chain of loads of the warp that adds the carries of the longest row, of which there is one
/// per `entries` entries. Its lanes find the last of them, 32 at a time, and then add them for up
/// to 32 columns at a time: those of 32/columns carries, and of four times as many in flight.
double carries_chain(const ProductShape& product, double entries) {
  constexpr double kUnroll = 4;
  const double N = product.N;
  const double columns = N <= 1 ? 1 : N <= 4 ? 4 : N <= 16 ? 16 : kWarp;
  const double carries = std::floor(static_cast<double>(product.A.row_max) / entries);
  return carries / kWarp + std::ceil(N / columns) * carries * columns / (kWarp * kUnroll);
}

/// The work of kernels in which lane groups walk equal parts of a path. `length` is that of the
/// path: nonzeros, or `by_rows` rows and nonzeros.
KernelWork count_merge(const ProductShape& product, double length, bool by_rows) {
  const MatrixFeatures& A = product.A;
  const double width = load_width(product);
  const double wanted = std::ceil(product.N / width);
  const double lanes =
      std::min(kWarp, static_cast<double>(std::bit_ceil(static_cast<unsigned>(wanted))));
  const double stripes = std::ceil(wanted / lanes);
  const double nnz = static_cast<double>(A.nnz);
  const double step = path_step(length);
  const double device_threads = static_cast<double>(product.device.resident_threads());
  const double span = std::clamp(std::floor(length / step * lanes / (2 * device_threads)), 1.0,
                                 std::max(1.0, kLongestStep / step));
  const double walk = step * span;                                  // of the path, by a group
  const double entries = walk * nnz / length;                       // in it
  const double rows = walk * static_cast<double>(A.rows) / length;  // that end in it
  const double most_rows =
      std::min(by_rows ? walk : 1e300, static_cast<double>(A.rows_within_128) * walk / 128);
  const double warp_groups = kWarp / lanes;
  const double warps = length / walk * stripes / warp_groups;

  KernelWork work;
  BlockReads reads{csr_bytes(A, product.value_bytes) + 16 * length / step, stripes, 0};
  const double block_rows = std::max(1.0, kThreads / lanes * rows);
  reads.fetches = nnz / product.reuse.at(block_rows);
  reads.gathers = true;
  count_traffic(product, reads, work);
  const double most = imbalance(product, warps * kWarp / kThreads);
  work.l2_bytes *= most;
  const double lines =
      kWarp / lanes * std::max(1.0, lanes * width * product.scalar_bytes / kLineBytes);
  const double load_wavefronts =
      std::max(kWarp * width * product.scalar_bytes / kLineBytes, lines / 2);
  // The groups of a warp read A at places that lie a walk apart.
  const auto A_lines = [&](double entry_bytes) {
    return warp_groups * std::min(1.0, walk * entry_bytes / kLineBytes);
  };
  const double from_A =
      std::max(1.0, A_lines(4) / 2) + std::max(1.0, A_lines(product.value_bytes) / 2);
  work.wavefronts = most * warps * entries * (load_wavefronts + from_A);
  const double products = width * product_slots(product);
  // A row may end in each of a warp's groups at another time.
  work.warp_instructions = entries * (8 + products) + rows * std::min(warp_groups, 8.0) * 20 + 100;
  work.instructions = most * warps * work.warp_instructions;
  work.waves = std::max(1.0, warps / (kResidentWalks * product.device.multiprocessors));
  // The end of each row is loaded when the row before it is finished.
  work.chain = 6 + 2 * entries / 4 + rows / 2;
  work.tail = work.chain + most_rows / 2 + carries_chain(product, walk * kThreads / lanes);
  work.launches = 1.5;
  return work;
}

}  // namespace

std::optional<KernelWork> merge_work(const ProductShape& product) {
  return count_merge(product, static_cast<double>(product.A.nnz), false);
}

std::optional<KernelWork> merge_path_work(const ProductShape& product) {
  return count_merge(product, static_cast<double>(product.A.nnz + product.A.rows), true);
}

std::optional<KernelWork> nonzero_parallel_work(const ProductShape& product) {
  const MatrixFeatures& A = product.A;
  const double nnz = static_cast<double>(A.nnz);
  const double width = load_width(product);
  constexpr double kMostColumns = 4;
  const double stripe =
      width > 1 ? kMostColumns
                : std::min(kMostColumns,
                           static_cast<double>(std::bit_ceil(static_cast<unsigned>(product.N))));
  const double stripes = std::ceil(product.N / stripe);
  const double loads = stripe / width;
  constexpr double kWarpEntries = 256;
  const double warps = nnz / kWarpEntries * stripes;
  const double steps = kWarpEntries / kWarp;
  const double rows = std::min(kWarp, kWarp / std::max(1.0, A.row_mean));  // per step

  KernelWork work;
  BlockReads reads{csr_bytes(A, product.scalar_bytes), stripes, 0};
  const double block_rows = std::max(1.0, 8 * kWarpEntries / std::max(1.0, A.row_mean));
  reads.fetches = nnz / product.reuse.at(block_rows);
  reads.gathers = true;
  count_traffic(product, reads, work);
  const double lines = kWarp / std::max(1.0, std::min(A.column_run, 8.0));
  work.wavefronts =
      warps * steps *
      (loads * std::max(kWarp * width * product.scalar_bytes / kLineBytes, lines / 2) + 4 +
       rows / 2);
  const double shuffles = 5 * stripe * (product.scalar_bytes / 4 + 2);
  work.warp_instructions = steps * (60 + loads * 6 + shuffles) + 60;
  work.instructions = warps * work.warp_instructions;
  work.waves = std::max(1.0, warps / (kResidentWalks * product.device.multiprocessors));
  work.chain = 4 + 3 * steps;
  work.tail = work.chain + static_cast<double>(A.rows_within_128) / 64 +
              carries_chain(product, kWarpEntries);
  work.launches = 1.5;
  return work;
}

std::optional<KernelWork> narrow_merge_work(const ProductShape& product) {
  const MatrixFeatures& A = product.A;
  const double nnz = static_cast<double>(A.nnz);
  const double rows = static_cast<double>(A.rows);
  constexpr double kMostColumns = 4;
  const double columns = std::min(kMostColumns, product.N);
  const double stripes = std::ceil(product.N / kMostColumns);
  constexpr double kLongRows = 64;
  // Rows and nonzeros.
  const double block_items = product.N == 1 && A.row_mean >= kLongRows ? 2048 : 1024;
  const double blocks = (nnz + rows) / block_items * stripes;
  const double entries = block_items * nnz / (nnz + rows);  // of a block
  const double block_rows = block_items - entries;

  KernelWork work;
  BlockReads reads{csr_bytes(A, product.value_bytes), stripes, 0};
  reads.fetches = nnz / product.reuse.at(std::max(1.0, block_rows));
  reads.gathers = true;
  count_traffic(product, reads, work);
  const double row_bytes = columns * product.scalar_bytes;
  const double lines = kWarp / std::max(1.0, std::min(A.column_run, 8.0));
  const double rounds = entries / kWarp;  // of a warp's lanes over the entries of a block
  const double from_B =
      std::ceil(row_bytes / 16) * std::max(kWarp * row_bytes / kLineBytes, lines / 2);
  const double shared = 3 * kWarp * row_bytes / kLineBytes;
  work.wavefronts = blocks * (rounds * (from_B + 3 + shared) + block_rows * row_bytes / kLineBytes);
  const double scan = columns * (product.scalar_bytes / 4 + 2);
  const double block_instructions =
      rounds * (25 + 8 * columns) + block_rows / kWarp * (20 + 4 * columns) + 8 * (60 + 10 * scan);
  constexpr double kBlockWarps = 8;
  work.warp_instructions = block_instructions / kBlockWarps;
  work.instructions = blocks * block_instructions;
  constexpr double kResidentBlocks = 6;
  work.waves = std::max(1.0, blocks / (kResidentBlocks * product.device.multiprocessors));
  work.chain = 8;
  work.tail = work.chain + carries_chain(product, block_items);
  work.launches = 1.5;
  return work;
}

}  // namespace heddle::detail
