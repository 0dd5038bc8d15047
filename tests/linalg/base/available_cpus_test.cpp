#include <gtest/gtest.h>
#include <omp.h>
#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <heddle/linalg/base/available_cpus.hpp>
#include <heddle/linalg/context/context.hpp>
#include <string>
#include <thread>

#include "support/fake_root.hpp"

namespace heddle {
namespace {

namespace fs = std::filesystem;
using detail::cgroup_cpus;
using detail::default_threads;
using test::FakeRoot;

/// With OMP_NUM_THREADS of this value, or without it. Puts back what was there.
class NumThreads {
 public:
  explicit NumThreads(const char* value) {
    const char* const old = std::getenv(kName);
    had_ = old != nullptr;
    if (had_) old_ = old;
    set(value);
  }
  ~NumThreads() { set(had_ ? old_.c_str() : nullptr); }

 private:
  static constexpr const char* kName = "OMP_NUM_THREADS";
  static void set(const char* value) {
    value == nullptr ? unsetenv(kName) : setenv(kName, value, 1);
  }

  bool had_;
  std::string old_;
};

TEST(CgroupCpus, ReadsTheQuotaOfVersion2) {
  FakeRoot root;
  root.write("proc/self/cgroup", "0::/user.slice/job\n");
  EXPECT_FALSE(cgroup_cpus(root.path()));
  root.write("sys/fs/cgroup/user.slice/job/cpu.max", "max 100000\n");
  EXPECT_FALSE(cgroup_cpus(root.path()));
  root.write("sys/fs/cgroup/user.slice/job/cpu.max", "350000 100000\n");
  EXPECT_EQ(cgroup_cpus(root.path()), 3.5);
  root.write("sys/fs/cgroup/user.slice/cpu.max", "40000 20000\n");
  EXPECT_EQ(cgroup_cpus(root.path()), 2.0);
}

TEST(CgroupCpus, ReadsTheQuotaOfAContainerThatSeesAPathOfItsHost) {
  FakeRoot root;
  root.write("proc/self/cgroup", "0::/system.slice/docker-0123.scope\n");
  root.write("sys/fs/cgroup/cpu.max", "150000 100000\n");
  EXPECT_EQ(cgroup_cpus(root.path()), 1.5);
}

TEST(CgroupCpus, ReadsTheQuotaOfVersion1) {
  for (const std::string folder : {"cpu", "cpu,cpuacct"}) {
    FakeRoot root;
    root.write("proc/self/cgroup", "5:memory:/other\n4:cpu,cpuacct:/docker/01\n1:cpuset:/\n0::/\n");
    const std::string group = "sys/fs/cgroup/" + folder + "/docker/01/";
    root.write(group + "cpu.cfs_period_us", "100000\n").write(group + "cpu.cfs_quota_us", "-1\n");
    EXPECT_FALSE(cgroup_cpus(root.path())) << folder;
    root.write(group + "cpu.cfs_quota_us", "250000\n");
    EXPECT_EQ(cgroup_cpus(root.path()), 2.5) << folder;
  }
}

TEST(CgroupCpus, WhatCannotBeReadIsNoQuota) {
  FakeRoot root;
  EXPECT_FALSE(cgroup_cpus(root.path()));
  root.write("proc/self/cgroup", "\n::\n0:\n0::/a\n3:cpu\nnonsense");
  for (const std::string text : {"", "ten 100000", "100000", "100000 0", "-5 100000"}) {
    root.write("sys/fs/cgroup/a/cpu.max", text);
    EXPECT_FALSE(cgroup_cpus(root.path())) << text;
  }
}

TEST(DefaultThreads, AreLimitedByTheQuotaUnlessTheUserChose) {
  FakeRoot root;
  root.write("proc/self/cgroup", "0::/\n");
  omp_set_num_threads(7);
  {
    const NumThreads unset(nullptr);
    EXPECT_EQ(default_threads(root.path()), std::min(7, omp_get_num_procs()));
    root.write("sys/fs/cgroup/cpu.max", "50000 100000\n");
    EXPECT_EQ(default_threads(root.path()), 1);
    root.write("sys/fs/cgroup/cpu.max", "150000 100000\n");
    EXPECT_EQ(default_threads(root.path()), std::min(2, omp_get_num_procs()));
  }
  const NumThreads chosen("7");
  EXPECT_EQ(default_threads(root.path()), 7);
  EXPECT_EQ(HostContext().threads(), 7);
}

TEST(DefaultThreads, AreLimitedByTheAffinityOfTheProcess) {
  const NumThreads unset(nullptr);
  cpu_set_t allowed;
  ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
  int first = 0;
  while (!CPU_ISSET(first, &allowed)) ++first;
  std::thread([&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    EXPECT_EQ(default_threads(FakeRoot().path()), 1);
  }).join();
}

}  // namespace
}  // namespace heddle
