#include <gtest/gtest.h>

#include <heddle/drivers/solve.hpp>
#include <heddle/drivers/team/followers.hpp>
#include <heddle/linalg/base/error.hpp>
#include <stdexcept>
#include <support/temporary_folder.hpp>

namespace heddle {
namespace {

/// Threads of this program that solve on the host in the place of processes.
struct OfThreads : Device {
  explicit OfThreads(int count) : Device(DeviceChoice::host, count, detail::followers(count)) {}
};

Problem grid() { return {.A = Matrix::generate({.name = "laplace3d", .size = {9, 10, 11}})}; }

const Request kLobpcg{.method = Method::lobpcg, .nev = 4};

/// Threads give the values of one, and a second solve on the same device the bits of the first.
void expect_same(Problem problem, const Request& request, int count) {
  Device alone(DeviceChoice::host, 1);
  const Solution one = solve(alone, problem, request);
  OfThreads device(count);
  EXPECT_EQ(device.processes(), count);
  EXPECT_EQ(device.gpus(), 0);
  const Solution several = solve(device, problem, request);
  ASSERT_EQ(several.status, one.status) << several.reason;
  EXPECT_NEAR(static_cast<double>(several.iterations), static_cast<double>(one.iterations), 1);
  ASSERT_EQ(several.eigenvalues.size(), one.eigenvalues.size());
  for (std::size_t k = 0; k < one.eigenvalues.size(); ++k) {
    EXPECT_NEAR(several.eigenvalues[k], one.eigenvalues[k],
                2 * one.error_bounds[k] + 1e-12 * std::abs(one.eigenvalues[k]));
  }
  const Solution again = solve(device, problem, request);
  EXPECT_EQ(again.eigenvalues, several.eigenvalues);
  EXPECT_EQ(again.residuals, several.residuals);
  EXPECT_EQ(again.iterations, several.iterations);
}

TEST(Followers, SolveAsOneThread) {
  expect_same(grid(), kLobpcg, 3);
  expect_same(grid(), {.method = Method::block_lanczos, .nev = 4, .which = Which::largest}, 2);
  const std::vector<double> ones(990, 1);
  Problem linear = grid();
  linear.rhs = Block(990, 1, ones);
  expect_same(linear, {.method = Method::block_cg}, 3);
  expect_same(grid(), {.method = Method::lobpcg, .nev = 3, .precision = Precision::mixed}, 4);
}

/// The largest memory that a solve takes in one of `count` threads, on a grid of 10×10×`planes`.
double largest_share(int count, Index planes) {
  OfThreads device(count);
  const Problem problem{.A = Matrix::generate({.name = "laplace3d", .size = {10, 10, planes}})};
  const Solution solution = solve(device, problem, kLobpcg);
  EXPECT_GE(solution.peak_bytes_most, solution.peak_bytes);
  return static_cast<double>(solution.peak_bytes_most);
}

/// A longer grid has the same halos, and the same small matrices: what it needs more is for rows,
/// and each process has its share of these. Of several processes, the rows of A count too, which
/// one process has outside of its context.
TEST(Followers, ShareTheMemoryOfASolve) {
  const auto alone = [](Index planes) {
    Device device(DeviceChoice::host, 1);
    const Problem problem{.A = Matrix::generate({.name = "laplace3d", .size = {10, 10, planes}})};
    const Solution solution = solve(device, problem, kLobpcg);
    EXPECT_EQ(solution.peak_bytes_most, solution.peak_bytes);
    return static_cast<double>(solution.peak_bytes_most);
  };
  constexpr double kRows = 100.0 * 120;            // of the planes that are more
  constexpr double kEntries = (700.0 - 40) * 120;  // 40 neighbours of a plane lie outside
  constexpr double kMatrix = 12 * kEntries + 8 * kRows;
  const double growth = alone(240) - alone(120) + kMatrix;
  for (const int count : {2, 4}) {
    const double share = largest_share(count, 240) - largest_share(count, 120);
    EXPECT_NEAR(share, growth / count, 0.01 * growth / count) << count << " threads";
  }
}

TEST(Followers, KeepACheckpointEach) {
  const test::TemporaryFolder folder;
  Request request = kLobpcg;
  request.preconditioner.type = "none";
  OfThreads device(3);
  const Solution whole = solve(device, grid(), request);
  request.checkpoint.file = folder.path() / "kept";
  request.max_iterations = 20;
  EXPECT_EQ(solve(device, grid(), request).status, SolveStatus::max_iterations);
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "kept.2"));
  request.max_iterations = 0;
  request.checkpoint.resume = true;
  const Solution resumed = solve(device, grid(), request);
  EXPECT_EQ(resumed.eigenvalues, whole.eigenvalues);
  EXPECT_EQ(resumed.iterations, whole.iterations);
}

