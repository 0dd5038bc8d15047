#include <algorithm>
#include <cmath>
#include <heddle/spmm/model/traffic.hpp>

namespace heddle::detail {
namespace {

constexpr double kSectorBytes = 32;
constexpr double kIndexBytes = 4;
constexpr double kOffsetBytes = 8;

/// The part of the second-level cache that data of a product stays in: its two halves hold copies
/// of what the other half owns.
constexpr double kCacheShare = 0.6;

/// Bytes of sectors per row of B of `bytes` useful bytes.
double sector_bytes(const ProductShape& product, double bytes) noexcept {
  if (bytes >= kSectorBytes) return std::ceil(bytes / kSectorBytes) * kSectorBytes;
  const double pitch = std::min(kSectorBytes, row_pitch(product));
  return pitch + (kSectorBytes - pitch) / std::max(1.0, product.A.column_run);
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

void count_traffic(const ProductShape& product, const BlockReads& reads,
                   KernelWork& work) noexcept {
  const MatrixFeatures& A = product.A;
  const double pitch = row_pitch(product);
  const double rows = static_cast<double>(A.rows);
  const double C_bytes = rows * pitch;
  const double B_bytes = std::min(static_cast<double>(A.cols), static_cast<double>(A.nnz)) * pitch;
  const double stripe_bytes =
      sector_bytes(product, product.N * product.scalar_bytes / reads.stripes);
  work.storage_bytes = reads.storage_bytes;
  work.l2_bytes =
      reads.stripes * (reads.A_reads * reads.storage_bytes + reads.fetches * stripe_bytes) +
      C_bytes;

  const double cache = kCacheShare * product.device.l2_bytes;
  const double all = reads.storage_bytes + B_bytes + C_bytes;
  const double absent = std::clamp(all / cache - 1, 0.0, 1.0);
  const double stream = (reads.storage_bytes + C_bytes / reads.stripes) / std::max(1.0, rows);
  const double window = product.reuse.rows_within(cache, stripe_bytes, stream);
  const double misses = static_cast<double>(A.nnz) / product.reuse.at(window);
  const double B_read = std::max(B_bytes, reads.stripes * misses * stripe_bytes);
  work.memory_bytes = absent * (reads.stripes * reads.storage_bytes + C_bytes + B_read);
}

double longest_of(const ProductShape& product, double rows) noexcept {
  constexpr double kMostVariation = 3;
  const double spread = std::min(product.A.variation(), kMostVariation);
  return spread * std::sqrt(2 * std::log(std::max(1.0, rows)));
}

}  // namespace heddle::detail
