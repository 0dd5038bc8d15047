#include <gtest/gtest.h>

#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/solvers/cg/block_cg.hpp>
#include <heddle/solvers/preconditioners/jacobi/jacobi.hpp>
#include <heddle/solvers/preconditioners/schedule/schedule.hpp>
#include <heddle/solvers/preconditioners/table.hpp>

#include "solvers/eigen_test_support.hpp"
#include "solvers/iteration/checkpoint_battery.hpp"

namespace heddle {
namespace {

using test::make_operator;
using test::Outcome;

/// Columns of unlike difficulty, so that some leave before others: random ones, one of a smooth
/// solution, one of zeros, and one that depends on others.
template <Scalar T>
MultiVector<T, HostSpace> right_hand_sides(HostContext& context, LinearOperator<T, HostContext>& A,
                                           std::uint64_t seed) {
  const Index n = A.rows();
  MultiVector<T, HostSpace> B(context, n, 7);
  MultiVector<T, HostSpace> ones(context, n, 1);
  fill_random<T>(context, seed, 0, B.view());
  for (Index i = 0; i < n; ++i) {
    ones.view()(i, 0) = 1;
    B.view()(i, 3) = 0;
    B.view()(i, 5) = B.view()(i, 0) + 2 * B.view()(i, 1);
  }
  A.apply(context, ones.view(), B.columns(2, 1));
  return B;
}

template <Scalar T>
Outcome solve(const GallerySpec& matrix, BlockCgOptions options, bool preconditioned,
              const CheckpointOptions& checkpoint, const Monitor& monitor, std::uint64_t seed = 3) {
  HostContext context;
  auto A = make_operator<T>(context, matrix);
  const auto B = right_hand_sides<T>(context, A, seed);
  JacobiPreconditioner<T, HostContext> M(context, A.matrix());
  options.checkpoint = checkpoint;
  options.refresh_interval = 9;
  const LinearSystem<T, HostContext> system{&A, preconditioned ? &M : nullptr, B.view(), {}};
  return test::outcome_of(block_cg<T, HostContext>(context, system, options, monitor));
}

TEST(BlockCgCheckpoint, BreakdownFree) {
  test::expect_resumes_with_the_same_bits(
      [](const CheckpointOptions& checkpoint, const Monitor& monitor) {
        return solve<double>({"laplace2d", {25, 27}}, {}, true, checkpoint, monitor);
      });
}

/// Block Jacobi with blocks of one row in bfloat16 makes the solve so slow that it is raised twice.
TEST(BlockCgCheckpoint, APreconditionerThatIsRaisedOnTheWay) {
  test::expect_resumes_with_the_same_bits(
      [](const CheckpointOptions& checkpoint, const Monitor& monitor) {
        HostContext context;
        auto A = make_operator<double>(context, {"laplace2d", {45, 47}});
        const auto B = right_hand_sides<double>(context, A, 5);
        const PreconditionerKind& kind = preconditioner_table().get("block_jacobi");
        PreconditionerOptions chosen = kind.options({{"block_size", Index{1}}});
        chosen.set_products(ProductPrecision::bf16);
        const auto M = kind.make_lowered(context, A.matrix(), chosen);
        BlockCgOptions options;
        options.checkpoint = checkpoint;
        const LinearSystem<double, HostContext> system{&A, M.get(), B.view(), {}};
        const auto solved = block_cg<double, HostContext>(context, system, options, monitor);
        if (solved.status == SolveStatus::converged) {
          EXPECT_FALSE(M->schedule()->is_lowered());
        }
        return test::outcome_of(solved);
      });
}

/// One column begins with the diagonal, and chebyshev takes over after 24 steps.
TEST(BlockCgCheckpoint, APreconditionerThatBecomesAnotherOneOnTheWay) {
  for (const CgAlgorithm algorithm : {CgAlgorithm::breakdown_free, CgAlgorithm::pseudo_block}) {
    test::expect_resumes_with_the_same_bits([&](const CheckpointOptions& checkpoint,
                                                const Monitor& monitor) {
      HostContext context;
      auto A = make_operator<double>(context, {"laplace2d", {45, 47}});
      const auto B = right_hand_sides<double>(context, A, 5);
      bool changed = false;
      using Schedule = PreconditionerSchedule<double, HostContext>;
      const auto choose = [&](HostContext& later, double) {
        changed = true;
        const PreconditionerKind& kind = preconditioner_table().get("chebyshev");
        Schedule::Stage stage(kind.make<double, HostContext>(later, A.matrix(), kind.options()));
        return Schedule::Choice{std::move(stage)};
      };
      Schedule M(Schedule::Stage(
          std::make_unique<JacobiPreconditioner<double, HostContext>>(context, A.matrix())));
      M.choose_by_steps(choose);
      BlockCgOptions options;
      options.algorithm = algorithm;
      options.checkpoint = checkpoint;
      const LinearSystem<double, HostContext> system{&A, &M, B.columns(0, 1), {}};
      const auto solved = block_cg<double, HostContext>(context, system, options, monitor);
      if (solved.status == SolveStatus::converged) {
        EXPECT_TRUE(changed);
      }
      return test::outcome_of(solved);
    });
  }
}

TEST(BlockCgCheckpoint, PseudoBlock) {
  BlockCgOptions options;
  options.algorithm = CgAlgorithm::pseudo_block;
  test::expect_resumes_with_the_same_bits(
      [&](const CheckpointOptions& checkpoint, const Monitor& monitor) {
        return solve<double>({"laplace2d", {25, 27}}, options, true, checkpoint, monitor);
      });
}

TEST(BlockCgCheckpoint, SinglePrecisionWithoutPreconditioner) {
  test::expect_resumes_with_the_same_bits(
      [](const CheckpointOptions& checkpoint, const Monitor& monitor) {
        return solve<float>({"laplace2d", {25, 27}}, {}, false, checkpoint, monitor);
      });
}

TEST(BlockCgCheckpoint, TheDefaultToleranceAndTheSameOneGivenAreOne) {
  const test::TemporaryFolder folder;
  const CheckpointOptions keep{.file = folder.path() / "state"};
  CheckpointOptions go_on = keep;
  go_on.resume = true;
  BlockCgOptions given;
  given.tolerance = kDefaultTolerance<double>;
  solve<double>({"laplace2d", {20, 21}}, {}, true, keep,
                [](const MonitorState& state) { return state.record.iteration < 2; });
  EXPECT_EQ(solve<double>({"laplace2d", {20, 21}}, given, true, go_on, {}).status,
            SolveStatus::converged);
}

TEST(BlockCgCheckpoint, BadFilesAreRefused) {
  const auto with = [](double tolerance, std::uint64_t seed) {
    return [=](const CheckpointOptions& checkpoint, const Monitor& monitor) {
      BlockCgOptions options;
      options.tolerance = tolerance;
      return solve<double>({"laplace2d", {20, 21}}, options, true, checkpoint, monitor, seed);
    };
  };
  test::expect_refuses_bad_checkpoints(with(1e-8, 3), with(1e-9, 3));
  test::expect_refuses_bad_checkpoints(with(1e-8, 3), with(1e-8, 4));
}

}  // namespace
}  // namespace heddle
