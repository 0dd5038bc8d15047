#include <gtest/gtest.h>

#include <heddle/spmm/model/model.hpp>

namespace heddle {
namespace {

TEST(NominalBlockSeconds, AreBoundByMemoryThenByL2AndTensorCores) {
  const DeviceSpeed device;
  const auto seconds = [&](Index N, bool gathered) {
    return nominal_block_seconds(16, 16, N, 2, gathered, device);
  };
  EXPECT_DOUBLE_EQ(seconds(1, false), 516 / device.memory_bytes);
  EXPECT_GT(seconds(64, false), seconds(8, false));
  EXPECT_GT(seconds(128, true), seconds(128, false));
  // A row of B of 8 halves fills half a sector.
  const double per_cycle = 32 * device.clock * device.multiprocessors;
  EXPECT_DOUBLE_EQ(seconds(8, true), (516 + 16 * (32 + 4)) / per_cycle);
}

}  // namespace
}  // namespace heddle
