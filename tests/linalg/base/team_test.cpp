#include <gtest/gtest.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <heddle/linalg/base/sanitizers.hpp>
#include <heddle/linalg/base/team.hpp>
#include <string>
#include <thread>
#include <vector>

namespace heddle {
namespace {

using detail::run_team;

TEST(Team, DoesEveryItemOnceForEveryNumberOfThreadsAndItems) {
  for (const int threads : {1, 2, 3, 8}) {
    for (const std::int64_t count : {0, 1, 2, 7, 100, 1001}) {
      for (const bool in_turns : {false, true}) {
        std::vector<std::atomic<int>> times(static_cast<std::size_t>(count));
        run_team(threads, count, in_turns,
                 [&](std::int64_t item) { ++times[static_cast<std::size_t>(item)]; });
        for (const auto& done : times) EXPECT_EQ(done, 1) << threads << " threads, " << count;
      }
    }
  }
}

TEST(Team, NoTwoThreadsHaveTheSameMemberNumber) {
  constexpr int kThreads = 4;
  std::vector<std::atomic<int>> using_it(kThreads);
  std::atomic<int> clashes{0};
  std::atomic<int> outside{0};
  for (int call = 0; call < 20; ++call) {
    run_team(kThreads, 16, call % 2 == 0, [&](std::int64_t, int member) {
      if (member < 0 || member >= kThreads) {
        ++outside;
        return;
      }
      auto& users = using_it[static_cast<std::size_t>(member)];
      if (++users != 1) ++clashes;
      std::this_thread::yield();
      --users;
    });
  }
  EXPECT_EQ(clashes, 0);
  EXPECT_EQ(outside, 0);
}

/// The time slice of the calling thread in ns, or 0 if the system does not tell.
std::uint64_t time_slice() {
  std::array<std::uint64_t, 6> attributes{};  // the runtime is the field at byte 24
  if (syscall(SYS_sched_getattr, 0, attributes.data(), sizeof attributes, 0) != 0) return 0;
  return attributes[3];
}

TEST(Team, WorkersHaveShortTimeSlicesAndTheCallerKeepsItsOwn) {
  const std::uint64_t before = time_slice();
  if (before == 0) GTEST_SKIP() << "this system does not tell the slices of threads";
  std::atomic<int> started{0};
  std::atomic<std::uint64_t> of_workers{0};
  run_team(2, 2, true, [&](std::int64_t, int member) {
    ++started;
    while (started != 2) std::this_thread::yield();  // each member has one item
    if (member != 0) of_workers = time_slice();
  });
  EXPECT_EQ(of_workers, std::min<std::uint64_t>(before, 100'000));
  EXPECT_EQ(time_slice(), before);
}

// A worker that the system has stopped in the middle of its work: all other items are done without
// it, also those of its own range.
TEST(Team, OthersDoTheItemsOfAThreadThatIsStuck) {
  constexpr std::int64_t kItems = 32;  // ranges of 16 items, which are taken one by one
  for (int call = 0; call < 20; ++call) {
    std::atomic<std::int64_t> done{0};
    std::atomic<bool> stuck{false};
    run_team(2, kItems, false, [&](std::int64_t, int member) {
      if (member == 1) stuck = true;
      while (member == 0 ? !stuck : done < kItems - 1) std::this_thread::yield();
      ++done;
    });
    EXPECT_EQ(done, kItems);
  }
}

TEST(Team, ACallFromInsideACallIsDoneByTheThreadThatCalls) {
  std::atomic<int> done{0};
  std::atomic<int> elsewhere{0};
  run_team(3, 10, true, [&](std::int64_t) {
    const auto here = std::this_thread::get_id();
    run_team(3, 10, true, [&](std::int64_t) {
      if (std::this_thread::get_id() != here) ++elsewhere;
      ++done;
    });
  });
  EXPECT_EQ(done, 100);
  EXPECT_EQ(elsewhere, 0);
}

TEST(Team, SeveralThreadsMayCallAtTheSameTime) {
  std::vector<std::atomic<int>> done(3);
  std::vector<std::thread> callers;
  for (auto& count : done) {
    callers.emplace_back([&count] {
      for (int call = 0; call < 100; ++call) run_team(3, 50, false, [&](std::int64_t) { ++count; });
    });
  }
  for (std::thread& caller : callers) caller.join();
  for (const auto& count : done) EXPECT_EQ(count, 5000);
}

/// CPU time that the process uses in `wall` after a call of four threads, with this
/// OMP_WAIT_POLICY (nullptr: none). The workers are new: they read it when they start.
double cpu_seconds_after_a_call(const char* policy, std::chrono::milliseconds wall) {
  if (policy == nullptr) {
    unsetenv("OMP_WAIT_POLICY");
  } else {
    setenv("OMP_WAIT_POLICY", policy, 1);
  }
  double seconds = 0;
  std::thread([&] {
    run_team(4, 40, true,
             [](std::int64_t) { std::this_thread::sleep_for(std::chrono::microseconds(200)); });
    const std::clock_t start = std::clock();
    std::this_thread::sleep_for(wall);
    seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  }).join();
  return seconds;
}

TEST(Team, WorkersSleepUnlessTheUserWantsThemToSpin) {
  constexpr std::chrono::milliseconds kWall(150);
  EXPECT_LT(cpu_seconds_after_a_call(nullptr, kWall), 0.02);
  EXPECT_LT(cpu_seconds_after_a_call("passive", kWall), 0.02);
  double active = 0;  // on a busy machine the workers may not get to spin
  for (int attempt = 0; attempt < 10 && active < 0.005; ++attempt) {
    active = std::max(active, cpu_seconds_after_a_call("ACTIVE", kWall));
  }
  EXPECT_GT(active, 0.005);
}

TEST(Team, IsAwakeOnlyWhileWorkersLookForWork) {
  std::thread([] {
    EXPECT_FALSE(detail::team_is_awake());  // no worker yet
    run_team(2, 2, false, [](std::int64_t) {});
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (detail::team_is_awake() && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_FALSE(detail::team_is_awake());
  }).join();
}

TEST(Team, AForkedProcessDoesTheWorkAlone) {
  run_team(3, 100, true, [](std::int64_t) {});
  const pid_t child = fork();
  if (child == 0) {
    std::atomic<int> done{0};
    run_team(3, 100, true, [&](std::int64_t) { ++done; });
#ifdef HEDDLE_ADDRESS_SANITIZER  // the search for leaks at the exit may wait for the parent's
                                 // threads
    _exit(done == 100 ? 0 : 1);
#else
    std::exit(done == 100 ? 0 : 1);
#endif
  }
  int status = -1;
  pid_t ended = 0;
  for (int i = 0; i < 3000 && ended == 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    ended = waitpid(child, &status, WNOHANG);
  }
  if (ended == 0) kill(child, SIGKILL);
  EXPECT_EQ(ended, child);
  EXPECT_EQ(status, 0);
}

TEST(Team, LeavesTheEnvironmentAlone) {
  const auto environment = [] {
    std::vector<std::string> all;
    for (char** entry = environ; *entry != nullptr; ++entry) all.emplace_back(*entry);
    return all;
  };
  const std::vector<std::string> before = environment();
  std::thread([] { run_team(2, 10, false, [](std::int64_t) {}); }).join();
  EXPECT_EQ(environment(), before);
}

}  // namespace
}  // namespace heddle
