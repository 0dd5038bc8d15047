#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <heddle/linalg/base/available_cpus.hpp>
#include <heddle/linalg/base/cgroups.hpp>

namespace heddle::detail {
namespace {

namespace fs = std::filesystem;

/// Quota divided by period, from cpu.max: "QUOTA PERIOD" in microseconds, or "max PERIOD".
std::optional<double> quota_v2(const fs::path& group) {
  std::ifstream file(group / "cpu.max");
  double quota = 0;
  double period = 0;
  if (file >> quota >> period && quota > 0 && period > 0) return quota / period;
  return std::nullopt;
}

/// The same from two files; a quota of −1 stands for none.
std::optional<double> quota_v1(const fs::path& group) {
  std::ifstream quota_file(group / "cpu.cfs_quota_us");
  std::ifstream period_file(group / "cpu.cfs_period_us");
  double quota = 0;
  double period = 0;
  if (quota_file >> quota && period_file >> period && quota > 0 && period > 0) {
    return quota / period;
  }
  return std::nullopt;
}

}  // namespace

std::optional<double> cgroup_cpus(const fs::path& root) {
  return smallest_cgroup_limit(root, {"cpu", quota_v2, quota_v1});
}

int default_threads(const fs::path& root) {
  const int offered = std::min(omp_get_max_threads(), omp_get_thread_limit());
  if (std::getenv("OMP_NUM_THREADS") != nullptr) return offered;
  const int placed = std::min(offered, omp_get_num_procs());
  const std::optional<double> quota = cgroup_cpus(root);
  // Rounded up: threads that stop for a part of each period still do more than fewer threads.
  const double allowed = quota ? std::max(1.0, std::ceil(*quota)) : placed;
  return static_cast<int>(std::min<double>(placed, allowed));
}

}  // namespace heddle::detail
