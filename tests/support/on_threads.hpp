#pragma once

#include <gtest/gtest.h>

#include <exception>
#include <heddle/linalg/context/context.hpp>
#include <heddle/linalg/context/thread_team.hpp>
#include <thread>
#include <vector>

namespace heddle::test {

/// Runs body(context) on `count` threads in the place of processes.
template <class Body>
void on_threads(int count, const Body& body) {
  detail::ThreadTeam team(count);
  {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < count; ++rank) {
      threads.emplace_back([&, member = team.member(rank)] {
        try {
          HostContext context(1, member);
          body(context);
        } catch (...) {
          team.fail(std::current_exception());
        }
      });
    }
  }
  EXPECT_EQ(team.failure(), nullptr);
}

}  // namespace heddle::test
