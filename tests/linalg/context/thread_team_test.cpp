#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <functional>
#include <heddle/linalg/context/thread_team.hpp>
#include <stdexcept>
#include <string>
#include <support/on_threads.hpp>
#include <thread>
#include <vector>

namespace heddle::detail {
namespace {

using Message = Processes::Message;

/// Runs body(processes) in a thread per member of the team. A thread that throws fails the team.
/// Returns the messages of the exceptions, empty for a thread without one.
std::vector<std::string> run(ThreadTeam& team, const std::function<void(Processes&)>& body) {
  std::vector<std::string> thrown(static_cast<std::size_t>(team.size()));
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < team.size(); ++rank) {
    threads.emplace_back([&, rank, member = team.member(rank)] {
      try {
        body(*member);
      } catch (const std::exception& error) {
        thrown[static_cast<std::size_t>(rank)] = error.what();
        team.fail(std::current_exception());
      }
    });
  }
  threads.clear();
  return thrown;
}

void expect_nothing_thrown(const std::vector<std::string>& thrown) {
  for (const std::string& message : thrown) EXPECT_EQ(message, "");
}

TEST(ThreadTeam, SharesDataInTheOrderOfTheThreads) {
  ThreadTeam team(4);
  expect_nothing_thrown(run(team, [](Processes& processes) {
    const int rank = processes.rank();
    EXPECT_EQ(processes.size(), 4);
    EXPECT_EQ(processes.on_this_machine(), 4);
    EXPECT_EQ(processes.rank_on_this_machine(), rank);
    for (int round = 0; round < 1000; ++round) {
      std::array<int, 2> here{rank, round};
      std::array<int, 8> all{};
      processes.gather_all(here.data(), all.data(), sizeof here);
      here = {-1, -1};  // nobody reads it any more
      EXPECT_EQ(all, (std::array{0, round, 1, round, 2, round, 3, round}));
      int number = rank == 0 ? round : -1;
      processes.broadcast(&number, sizeof number);
      EXPECT_EQ(number, round);
      EXPECT_EQ(processes.any(round % 5 == rank), round % 5 < 4);
    }
    // From left to right the large terms cancel before the last one. In any other order the sum is
    // another one.
    double sum = std::array{1e16, 1.0, -1e16, 0.5}[static_cast<std::size_t>(rank)];
    processes.sum({&sum, 1});
    EXPECT_EQ(sum, ((1e16 + 1.0) - 1e16) + 0.5);
    EXPECT_FALSE(processes.same(static_cast<std::uint64_t>(rank / 3)));
    EXPECT_TRUE(processes.same(7));
  }));
  EXPECT_EQ(team.failure(), nullptr);
}

TEST(ThreadTeam, ExchangesMessagesInOrder) {
  ThreadTeam team(3);
  expect_nothing_thrown(run(team, [](Processes& processes) {
    const int rank = processes.rank();
    const int next = (rank + 1) % 3, before = (rank + 2) % 3;
    for (int round = 0; round < 500; ++round) {
      std::array<int, 3> out{10 * rank, 10 * rank + 1, round}, in{-1, -1, -1};
      processes.begin_exchange(
          std::vector<Message>{{before, &in[0], 4}, {before, &in[1], 4}, {next, &in[2], 4}},
          std::vector<Message>{{next, &out[0], 4}, {next, &out[1], 4}, {before, &out[2], 4}});
      processes.end_exchange();
      EXPECT_EQ(in, (std::array{10 * before, 10 * before + 1, round}));
      out = {-1, -1, -1};
    }
    // Only two of the threads take part.
    int number = rank;
    if (rank == 0) processes.begin_exchange({}, std::vector<Message>{{2, &number, 4}});
    if (rank == 2) processes.begin_exchange(std::vector<Message>{{0, &number, 4}}, {});
    if (rank != 1) processes.end_exchange();
    EXPECT_EQ(number, rank == 1 ? 1 : 0);
  }));
}

/// `wait` is what the others are in when thread 1 fails.
void expect_all_end(const std::function<void(Processes&)>& wait) {
  ThreadTeam team(3);
  const std::vector<std::string> thrown = run(team, [&wait](Processes& processes) {
    EXPECT_FALSE(processes.any(false));
    if (processes.rank() == 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));  // the others are asleep
      throw std::runtime_error("the first");
    }
    wait(processes);
    ADD_FAILURE() << "the call returned";
  });
  EXPECT_EQ(thrown[0], TeamEnded().what());
  EXPECT_EQ(thrown[1], "the first");
  EXPECT_EQ(thrown[2], TeamEnded().what());
  EXPECT_THROW(std::rethrow_exception(team.failure()), std::runtime_error);
  EXPECT_THROW(team.member(0)->any(true), TeamEnded);
}

