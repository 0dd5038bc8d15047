#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <heddle/spmm/model/host_time.hpp>
#include <heddle/spmm/model/reuse_curve.hpp>

namespace heddle {
namespace {

// Of one core of an AMD EPYC (Zen 5), fitted to products with meshes in natural, random and reverse
// Cuthill-McKee order.
constexpr double kStreamBytes = 16e9;        // per second, read or written one after the other
constexpr double kFlops = 40e9;              // per second
constexpr double kEntrySeconds = 0.2e-9;     // of an entry of A
constexpr double kL3LineSeconds = 1.5e-9;    // of a line of B that is not in the second-level cache
constexpr double kMemoryLineSeconds = 6e-9;  // of one that is not in the third level either
constexpr double kLine = 64;

// Of a line of B that another core has written, fitted to products with Dubcova1, four columns, in
// its own and in reverse Cuthill-McKee order, on two cores of an Intel Xeon.
constexpr double kOtherCoreLineSeconds = 18e-9;

/// Lines of B that a row of `bytes` bytes takes, of neighbouring rows together.
double lines_per_row(double bytes, double run) {
  return bytes >= kLine ? std::ceil(bytes / kLine) : (bytes + (kLine - bytes) / run) / kLine;
}

double stated(int name, double otherwise) {
  const long bytes = sysconf(name);
  return bytes > 0 ? static_cast<double>(bytes) : otherwise;
}

}  // namespace

HostCaches host_caches() {
#ifdef _SC_LEVEL2_CACHE_SIZE
  const HostCaches usual;
  return {stated(_SC_LEVEL2_CACHE_SIZE, usual.l2), stated(_SC_LEVEL3_CACHE_SIZE, usual.l3)};
#else
  return {};
#endif
}

double rows_across_seconds(Index rows, double rows_across, Index N,
                           std::size_t scalar_bytes) noexcept {
  const double lines = static_cast<double>(N) * static_cast<double>(scalar_bytes) / kLine;
  return static_cast<double>(rows) * std::min(lines, rows_across * std::max(1.0, lines)) *
         kOtherCoreLineSeconds;
}

double host_product_seconds(const HostFeatures& A, Index N, std::size_t scalar_bytes,
                            const HostCaches& caches) {
  if (A.nnz == 0 || N <= 0) return 0;
  const auto nnz = static_cast<double>(A.nnz);
  const auto rows = static_cast<double>(A.rows);
  const auto columns = static_cast<double>(N);
  const auto value = static_cast<double>(scalar_bytes);
  const double entry_bytes = value + sizeof(std::int32_t);
  const double row_bytes = columns * value;
  const double lines = lines_per_row(row_bytes, std::max(1.0, A.column_run));
  const double stream = A.row_mean * entry_bytes + sizeof(std::int64_t) + row_bytes;  // per row
  const detail::ReuseCurve reuse(A);
  const auto misses = [&](double cache) {
    return nnz / reuse.at(reuse.rows_within(cache, lines * kLine, stream)) * lines;
  };
  const double stored = nnz * entry_bytes + rows * (sizeof(std::int64_t) + 2 * row_bytes);
  const double resident = stored + static_cast<double>(A.cols) * row_bytes;
  const double beyond_l2 = misses(caches.l2);
  const double beyond_l3 = resident <= caches.l3 ? 0 : misses(caches.l3);
  return nnz * (kEntrySeconds + 2 * columns / kFlops) + stored / kStreamBytes +
         beyond_l2 * kL3LineSeconds + beyond_l3 * kMemoryLineSeconds +
         rows_across_seconds(A.rows, A.rows_across, N, scalar_bytes);
}

}  // namespace heddle
