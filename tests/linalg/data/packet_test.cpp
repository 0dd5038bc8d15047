#include "linalg/data/packet_battery.hpp"
#include "support/allocations.hpp"

namespace heddle {
namespace {

TEST(Packet, PartsComeBackAndClearStartsOver) {
  HostContext context(1);
  Packet<HostContext> packet(context, test::kPacketCapacity);
  const double* first = test::expect_parts_come_back(context, packet, 1);
  packet.clear();
  EXPECT_EQ(test::expect_parts_come_back(context, packet, 4), first);
}

TEST(Packet, AllocatesNothingOnceMade) {
  HostContext context(1);
  Packet<HostContext> packet(context, 6);
  const std::size_t before = test::heap_allocations();
  for (int step = 0; step < 2; ++step) {
    packet.clear();
    packet.add(2, 3);
    packet.fetch(context);
  }
  EXPECT_EQ(test::heap_allocations(), before);
}

}  // namespace
}  // namespace heddle
