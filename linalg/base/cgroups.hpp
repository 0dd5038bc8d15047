#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string_view>

/// Limits that Linux sets to groups of processes.
namespace heddle::detail {

/// How a limit is read from the folder of a control group. Each function returns nothing if the
/// group has no such limit.
struct CgroupLimit {
  using Read = std::function<std::optional<double>(const std::filesystem::path& group)>;

  std::string_view controller;  ///< the name of the controller in version 1, e.g. "cpu"
  Read version2;
  Read version1;
};

/// The smallest limit of this process's control group and the groups above it. Nothing if there is
/// none or if it cannot be read. `root` is the folder that holds proc and sys. Source: Linux,
/// Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/cgroups.rst.
std::optional<double> smallest_cgroup_limit(const std::filesystem::path& root,
                                            const CgroupLimit& limit);

}  // namespace heddle::detail
