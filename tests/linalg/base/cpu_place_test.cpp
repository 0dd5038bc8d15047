#include <gtest/gtest.h>
#include <sched.h>

#include <heddle/linalg/base/cpu_place.hpp>
#include <thread>

namespace heddle {
namespace {

TEST(CpuPlace, AThreadLeavesItsCpuAndMayComeBack) {
  std::thread([] {
    cpu_set_t before;
    ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
    if (CPU_COUNT(&before) < 2) GTEST_SKIP() << "one CPU";
    bool left = false;
    for (int attempt = 0; attempt < 20 && !left;
         ++attempt) {  // the system may move it back at once
      const int cpu = detail::current_cpu();
      detail::leave_cpu(cpu, 2);
      left = detail::current_cpu() != cpu;
    }
    EXPECT_TRUE(left);
    cpu_set_t after;
    ASSERT_EQ(sched_getaffinity(0, sizeof after, &after), 0);
    EXPECT_TRUE(CPU_EQUAL(&before, &after));
  }).join();
}

TEST(CpuPlace, AThreadThatMayRunOnOneCpuStaysThere) {
  std::thread([] {
    const int cpu = detail::current_cpu();
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    detail::leave_cpu(cpu, 1);
    EXPECT_EQ(detail::current_cpu(), cpu);
    detail::leave_cpu(cpu, 2);
    EXPECT_EQ(detail::current_cpu(), cpu);
  }).join();
}

}  // namespace
}  // namespace heddle
