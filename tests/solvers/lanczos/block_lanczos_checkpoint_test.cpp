#include <gtest/gtest.h>

#include <heddle/solvers/lanczos/block_lanczos.hpp>

#include "solvers/eigen_test_support.hpp"
#include "solvers/iteration/checkpoint_battery.hpp"

namespace heddle {
namespace {

using test::make_operator;
using test::Outcome;

BlockLanczosOptions with(BlockLanczosOptions options, const CheckpointOptions& checkpoint) {
  options.checkpoint = checkpoint;
  return options;
}

TEST(BlockLanczosCheckpoint, LargestEndWithPairsThatAreLocked) {
  test::expect_resumes_with_the_same_bits(
      [](const CheckpointOptions& checkpoint, const Monitor& monitor) {
        HostContext context;
        auto A = make_operator<double>(context, {"laplace2d", {31, 33}});
        BlockLanczosOptions options;
        options.nev = 12;
        options.which = Which::largest;
        options.filter = LanczosFilter::none;
        options.block_size = 4;
        options.tolerance = 1e-12;
        return test::outcome_of(
            block_lanczos<double, HostContext>(context, {&A}, with(options, checkpoint), monitor));
      });
}

TEST(BlockLanczosCheckpoint, FilteredInSinglePrecision) {
  test::expect_resumes_with_the_same_bits(
      [](const CheckpointOptions& checkpoint, const Monitor& monitor) {
        HostContext context;
        auto A = make_operator<float>(context, {"laplace1d", {900}});
        BlockLanczosOptions options;
        options.nev = 5;
        options.block_size = 2;
        return test::outcome_of(
            block_lanczos<float, HostContext>(context, {&A}, with(options, checkpoint), monitor));
      });
}

/// The smallest end of a chain, by polynomials of hundreds of products.
EigenResult<double, HostSpace> solve_filtered(HostContext& context,
                                              const CheckpointOptions& checkpoint,
                                              const Monitor& monitor, Index& products) {
  auto A = make_operator<double>(context, {"laplace1d", {900}});
  BlockLanczosOptions options;
  options.nev = 5;
  options.block_size = 2;
  options.max_basis = 22;
  options.filter = LanczosFilter::chebyshev;
  auto result =
      block_lanczos<double, HostContext>(context, {&A}, with(options, checkpoint), monitor);
  products = A.columns_applied();
  return result;
}

TEST(BlockLanczosCheckpoint, ARequestWithinAPolynomialIsObeyedAndLosesNoBits) {
  const heddle::test::TemporaryFolder folder;
  const CheckpointOptions keep{.file = folder.path() / "state"};
  CheckpointOptions go_on = keep;
  go_on.resume = true;
  HostContext context;
  Index products = 0;
  const Outcome whole = test::outcome_of(solve_filtered(context, {}, {}, products));
  for (const Index polls : {1, 100, 500, 1200}) {
    SCOPED_TRACE(polls);
    Index asked = 0;
    Index at_request = 0;
    Monitor monitor;
    monitor.stop = [&] { return ++asked >= polls; };
    const auto stopped = solve_filtered(context, keep, monitor, at_request);
    EXPECT_EQ(stopped.status, SolveStatus::interrupted);
    EXPECT_EQ(stopped.reason.rfind("stopped on request", 0), 0u) << stopped.reason;
    // One block per poll, and the products that verify the pairs so far.
    EXPECT_LT(at_request, 2 * polls + 200);
    EXPECT_LT(at_request, products);
    ASSERT_TRUE(std::filesystem::exists(keep.file));
    const Outcome resumed = test::outcome_of(solve_filtered(context, go_on, {}, at_request));
    EXPECT_EQ(resumed.status, SolveStatus::converged);
    EXPECT_EQ(resumed.iterations, whole.iterations);
    EXPECT_EQ(resumed.numbers, whole.numbers);
  }
}

TEST(BlockLanczosCheckpoint, PencilByAnInverse) {
  test::expect_resumes_with_the_same_bits(
      [](const CheckpointOptions& checkpoint, const Monitor& monitor) {
        HostContext context;
        auto A = make_operator<double>(context, {"elasticity3d", {5, 5, 5}});
        auto B = make_operator<double>(context, {"elasticity3d_mass", {5, 5, 5}});
        ShiftedInverse<double, HostContext> inverse(A.matrix(), B.matrix());
        BlockLanczosOptions options;
        options.nev = 12;
        options.block_size = 3;
        options.max_basis = 21;
        return test::outcome_of(block_lanczos<double, HostContext>(
            context, {.A = &A, .B = &B, .shifted_inverse = &inverse}, with(options, checkpoint),
            monitor));
      });
}

Outcome solve_small(Index nev, const CheckpointOptions& checkpoint, const Monitor& monitor,
                    double time_limit_s = 1e9) {
  HostContext context;
  auto A = make_operator<double>(context, {"laplace2d", {20, 21}});
  BlockLanczosOptions options;
  options.nev = nev;
  options.block_size = 2;
  options.max_basis = nev + 16;
  options.time_limit_s = time_limit_s;
  return test::outcome_of(
      block_lanczos<double, HostContext>(context, {&A}, with(options, checkpoint), monitor));
}

TEST(BlockLanczosCheckpoint, BadFilesAreRefused) {
  const auto solve = [](Index nev) {
    return [nev](const CheckpointOptions& checkpoint, const Monitor& monitor) {
      return solve_small(nev, checkpoint, monitor);
    };
  };
  test::expect_refuses_bad_checkpoints(solve(4), solve(5));
}

TEST(BlockLanczosCheckpoint, ACycleThatTheClockCutShortIsCompleted) {
  const test::TemporaryFolder folder;
  CheckpointOptions checkpoint{.file = folder.path() / "state"};
  const Outcome whole = solve_small(4, {}, {});
  EXPECT_EQ(solve_small(4, checkpoint, {}, 0).status, SolveStatus::time_limit);
  checkpoint.resume = true;
  EXPECT_EQ(solve_small(4, checkpoint, {}, 0).status, SolveStatus::time_limit);
  test::expect_same_bits(solve_small(4, checkpoint, {}), whole);
}

}  // namespace
}  // namespace heddle
