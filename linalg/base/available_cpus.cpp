#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <heddle/linalg/base/available_cpus.hpp>
#include <sstream>
#include <string>

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

/// The smallest quota of `group`, a path below `mount`, and of all groups above it. In a container
/// the path may be one of the host, of which only the top, the container's own group, is there.
template <class Quota>
std::optional<double> smallest_quota(const fs::path& mount, const fs::path& group,
                                     const Quota& quota) {
  std::optional<double> smallest = quota(mount);
  fs::path folder = mount;
  for (const fs::path& part : group.relative_path()) {
    folder /= part;
    const std::optional<double> here = quota(folder);
    if (here) smallest = std::min(smallest.value_or(*here), *here);
  }
  return smallest;
}

/// Whether `name` is in a list of names with commas between them.
bool lists(const std::string& names, const std::string& name) {
  return ("," + names + ",").find("," + name + ",") != std::string::npos;
}

}  // namespace

std::optional<double> cgroup_cpus(const fs::path& root) {
  const fs::path mounts = root / "sys/fs/cgroup";
  std::ifstream groups(root / "proc/self/cgroup");
  std::optional<double> smallest;
  for (std::string line; std::getline(groups, line);) {  // "ID:CONTROLLERS:PATH"
    std::istringstream fields(line);
    std::string id;
    std::string controllers;
    std::string group;
    std::getline(fields, id, ':');
    std::getline(fields, controllers, ':');
    std::getline(fields, group);
    std::optional<double> quota;
    if (id == "0" && controllers.empty()) {
      quota = smallest_quota(mounts, group, quota_v2);
    } else if (lists(controllers, "cpu")) {
      quota = smallest_quota(mounts / controllers, group, quota_v1);
      if (!quota) quota = smallest_quota(mounts / "cpu", group, quota_v1);
    }
    if (quota) smallest = std::min(smallest.value_or(*quota), *quota);
  }
  return smallest;
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
