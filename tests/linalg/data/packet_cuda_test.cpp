#include "linalg/data/packet_battery.hpp"
#include "support/cuda_test.hpp"

namespace heddle {
namespace {

using CudaPacket = test::CudaTest;

TEST_F(CudaPacket, PartsComeBackInOneCopyAndClearStartsOver) {
  Packet<CudaContext> packet(context(), test::kPacketCapacity);
  const std::size_t before = context().copy_count().to_host;
  const double* first = test::expect_parts_come_back(context(), packet, 1);
  EXPECT_EQ(context().copy_count().to_host, before + 1);
  packet.clear();
  EXPECT_EQ(test::expect_parts_come_back(context(), packet, 4), first);
  EXPECT_EQ(context().copy_count().to_host, before + 2);
}

}  // namespace
}  // namespace heddle
