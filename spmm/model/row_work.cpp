#include <algorithm>
#include <bit>
#include <cmath>
#include <heddle/spmm/kernels/cuda/row_split/row_shape.hpp>
#include <heddle/spmm/model/traffic.hpp>
#include <heddle/spmm/model/work.hpp>

namespace heddle::detail {
namespace {

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
  double row_mean = 0;     ///< entries of such a row
  double variation = 0;    ///< deviation of their number, in units of the mean
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
      entries / reuse * lines_per_row(product, product.N / shape.stripes * product.scalar_bytes);
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
  const double rows_together = shape.shares_A ? kThreads / row_threads : warp_rows;
  const double length =
      std::min(shape.longest, shape.row_mean * (1 + longest_of(shape.variation, rows_together)));
  const double steps = std::ceil(length / shape.groups) + shape.unroll / 2;

  KernelWork work;
  BlockReads reads{csr_bytes(A, shape.value_bytes), shape.stripes, 0};
  const double reuse = product.reuse.at(shape.threads / row_threads);
  reads.fetches = static_cast<double>(A.nnz) / reuse;
  reads.A_reads = reads_of_A(product, shape, warp_rows, reuse);
  reads.gathers = true;
  count_traffic(product, reads, work);
  const double most = imbalance(product, warps * kWarp / shape.threads);
  work.l2_bytes *= most;

  const double row_bytes = shape.lanes * shape.width * product.scalar_bytes;
  const double from_B = std::max(kWarp * shape.width * product.scalar_bytes / kLineBytes,
                                 warp_rows * shape.groups * lines_per_row(product, row_bytes));
  // Each of a warp's rows of A lies elsewhere, unless they are short.
  const auto A_lines = [&](double entry_bytes) {
    return warp_rows * std::min(1.0, A.row_mean * entry_bytes / kLineBytes);
  };
  const double from_A = shape.shares_A ? 1
                                       : std::max(1.0, A_lines(4) / 2) +
                                             std::max(1.0, A_lines(shape.value_bytes) / 2);
  work.wavefronts = most * warps * steps * (from_B + from_A);
  const double words = product.scalar_bytes / 4;
  const double products = shape.width * product_slots(product);
  const double sums = std::log2(shape.groups) * shape.width * (words + 1);  // shuffles, additions
  work.warp_instructions = steps * (6 + products) + 40 + sums;
  work.instructions = most * warps * work.warp_instructions;
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
  shape.row_mean = product.A.row_mean;
  shape.variation = product.A.variation();
  return shape;
}

/// The rows that are left where the longest ones have other lanes. These are as many rows of the
/// greatest length as explain the deviation of all lengths. The others vary as all rows do, but
/// less if even the shortest 128 entries' worth of neighbouring rows are about as long as the mean.
void leave_long_rows(const MatrixFeatures& A, RowLanes& shape) {
  const auto rows = static_cast<double>(A.rows);
  const auto nnz = static_cast<double>(A.nnz);
  const auto length = static_cast<double>(A.row_max);
  constexpr double kMostOfEntries = 0.9;
  const double long_rows =
      std::min(rows * std::pow(A.row_deviation / length, 2), kMostOfEntries * nnz / length);
  shape.row_mean = (nnz - long_rows * length) / std::max(1.0, rows - long_rows);
  const double shortest = 128 / std::max(1.0, static_cast<double>(A.rows_within_128));
  shape.variation =
      std::min(A.variation(), kMostVariation * std::max(0.0, 1 - shortest / shape.row_mean));
}

/// The chain of loads of the thread block that adds the parts of the longest row.
double parts_chain(const ProductShape& product, double parts, double unroll) {
  constexpr double kMostColumns = 16;
  const double columns = product.N <= 1 ? 1 : product.N <= 4 ? 4 : kMostColumns;
  return 2 + std::ceil(parts * columns / (kThreads * unroll));
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
  leave_long_rows(product.A, shape);
  KernelWork work = count_rows(product, shape);
  const double of_segment = std::min(row_max, length) / (groups_of_warp * shape.unroll);
  work.tail = std::max(work.tail, 3 + 2 * std::ceil(of_segment));
  if (row_max > length) {
    work.launches = 2;
    work.tail += parts_chain(product, std::ceil(row_max / length), shape.unroll);
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
  shape.row_mean = product.A.row_mean;
  shape.variation = product.A.variation();
  return count_rows(product, shape);
}

}  // namespace heddle::detail
