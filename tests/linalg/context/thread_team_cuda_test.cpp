#include <gtest/gtest.h>

#include <chrono>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/context/thread_team.hpp>
#include <heddle/linalg/data/buffer.hpp>
#include <stdexcept>
#include <thread>

namespace heddle::detail {
namespace {

/// Two threads with a GPU each. Skipped where there are not two.
class ThreadTeamOnGpus : public testing::Test {
 protected:
  void SetUp() override {
    const std::string reason = cuda_unavailable_reason(1);
    if (!reason.empty()) GTEST_SKIP() << "skipped: " << reason;
  }

  /// Runs body(context, processes) in both threads. A thread that throws fails the team.
  template <class Body>
  static void run(ThreadTeam& team, const Body& body) {
    const auto follow = [&](int rank) {
      try {
        const std::shared_ptr<Processes> member = team.member(rank);
        const CurrentGpu current(rank);
        CudaContext context(rank, member);
        body(context, *member);
      } catch (...) {
        team.fail(std::current_exception());
      }
    };
    std::jthread other([&] { follow(1); });
    follow(0);
  }
};

TEST_F(ThreadTeamOnGpus, GathersInOrder) {
  for (int attempt = 0; attempt < 3; ++attempt) {
    ThreadTeam team(2);
    run(team, [](CudaContext& context, Processes& processes) {
      Buffer<double, DeviceSpace> number(context, 1);
      for (int round = 0; round < 200; ++round) {
        const double here = processes.rank() + 10.0 * round;
        context.copy_to_device(number.data(), &here, sizeof here);
        double all[2];
        context.copy_to_host(all, context.gather_all(number.data(), 1), sizeof all);
        EXPECT_EQ(all[0], 10.0 * round);
        EXPECT_EQ(all[1], 1 + 10.0 * round);
        EXPECT_EQ(processes.any(round % 2 == processes.rank()), true);
      }
    });
    EXPECT_EQ(team.failure(), nullptr);
  }
}

/// The GPU of thread 0 waits for that of thread 1, which fails.
TEST_F(ThreadTeamOnGpus, AFailureEndsTheWaitOfTheOtherGpu) {
  const auto start = std::chrono::steady_clock::now();
  ThreadTeam team(2);
  run(team, [](CudaContext& context, Processes& processes) {
    Buffer<double, DeviceSpace> number(context, 1);
    processes.any(false);
    if (processes.rank() == 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      throw std::runtime_error("GPU 1 fails");
    }
    double all[2];
    context.copy_to_host(all, context.gather_all(number.data(), 1), sizeof all);
    EXPECT_THROW(processes.any(false), TeamEnded);
    EXPECT_THROW(context.gather_all(number.data(), 1), DeviceError);
  });
  EXPECT_THROW(std::rethrow_exception(team.failure()), std::runtime_error);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

/// The GPUs work for another team after the failure of one.
TEST_F(ThreadTeamOnGpus, WorkAgainAfterAFailure) {
  ThreadTeam failing(2);
  run(failing, [](CudaContext& context, Processes& processes) {
    Buffer<double, DeviceSpace> number(context, 1);
    processes.any(false);
    if (processes.leads()) throw std::runtime_error("GPU 0 fails");
    double all[2];
    context.copy_to_host(all, context.gather_all(number.data(), 1), sizeof all);
  });
  EXPECT_THROW(std::rethrow_exception(failing.failure()), std::runtime_error);
  ThreadTeam team(2);
  run(team, [](CudaContext& context, Processes& processes) {
    Buffer<double, DeviceSpace> number(context, 1);
    const double here = processes.rank();
    context.copy_to_device(number.data(), &here, sizeof here);
    double all[2];
    context.copy_to_host(all, context.gather_all(number.data(), 1), sizeof all);
    EXPECT_EQ(all[1], 1);
  });
  EXPECT_EQ(team.failure(), nullptr);
}

}  // namespace
}  // namespace heddle::detail
