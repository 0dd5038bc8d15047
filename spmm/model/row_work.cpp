#include <algorithm>
#include <bit>
#include <cmath>
#include <heddle/spmm/kernels/cuda/row_split/row_shape.hpp>
#include <heddle/spmm/model/traffic.hpp>
#include <heddle/spmm/model/work.hpp>

namespace heddle::detail {
namespace {

constexpr double kWarp = 32;
constexpr double kThreads = 256;
constexpr double kLineBytes = 128;
constexpr double kSectorBytes = 32;
constexpr double kLinesOfL1 = 2048;
constexpr double kResidentWarps = 44;

/// How a kernel deals rows of C to lanes.
struct RowLanes {
  double width;       ///< values in a load
  double lanes;       ///< for the columns of a stripe
  double stripes;     ///< of columns
  double groups = 1;  ///< of lanes, for the nonzeros of a row
  double unroll = 4;  ///< nonzeros whose loads are in flight together
  double threads = kThreads;
  double longest = 1e18;   ///< entries of a row that its lanes add; longer ones have others
  bool shares_A = false;   ///< A is read through shared memory
  double value_bytes = 8;  ///< of A's values
};

double power_of_two(double least) {
  return static_cast<double>(std::bit_ceil(static_cast<unsigned>(std::max(1.0, least))));
}

/// How often A reaches a multiprocessor per stripe. The lanes of a row read A in steps of some
/// consecutive entries, each of which begins within a sector that the step before ended in. Where
/// the cache lines that all resident warps touch in a step exceed L1, both steps read that sector.
double reads_of_A(const ProductShape& product, const RowLanes& shape, double warp_rows,
                  double reuse) {
  if (shape.shares_A) return 1;
  const double entries = shape.unroll * shape.groups;
  const double lines_of_B =
      entries / reuse *
      std::max(1.0, product.N / shape.stripes * product.scalar_bytes / kLineBytes);
  const double lines = kResidentWarps * warp_rows * (2 + lines_of_B);
  const double evicted = std::max(0.0, 1 - kLinesOfL1 / lines);
  const double entry_bytes = shape.value_bytes + 4;
  const double touched = (entries - 1) * entry_bytes + 2 * kSectorBytes;
  return 1 + evicted * (touched / (entries * entry_bytes) - 1);
}

/// The work of kernels in which each row belongs to some lanes of one warp.
KernelWork count_rows(const ProductShape& product, const RowLanes& shape) {
  const MatrixFeatures& A = product.A;
  const double row_threads = shape.lanes * shape.groups;
  const double warp_rows = std::max(1.0, kWarp / row_threads);  // a row may lie in two warps
  const double warps = static_cast<double>(A.rows) * shape.stripes / warp_rows;
  const double length = std::min(
      shape.longest,
      A.row_mean * (1 + longest_of(product, shape.shares_A ? kThreads / row_threads : warp_rows)));
  const double steps = std::ceil(length / shape.groups) + shape.unroll / 2;

  KernelWork work;
  BlockReads reads{csr_bytes(A, shape.value_bytes), shape.stripes, 0};
  const double reuse = product.reuse.at(shape.threads / row_threads);
  reads.fetches = static_cast<double>(A.nnz) / reuse;
  reads.A_reads = reads_of_A(product, shape, warp_rows, reuse);
  count_traffic(product, reads, work);

  const auto wavefronts = [&](double bytes, double lines) {
    return std::max(bytes / kLineBytes, lines / 2);
  };
  const double bytes = kWarp * shape.width * product.scalar_bytes;
  const double lines = warp_rows * shape.groups *
                       std::max(1.0, shape.lanes * shape.width * product.scalar_bytes / kLineBytes);
  // Each of a warp's rows of A lies elsewhere, unless they are short.
  const auto A_lines = [&](double entry_bytes) {
    return warp_rows * std::min(1.0, A.row_mean * entry_bytes / kLineBytes);
  };
  const double from_A = shape.shares_A ? 1
                                       : std::max(1.0, A_lines(4) / 2) +
                                             std::max(1.0, A_lines(shape.value_bytes) / 2);
  work.wavefronts = warps * steps * (wavefronts(bytes, lines) + from_A);
  const double products = shape.width * product.scalar_bytes / 4;
  const double sums = shape.groups > 1 ? std::log2(shape.groups) * shape.width * 4 : 0;
  work.warp_instructions = steps * (6 + products) + 40 + sums;
  work.instructions = warps * work.warp_instructions;
  work.waves = std::max(1.0, warps / (kResidentWarps * product.device.multiprocessors));
  work.chain = 3 + 2 * std::ceil(steps / shape.unroll);
  const double longest = std::min(shape.longest, static_cast<double>(A.row_max));
  work.tail = 3 + 2 * std::ceil(longest / (shape.groups * shape.unroll));
  return work;
}

RowLanes lanes_of(const ProductShape& product, double most_lanes) {
  RowLanes shape{};
  shape.width = load_width(product);
  const double wanted = std::ceil(product.N / shape.width);
  shape.lanes = std::min(most_lanes, power_of_two(wanted));
  shape.stripes = std::ceil(wanted / shape.lanes);
  shape.groups = 1;
  shape.unroll = 4;
  shape.threads = kThreads;
  shape.value_bytes = product.value_bytes;
  return shape;
}

}  // namespace

std::optional<KernelWork> row_split_work(const ProductShape& product) {
  RowLanes shape = lanes_of(product, cuda::row_lanes(product.A));
  const double wanted = std::ceil(product.N / shape.width);
  shape.lanes = std::ceil(wanted / shape.stripes);
  return count_rows(product, shape);
}

std::optional<KernelWork> row_parallel_work(const ProductShape& product) {
  const auto row_max = static_cast<double>(product.A.row_max);
  const cuda::LongRowShape rows = cuda::long_row_shape(product.A, static_cast<Index>(product.N),
                                                       static_cast<Index>(product.scalar_bytes));
  const auto length = static_cast<double>(rows.length);
  const bool has_long_rows = product.A.row_max > rows.limit;
  const auto vectors = static_cast<Index>(std::ceil(product.N / load_width(product)));
  RowLanes shape = lanes_of(product, has_long_rows ? cuda::lanes_of_group(vectors) : kWarp);
  const double groups_of_warp = std::floor(kWarp / shape.lanes);
  shape.groups = std::min(static_cast<double>(cuda::row_groups(product.A)), groups_of_warp);
  if (!has_long_rows) {
    if (shape.groups == 1) return std::nullopt;  // `row_split`
    return count_rows(product, shape);
  }
  shape.longest = static_cast<double>(rows.limit);
  KernelWork work = count_rows(product, shape);
  const double of_segment = std::min(row_max, length) / (groups_of_warp * shape.unroll);
  work.tail = std::max(work.tail, 3 + 2 * std::ceil(of_segment));
  if (row_max > length) {
    constexpr double kThreadsOfSum = 256;
    constexpr double kColumnsOfSum = 16;
    const double parts = std::ceil(row_max / length);
    work.launches = 2;
    work.tail += std::ceil(parts * std::min(product.N, kColumnsOfSum) / kThreadsOfSum);
  }
  return work;
}

std::optional<KernelWork> row_cached_work(const ProductShape& product) {
  RowLanes shape = lanes_of(product, kWarp);
  shape.shares_A = true;
  KernelWork work = count_rows(product, shape);
  // A thread block goes through its entries in chunks. Only rows with entries in the chunk have
  // something to do.
  constexpr double kChunk = 1024;
  const double length = product.A.row_mean;
  const double chunks = std::max(1.0, kThreads / shape.lanes * length / kChunk);
  const double rounds = std::ceil(std::min(length, kChunk) / shape.unroll);
  work.chain = 3 + chunks * (2 + rounds);
  work.warp_instructions *= std::max(1.0, chunks * std::min(1.0, length / kChunk));
  work.warp_instructions += chunks * 60;
  work.instructions += work.instructions / work.warp_instructions * chunks * 60;
  work.tail = 3 + static_cast<double>(product.A.row_max) / shape.unroll;
  return work;
}

std::optional<KernelWork> row_broadcast_work(const ProductShape& product) {
  RowLanes shape{};
  shape.width = 1;
  shape.lanes = kWarp;
  shape.stripes = std::ceil(product.N / kWarp);
  shape.groups = 1;
  shape.unroll = 8;
  shape.threads = kThreads / 2;
  shape.value_bytes = product.scalar_bytes;
  return count_rows(product, shape);
}

}  // namespace heddle::detail
