#include <algorithm>
#include <fstream>
#include <heddle/linalg/base/cgroups.hpp>
#include <sstream>
#include <string>

namespace heddle::detail {
namespace {

namespace fs = std::filesystem;

/// The smallest limit of `group`, a path below `mount`, and of all groups above it. In a container
/// the path may be one of the host, of which only the top, the container's own group, is there.
std::optional<double> smallest_limit(const fs::path& mount, const fs::path& group,
                                     const CgroupLimit::Read& read) {
  std::optional<double> smallest = read(mount);
  fs::path folder = mount;
  for (const fs::path& part : group.relative_path()) {
    folder /= part;
    const std::optional<double> here = read(folder);
    if (here) smallest = std::min(smallest.value_or(*here), *here);
  }
  return smallest;
}

/// Whether `name` is in a list of names with commas between them.
bool lists(const std::string& names, std::string_view name) {
  return ("," + names + ",").find("," + std::string(name) + ",") != std::string::npos;
}

}  // namespace

std::optional<double> smallest_cgroup_limit(const fs::path& root, const CgroupLimit& limit) {
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
    std::optional<double> here;
    if (id == "0" && controllers.empty()) {
      here = smallest_limit(mounts, group, limit.version2);
    } else if (lists(controllers, limit.controller)) {
      here = smallest_limit(mounts / controllers, group, limit.version1);
      if (!here) here = smallest_limit(mounts / limit.controller, group, limit.version1);
    }
    if (here) smallest = std::min(smallest.value_or(*here), *here);
  }
  return smallest;
}

}  // namespace heddle::detail