TEST(ThreadTeam, AFailureEndsTheWaitsOfAll) {
  expect_all_end([](Processes& processes) { processes.any(true); });
  expect_all_end([](Processes& processes) {
    int number = 0;
    processes.broadcast(&number, sizeof number);
  });
  expect_all_end([](Processes& processes) {
    int number = 0;
    processes.begin_exchange(std::vector<Message>{{1, &number, 4}}, {});
    processes.end_exchange();
  });
  expect_all_end([](Processes& processes) {
    int number = 0;
    processes.begin_exchange({}, std::vector<Message>{{1, &number, 4}});
    processes.end_exchange();
  });
}

TEST(ThreadTeam, OneThreadMeetsItself) {
  ThreadTeam team(1);
  expect_nothing_thrown(run(team, [](Processes& processes) {
    double value = 3;
    processes.sum({&value, 1});
    EXPECT_EQ(value, 3);
  }));
}

/// Bytes whose copy takes long enough that another thread fails in the meantime.
constexpr std::size_t kLongCopy = 4 << 20;

/// Thread 0 fails and frees its memory, from which thread 1 may be copying.
TEST(ThreadTeam, MessagesOfDifferentSizesFail) {
  ThreadTeam team(2);
  const std::vector<std::string> thrown = run(team, [](Processes& processes) {
    std::vector<char> sent(kLongCopy), received(kLongCopy);
    const int other = 1 - processes.rank();
    const std::size_t bytes = processes.leads() ? kLongCopy : 4;
    processes.begin_exchange(std::vector<Message>{{other, received.data(), kLongCopy}},
                             std::vector<Message>{{other, sent.data(), bytes}});
    processes.end_exchange();
  });
  EXPECT_EQ(thrown[0], "sizes of one message differ");
  EXPECT_EQ(thrown[1], TeamEnded().what());
}

/// The memory that a thread shows is freed when the team ends, which may be while others read it.
TEST(ThreadTeam, TheEndWaitsForThreadsThatRead) {
  for (int repeat = 0; repeat < 20; ++repeat) {
    ThreadTeam team(2);
    std::jthread failing([&team] {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      team.fail(std::make_exception_ptr(std::runtime_error("ended")));
    });
    const std::vector<std::string> thrown = run(team, [](Processes& processes) {
      std::vector<char> values(kLongCopy);
      while (true) processes.broadcast(values.data(), kLongCopy);
    });
    EXPECT_EQ(thrown, std::vector<std::string>(2, TeamEnded().what()));
  }
}

/// More numbers than are gathered at once.
TEST(ThreadTeam, SumsOfManyNumbers) {
  test::on_threads(3, [](HostContext& context) {
    std::vector<double> values(200001);
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<double>(i) + context.processes()->rank();
    }
    context.processes()->sum(values);
    for (std::size_t i = 0; i < values.size(); ++i) {
      ASSERT_EQ(values[i], 3 * static_cast<double>(i) + 3);
    }
  });
}

}  // namespace
}  // namespace heddle::detail
