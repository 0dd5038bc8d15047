#include <algorithm>
#include <cmath>
#include <heddle/spmm/model/traffic.hpp>

namespace heddle::detail {
namespace {

constexpr double kIndexBytes = 4;
constexpr double kOffsetBytes = 8;

/// The part of the second-level cache that data of a product stays in: its two halves hold copies
/// of what the other half owns.
constexpr double kCacheShare = 0.6;

/// The sectors that a multiprocessor could get in the time of one request (one H200: 95·10⁹ rows of
/// B of 32 or 64 bytes per second, 66·10⁹ rows of 128 bytes).
constexpr double kSectorsOfRequest = 3;

/// From 0, none, to 1, all: how many of the columns that neighbouring rows of A have are neighbours
/// too. If each run of c columns is found one column further in the next row, R(8) = 8c/(c + 7).
/// The 7-point stencil has c = 1.4, so R(8) = 4/3; of random columns R(8) is 1.
double shared_lines(const MatrixFeatures& A) noexcept {
  constexpr double kReuseOfStencil = 4.0 / 3;
  return std::clamp((A.reuse_8 - 1) / (kReuseOfStencil - 1), 0.0, 1.0);
}

/// Bytes of sectors per row of B of `bytes` useful bytes.
double sector_bytes(const ProductShape& product, double bytes) noexcept {
  if (bytes >= kSectorBytes) return std::ceil(bytes / kSectorBytes) * kSectorBytes;
  const double pitch = std::min(kSectorBytes, row_pitch(product));
  return pitch + (kSectorBytes - pitch) / std::max(1.0, product.A.column_run);
}

/// The bytes that the second-level cache could move while it serves a row of B of `bytes` useful
/// bytes.
double request_bytes(const ProductShape& product, double bytes) noexcept {
  const double least = lines_per_row(product, bytes) * kSectorsOfRequest * kSectorBytes;
  return std::max(sector_bytes(product, bytes), least);
}

}  // namespace

double csr_bytes(const MatrixFeatures& A, double value_bytes) noexcept {
  return static_cast<double>(A.nnz) * (value_bytes + kIndexBytes) +
         static_cast<double>(A.rows) * kOffsetBytes;
}

double row_pitch(const ProductShape& product) noexcept {
  constexpr double kAligned = 16;
  if (product.N == 1) return product.scalar_bytes;
  return std::ceil(product.N * product.scalar_bytes / kAligned) * kAligned;
}

double load_width(const ProductShape& product) noexcept {
  const double widest = 16 / product.scalar_bytes;
  return std::fmod(product.N, widest) == 0 ? widest : 1;
}

double product_slots(const ProductShape& product) noexcept {
  const double parts = product.scalar_bytes > sizeof(double) ? 2 : 1;
  const double words_of_part = product.scalar_bytes / parts / 4;
  return parts * parts * words_of_part;
}

double lines_per_row(const ProductShape& product, double bytes) noexcept {
  const double pitch = row_pitch(product);
  const bool aligned = std::fmod(pitch, kLineBytes) == 0 || std::fmod(kLineBytes, pitch) == 0;
  const double sectors = std::ceil(bytes / kSectorBytes);
  // Rows that begin at any sector cross the end of a line with each sector but the first alike.
  const double lines =
      aligned ? std::ceil(bytes / kLineBytes) : 1 + (sectors - 1) * kSectorBytes / kLineBytes;
  const double rows_of_line = std::max(1.0, kLineBytes / pitch);
  return lines / (1 + (rows_of_line - 1) * shared_lines(product.A));
}

double imbalance(const ProductShape& product, double thread_blocks) noexcept {
  const double mean = thread_blocks / product.device.multiprocessors;
  return std::ceil(mean) / mean;
}

void count_traffic(const ProductShape& product, const BlockReads& reads,
                   KernelWork& work) noexcept {
  const MatrixFeatures& A = product.A;
  const double pitch = row_pitch(product);
  const double rows = static_cast<double>(A.rows);
  const double C_bytes = rows * pitch;
  const double B_bytes = std::min(static_cast<double>(A.cols), static_cast<double>(A.nnz)) * pitch;
  const double useful_bytes = product.N * product.scalar_bytes / reads.stripes;
  const double stripe_bytes = sector_bytes(product, useful_bytes);
  const double fetch_bytes = reads.gathers ? request_bytes(product, useful_bytes) : stripe_bytes;
  work.storage_bytes = reads.storage_bytes;
  work.l2_bytes =
      reads.stripes * (reads.A_reads * reads.storage_bytes + reads.fetches * fetch_bytes) + C_bytes;

  const double cache = kCacheShare * product.device.l2_bytes;
  const double all = reads.storage_bytes + B_bytes + C_bytes;
  const double absent = std::clamp(all / cache - 1, 0.0, 1.0);
  const double stream = (reads.storage_bytes + C_bytes / reads.stripes) / std::max(1.0, rows);
  const double window = product.reuse.rows_within(cache, stripe_bytes, stream);
  const double misses = static_cast<double>(A.nnz) / product.reuse.at(window);
  const double B_read = std::max(B_bytes, reads.stripes * misses * stripe_bytes);
  work.memory_bytes = absent * (reads.stripes * reads.storage_bytes + C_bytes + B_read);
}

double longest_of(double variation, double rows) noexcept {
  return std::min(variation, kMostVariation) * std::sqrt(2 * std::log(std::max(1.0, rows)));
}

}  // namespace heddle::detail
