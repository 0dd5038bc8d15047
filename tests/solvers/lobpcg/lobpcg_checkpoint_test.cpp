#include <gtest/gtest.h>

#include <heddle/solvers/lobpcg/lobpcg.hpp>
#include <heddle/solvers/preconditioners/chebyshev/chebyshev.hpp>
#include <heddle/solvers/preconditioners/schedule/schedule.hpp>
#include <heddle/solvers/preconditioners/table.hpp>

#include "solvers/eigen_test_support.hpp"
#include "solvers/iteration/checkpoint_battery.hpp"
#include "support/file_size_limit.hpp"

namespace heddle {
namespace {

using test::make_operator;
using test::Outcome;

LobpcgOptions with(LobpcgOptions options, const CheckpointOptions& checkpoint) {
  options.checkpoint = checkpoint;
  return options;
}

TEST(LobpcgCheckpoint, PairsThatAreLockedOnTheWay) {
  test::expect_resumes_with_the_same_bits(
      [](const CheckpointOptions& checkpoint, const Monitor& monitor) {
        HostContext context;
        auto A = make_operator<double>(context, {"laplace2d", {31, 33}});
        LobpcgOptions options;
        options.nev = 24;
        options.block_size = 8;
        return test::outcome_of(
            lobpcg<double, HostContext>(context, {&A}, with(options, checkpoint), monitor));
      });
}

TEST(LobpcgCheckpoint, PencilWithPreconditionerAndConstraints) {
  test::expect_resumes_with_the_same_bits(
      [](const CheckpointOptions& checkpoint, const Monitor& monitor) {
        HostContext context;
        auto A = make_operator<double>(context, {"laplace3d", {9, 10, 11}});
        auto B = test::DiagonalOperator<double>(test::counting(A.rows(), 2));
        ChebyshevPreconditioner<double, HostContext> M(context, A.matrix());
        EigenProblem<double, HostContext> problem{&A, &B, &M};
        LobpcgOptions first;
        first.nev = 2;
        first.tolerance = 1e-12;
        const auto found = lobpcg<double, HostContext>(context, problem, first);
        problem.constraints = found.eigenvectors.columns(0, 2);
        LobpcgOptions options;
        options.nev = 5;
        options.tolerance = 1e-10;
        options.refresh_interval = 10;
        return test::outcome_of(
            lobpcg<double, HostContext>(context, problem, with(options, checkpoint), monitor));
      });
}

/// LOBPCG with a preconditioner in single precision that is raised on the way, or in double
/// precision from the start.
Outcome solve_lowered(bool lowered, Index max_iterations, const CheckpointOptions& checkpoint,
                      const Monitor& monitor,
                      ProductPrecision products = ProductPrecision::single_precision) {
  HostContext context;
  auto A = make_operator<double>(context, {"laplace2d", {31, 33}});
  const PreconditionerKind& kind = preconditioner_table().get("chebyshev");
  PreconditionerOptions chosen = kind.options();
  chosen.set_products(products);
  std::unique_ptr<Preconditioner<double, HostContext>> M;
  if (lowered) {
    M = kind.make_lowered(context, A.matrix(), chosen);
  } else {
    M = kind.make<double>(context, A.matrix(), chosen);
  }
  LobpcgOptions options;
  options.nev = 3;
  options.criterion = Criterion::norm;
  options.tolerance = 1e-13;
  options.max_iterations = max_iterations;
  const Outcome outcome = test::outcome_of(lobpcg<double, HostContext>(
      context, {&A, nullptr, M.get()}, with(options, checkpoint), monitor));
  if (lowered && outcome.status == SolveStatus::converged) {
    EXPECT_FALSE(M->schedule()->is_lowered());
  }
  return outcome;
}

TEST(LobpcgCheckpoint, APreconditionerThatIsRaisedOnTheWay) {
  test::expect_resumes_with_the_same_bits(
      [](const CheckpointOptions& checkpoint, const Monitor& monitor) {
        return solve_lowered(true, 1000, checkpoint, monitor);
      });
}

TEST(LobpcgCheckpoint, APreconditionerThatIsRaisedTwice) {
  test::expect_resumes_with_the_same_bits(
      [](const CheckpointOptions& checkpoint, const Monitor& monitor) {
        return solve_lowered(true, 1000, checkpoint, monitor, ProductPrecision::half);
      });
}

/// The preconditioner of a caller that solves more than once may have been raised before.
TEST(LobpcgCheckpoint, APreconditionerThatAnEarlierSolveHasRaised) {
  HostContext context;
  auto A = make_operator<double>(context, {"laplace2d", {31, 33}});
  const PreconditionerKind& kind = preconditioner_table().get("chebyshev");
  const test::TemporaryFolder folder;
  const auto solve = [&](bool raised, Index max_iterations, bool resume) {
    const auto M = kind.make_lowered(context, A.matrix(), kind.options());
    if (raised) M->schedule()->raise(context);
    LobpcgOptions options;
    options.nev = 3;
    options.max_iterations = max_iterations;
    options.checkpoint = {.file = folder.path() / "state", .every_s = 0, .resume = resume};
    const auto result = lobpcg<double, HostContext>(context, {&A, nullptr, M.get()}, options);
    EXPECT_EQ(M->schedule()->is_lowered(), !raised && !resume);
    return test::outcome_of(result);
  };
  const Outcome whole = solve(true, 1000, false);
  EXPECT_EQ(solve(true, 6, false).status, SolveStatus::max_iterations);
  const Outcome resumed = solve(false, 1000, true);
  EXPECT_EQ(resumed.status, SolveStatus::converged);
  EXPECT_EQ(resumed.numbers, whole.numbers);
}

TEST(LobpcgCheckpoint, ThePrecisionOfThePreconditionerBelongsToTheSolve) {
  const test::TemporaryFolder folder;
  const CheckpointOptions kept{.file = folder.path() / "state", .every_s = 0};
  EXPECT_EQ(solve_lowered(true, 4, kept, {}).status, SolveStatus::max_iterations);
  EXPECT_THROW(solve_lowered(false, 1000, {.file = kept.file, .resume = true}, {}), InputError);
  EXPECT_EQ(solve_lowered(true, 1000, {.file = kept.file, .resume = true}, {}).status,
            SolveStatus::converged);
}

TEST(LobpcgCheckpoint, SinglePrecisionAtTheLargestEnd) {
  test::expect_resumes_with_the_same_bits(
      [](const CheckpointOptions& checkpoint, const Monitor& monitor) {
        HostContext context;
        auto A = make_operator<float>(context, {"laplace2d", {25, 27}});
        LobpcgOptions options;
        options.nev = 3;
        options.which = Which::largest;
        return test::outcome_of(
            lobpcg<float, HostContext>(context, {&A}, with(options, checkpoint), monitor));
      });
}

Outcome solve_small(Index nev, Index max_iterations, const CheckpointOptions& checkpoint,
                    const Monitor& monitor) {
  HostContext context;
  auto A = make_operator<double>(context, {"laplace2d", {20, 21}});
  LobpcgOptions options;
  options.nev = nev;
  options.max_iterations = max_iterations;
  return test::outcome_of(
      lobpcg<double, HostContext>(context, {&A}, with(options, checkpoint), monitor));
}

TEST(LobpcgCheckpoint, BadFilesAreRefused) {
  const auto solve = [](Index nev) {
    return [nev](const CheckpointOptions& checkpoint, const Monitor& monitor) {
      return solve_small(nev, 1000, checkpoint, monitor);
    };
  };
  test::expect_refuses_bad_checkpoints(solve(4), solve(5));
}

TEST(LobpcgCheckpoint, AFileThatCannotBeWrittenEndsNothingIfSomebodyIsTold) {
  const test::TemporaryFolder folder;
  std::vector<std::string> reasons;
  CheckpointOptions checkpoint{.file = folder.path() / "state", .every_s = 0};
  const Outcome whole = solve_small(4, 1000, {}, {});
  const test::FileSizeLimit limit(20000);
  EXPECT_THROW(solve_small(4, 1000, checkpoint, {}), InputError);
  checkpoint.on_failure = [&](const std::string& reason) { reasons.push_back(reason); };
  test::expect_same_bits(solve_small(4, 1000, checkpoint, {}), whole);
  EXPECT_EQ(reasons.size(), whole.history.size());
  EXPECT_NE(reasons.front().find("cannot be written"), std::string::npos) << reasons.front();
  EXPECT_TRUE(test::listing(folder.path()).empty());
}

TEST(LobpcgCheckpoint, ItLiesBehindASymbolicLink) {
  const test::TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() / "far");
  CheckpointOptions checkpoint{.file = folder.path() / "state"};
  EXPECT_EQ(solve_small(4, 3, checkpoint, {}).status, SolveStatus::max_iterations);
  std::filesystem::rename(folder.path() / "state", folder.path() / "far/state");
  std::filesystem::create_symlink("far/state", folder.path() / "state");
  checkpoint.resume = true;
  EXPECT_EQ(solve_small(4, 5, checkpoint, {}).status, SolveStatus::max_iterations);
  EXPECT_TRUE(std::filesystem::is_symlink(folder.path() / "state"));
  EXPECT_EQ(solve_small(4, 1000, checkpoint, {}).status, SolveStatus::converged);
  EXPECT_TRUE(test::listing(folder.path() / "far").empty());
}

TEST(LobpcgCheckpoint, ARunGoesOnWithAHigherLimit) {
  const test::TemporaryFolder folder;
  CheckpointOptions checkpoint{.file = folder.path() / "state"};
  const Outcome whole = solve_small(4, 1000, {}, {});
  EXPECT_EQ(solve_small(4, 3, checkpoint, {}).status, SolveStatus::max_iterations);
  checkpoint.resume = true;
  EXPECT_EQ(solve_small(4, 3, checkpoint, {}).status, SolveStatus::max_iterations);
  test::expect_same_bits(solve_small(4, 1000, checkpoint, {}), whole);
}

}  // namespace
}  // namespace heddle
