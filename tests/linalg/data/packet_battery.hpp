#pragma once

#include <gtest/gtest.h>

#include <heddle/linalg/data/packet.hpp>
#include <vector>

#include "support/random_block.hpp"

/// What `Packet` owes on every backend.
namespace heddle::test {

/// The numbers that `expect_parts_come_back` puts into a packet.
inline constexpr Index kPacketCapacity = 4 * 3 + 1 + 7 * 2;

/// Matrices of several shapes, one of them empty, each sent to its part of an empty packet, stand
/// on the host after one `fetch`. Returns where the first of them lay.
template <class Ctx>
const double* expect_parts_come_back(Ctx& context, Packet<Ctx>& packet, unsigned seed) {
  std::vector<RandomSmall> sent{RandomSmall(4, 3, seed), RandomSmall(0, 5, seed),
                                RandomSmall(1, 1, seed + 1), RandomSmall(7, 2, seed + 2)};
  std::vector<typename Packet<Ctx>::Part> parts;
  for (RandomSmall& matrix : sent) {
    const SmallView<double, HostSpace> view = matrix.view();
    parts.push_back(packet.add(view.rows, view.cols));
    send(context, view, parts.back().there);
  }
  packet.fetch(context);
  for (std::size_t k = 0; k < sent.size(); ++k) {
    const SmallView<double, HostSpace> expected = sent[k].view();
    const SmallView<double, HostSpace> here = parts[k].here;
    EXPECT_EQ(here.rows, expected.rows);
    EXPECT_EQ(here.cols, expected.cols);
    for (Index j = 0; j < expected.cols; ++j) {
      for (Index i = 0; i < expected.rows; ++i) {
        EXPECT_EQ(here(i, j), expected(i, j)) << "part " << k << ", entry " << i << ", " << j;
      }
    }
  }
  return parts.front().there.data;
}

}  // namespace heddle::test
