#pragma once

#include <filesystem>
#include <optional>

/// How many threads this process should have if nobody says.
namespace heddle::detail {

/// The CPU time per wall-clock time that the control groups of this process allow, in CPUs: the
/// smallest quota of its group and the groups above it. Nothing if there is no quota or if it
/// cannot be read. Reads version 2 (cpu.max) and version 1 (cpu.cfs_quota_us). `root` is the folder
/// that holds proc and sys. Source: Linux, Documentation/admin-guide/cgroup-v2.rst and
/// scheduler/sched-bwc.rst.
std::optional<double> cgroup_cpus(const std::filesystem::path& root = "/");

/// The default number of threads: that of OMP_NUM_THREADS if it is set. Otherwise the smallest of
/// OpenMP's default, the CPUs that the affinity of this process allows, and `cgroup_cpus(root)`
/// rounded up; at least 1.
int default_threads(const std::filesystem::path& root = "/");

}  // namespace heddle::detail
