#include <gtest/gtest.h>
#include <unistd.h>

#include <heddle/linalg/base/available_memory.hpp>
#include <string>

#include "support/fake_root.hpp"

namespace heddle {
namespace {

using detail::available_memory;
using test::FakeRoot;

constexpr double kMiB = 1024 * 1024;

std::string bytes(double mebibytes) {
  return std::to_string(static_cast<long long>(mebibytes * kMiB)) + "\n";
}

/// The content of proc/self/statm: mapped, resident and data memory.
std::string statm(double mapped, double resident, double data) {
  const auto pages = [](double mebibytes) {
    return std::to_string(static_cast<long long>(mebibytes * kMiB) / sysconf(_SC_PAGESIZE)) + " ";
  };
  return pages(mapped) + pages(resident) + "7 7 0 " + pages(data) + "0\n";
}

TEST(AvailableMemory, WithoutLimitsItIsThePhysicalOne) {
  FakeRoot root;
  const double physical =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  EXPECT_EQ(available_memory(root.path()).bytes, physical);
  EXPECT_EQ(available_memory(root.path()).owner, "this machine");
  root.write("proc/self/cgroup", "0::/job\n").write("sys/fs/cgroup/job/memory.max", "max\n");
  root.write("proc/self/limits",
             "Limit                     Soft Limit           Hard Limit           Units\n"
             "Max data size             unlimited            unlimited            bytes\n"
             "Max address space         unlimited            unlimited            bytes\n");
  EXPECT_EQ(available_memory(root.path()).bytes, physical);
  EXPECT_LE(available_memory().bytes, physical);
  EXPECT_GT(available_memory().bytes, 0);
}

TEST(AvailableMemory, Version2CountsWhatOthersUseWithoutCaches) {
  FakeRoot root;
  root.write("proc/self/cgroup", "0::/batch/job\n").write("proc/self/statm", statm(90, 30, 40));
  root.write("sys/fs/cgroup/batch/job/memory.max", bytes(200));
  EXPECT_EQ(available_memory(root.path()).bytes, 200 * kMiB);
  root.write("sys/fs/cgroup/batch/job/memory.current", bytes(100));
  EXPECT_EQ(available_memory(root.path()).bytes, 130 * kMiB);
  EXPECT_EQ(available_memory(root.path()).unused, 100 * kMiB);
  root.write("sys/fs/cgroup/batch/job/memory.stat", "anon 5\ninactive_file " + bytes(50));
  EXPECT_EQ(available_memory(root.path()).bytes, 180 * kMiB);
  EXPECT_EQ(available_memory(root.path()).owner, "the control group of this process");
  // A group above with less left.
  root.write("sys/fs/cgroup/batch/memory.max", bytes(300));
  root.write("sys/fs/cgroup/batch/memory.current", bytes(290));
  EXPECT_EQ(available_memory(root.path()).bytes, 40 * kMiB);
  root.write("sys/fs/cgroup/batch/memory.max", bytes(10));
  EXPECT_EQ(available_memory(root.path()).bytes, 0);
}

TEST(AvailableMemory, Version1) {
  FakeRoot root;
  root.write("proc/self/cgroup", "5:cpu,cpuacct:/other\n4:memory:/job\n");
  root.write("proc/self/statm", statm(90, 30, 40));
  root.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  root.write("sys/fs/cgroup/memory/job/memory.limit_in_bytes", bytes(100));
  root.write("sys/fs/cgroup/memory/job/memory.usage_in_bytes", bytes(60));
  root.write("sys/fs/cgroup/memory/job/memory.stat", "cache 1\ntotal_inactive_file " + bytes(10));
  EXPECT_EQ(available_memory(root.path()).bytes, 80 * kMiB);
}

TEST(AvailableMemory, LimitsOfTheProcess) {
  FakeRoot root;
  root.write("proc/self/statm", statm(90, 30, 40));
  const std::string data = "Max data size             " + std::to_string(200 * 1024 * 1024);
  const std::string space = "Max address space         " + std::to_string(240 * 1024 * 1024);
  root.write("proc/self/limits", data + "   unlimited   bytes\n");
  EXPECT_EQ(available_memory(root.path()).bytes, 190 * kMiB);
  EXPECT_EQ(available_memory(root.path()).owner, "the data segment of this process (ulimit -d)");
  root.write("proc/self/limits", data + " 1 bytes\n" + space + " 1 bytes\n");
  EXPECT_EQ(available_memory(root.path()).bytes, 180 * kMiB);
  EXPECT_EQ(available_memory(root.path()).owner, "the address space of this process (ulimit -v)");
}

}  // namespace
}  // namespace heddle