TEST(Followers, AThreadThatFailsEndsAllWithItsMessage) {
  const test::TemporaryFolder folder;
  Request request = kLobpcg;
  request.preconditioner.type = "none";
  request.checkpoint.file = folder.path() / "kept";
  request.max_iterations = 5;
  OfThreads device(3);
  EXPECT_EQ(solve(device, grid(), request).status, SolveStatus::max_iterations);
  std::filesystem::remove(folder.path() / "kept.2");
  request.checkpoint.resume = true;
  for (int attempt = 0; attempt < 2; ++attempt) {  // the device has ended with the first
    try {
      solve(device, grid(), request);
      ADD_FAILURE() << "it returned";
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("kept.2: no checkpoint can be read"),
                std::string::npos)
          << error.what();
    }
  }
}

TEST(Followers, AFailureOfTheCallerEndsThem) {
  const Monitor fails = [](const MonitorState&) -> bool { throw std::runtime_error("enough"); };
  OfThreads device(3);
  EXPECT_THROW(solve(device, grid(), kLobpcg, fails), std::runtime_error);
}

TEST(Followers, WhatIsRefusedBeforeASolveLeavesThemAtWork) {
  OfThreads device(2);
  EXPECT_THROW(solve(device, grid(), {.method = Method::lobpcg, .nev = 9999}), InvalidArgument);
  EXPECT_THROW(solve(device, grid(),
                     {.method = Method::lobpcg, .preconditioner = {.type = "incomplete_cholesky"}}),
               InvalidArgument);
  EXPECT_EQ(solve(device, grid(), kLobpcg).status, SolveStatus::converged);
}

TEST(Followers, TakeNoPartInOtherWork) {
  OfThreads device(2);
  EXPECT_THROW(spectral_density(device, grid().A), InvalidArgument);
}

TEST(Followers, StopWithTheCaller) {
  Request request = kLobpcg;
  request.preconditioner.type = "none";
  request.tolerance = 1e-15;
  OfThreads device(2);
  Monitor stops = [](const MonitorState& state) { return state.record.iteration < 7; };
  const Solution stopped = solve(device, grid(), request, stops);
  EXPECT_EQ(stopped.status, SolveStatus::interrupted);
  request.time_limit_s = 1e-9;
  EXPECT_EQ(solve(device, grid(), request).status, SolveStatus::time_limit);
}

TEST(Devices, AreCountedBeforeASolve) {
  const auto refusal = [](const Request& request) -> std::string {
    try {
      device_for(request);
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  };
  EXPECT_EQ(refusal({.device = DeviceChoice::host, .devices = 2}),
            "devices: 2 GPUs were asked for with device: host");
  const std::string many = refusal({.devices = 1000});
  EXPECT_EQ(many.rfind("devices: 1000 GPUs were asked for, ", 0), 0u) << many;
  EXPECT_EQ(refusal({.device = DeviceChoice::host, .devices = 0}), "");
  const auto followers = detail::followers(2);
  try {
    device_for({.device = DeviceChoice::host, .devices = 2}, followers->leader());
    ADD_FAILURE();
  } catch (const RequestError& error) {
    EXPECT_EQ(std::string(error.what()),
              "devices: 2 GPUs were asked for, but a launcher started 2 processes, and each has "
              "one: take devices: 1");
  }
}

}  // namespace
}  // namespace heddle
