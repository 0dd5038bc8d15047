#include <gtest/gtest.h>

#include <heddle/drivers/solve.hpp>
#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/gallery/gallery.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace heddle {
namespace {

const std::vector<Index> kSize{20, 21, 22};

Problem grid() { return {.A = Matrix::generate({.name = "laplace3d", .size = kSize})}; }

/// A program that solves on two GPUs. Skipped where there are not two.
class TwoGpus : public testing::Test {
 protected:
  void SetUp() override {
    const std::string reason = cuda_unavailable_reason(1);
    if (!reason.empty()) GTEST_SKIP() << "skipped: " << reason;
  }

  Request request_{.method = Method::lobpcg, .nev = 4, .device = DeviceChoice::cuda, .devices = 2};
};

TEST_F(TwoGpus, SolveAgainWithTheSameBits) {
  Device device = device_for(request_);
  EXPECT_EQ(device.gpus(), 2);
  EXPECT_EQ(device.kind(), "cuda");
  const Solution first = solve(device, grid(), request_);
  ASSERT_EQ(first.status, SolveStatus::converged) << first.reason;
  const std::vector<double> exact = laplace_smallest_eigenvalues(kSize, 4);
  for (std::size_t k = 0; k < exact.size(); ++k) {
    EXPECT_NEAR(first.eigenvalues[k], exact[k], 1e-7);
  }
  for (int attempt = 0; attempt < 10; ++attempt) {
    EXPECT_EQ(solve(device, grid(), request_).eigenvalues, first.eigenvalues);
  }
}

/// Multigrid of two GPUs takes about the iterations of one, and has the same bits again.
TEST_F(TwoGpus, WithMultigrid) {
  HostContext context(1);
  const GallerySpec spec{"elasticity3d", {12, 11, 10}};
  const Problem body{.A = Matrix::generate(spec),
                     .coordinates = Block(node_coordinates(context, spec))};
  Problem system = grid();
  const std::vector<double> ones(9240, 1);
  system.rhs = Block(9240, 1, ones);
  for (const auto& [problem, method] :
       {std::pair(grid(), Method::lobpcg), std::pair(body, Method::lobpcg),
        std::pair(system, Method::block_cg)}) {
    request_.method = method;
    if (!is_eigensolver(method)) request_.nev = Request{}.nev;
    request_.preconditioner.type = "multigrid";
    Request alone = request_;
    alone.devices = 1;
    const Solution one = solve(problem, alone);
    ASSERT_EQ(one.status, SolveStatus::converged) << one.reason;
    Device device = device_for(request_);
    const Solution two = solve(device, problem, request_);
    ASSERT_EQ(two.status, SolveStatus::converged) << two.reason;
    EXPECT_NEAR(static_cast<double>(two.iterations), static_cast<double>(one.iterations), 2);
    for (std::size_t k = 0; k < one.eigenvalues.size(); ++k) {
      EXPECT_NEAR(two.eigenvalues[k], one.eigenvalues[k], 2 * one.error_bounds[k]);
    }
    const Solution again = solve(device, problem, request_);
    EXPECT_EQ(again.residuals, two.residuals);
    EXPECT_EQ(again.iterations, two.iterations);
  }
}

/// Each GPU searches a part of an interval. Pairs nearest to a number are found by the first one.
TEST_F(TwoGpus, SolveByFactors) {
  Device device = device_for(request_);
  const Solution interval = solve(device, grid(), {.interval = RealInterval{0, 0.8}});
  ASSERT_EQ(interval.status, SolveStatus::converged) << interval.reason;
  EXPECT_EQ(interval.method, "slices");
  EXPECT_TRUE(interval.completeness.proven);
  const std::vector<double> exact = laplace_smallest_eigenvalues(kSize, interval.count() + 1);
  EXPECT_GT(exact.back(), 0.8);
  for (std::size_t k = 0; k + 1 < exact.size(); ++k) {
    EXPECT_NEAR(interval.eigenvalues[k], exact[k], 1e-10);
  }
  const Solution nearest = solve(device, grid(), {.nev = 5, .sigma = 0.0});
  ASSERT_EQ(nearest.status, SolveStatus::converged) << nearest.reason;
  for (std::size_t k = 0; k < 5; ++k) EXPECT_NEAR(nearest.eigenvalues[k], exact[k], 1e-10);
}

TEST_F(TwoGpus, OfTheRequest) {
  request_.devices = 0;
  EXPECT_EQ(solve(grid(), request_).status, SolveStatus::converged);
  request_.devices = 1000;
  EXPECT_THROW(solve(grid(), request_), DeviceError);
}

TEST_F(TwoGpus, AFailureEndsThemAndOthersSolve) {
  const Monitor fails = [](const MonitorState&) -> bool { throw std::runtime_error("enough"); };
  for (int attempt = 0; attempt < 3; ++attempt) {
    Device device = device_for(request_);
    EXPECT_THROW(solve(device, grid(), request_, fails), std::runtime_error);
    EXPECT_THROW(solve(device, grid(), request_), std::runtime_error);
  }
  EXPECT_EQ(solve(grid(), request_).status, SolveStatus::converged);
}

}  // namespace
}  // namespace heddle
