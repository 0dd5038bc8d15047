#include <gtest/gtest.h>

#include <algorithm>
#include <apps/linear_system_process.hpp>
#include <cmath>
#include <string>
#include <vector>

namespace heddle::apps {
namespace {

using heddle::test::listing;
using test::ProcessResult;

class CgProcess : public test::LinearSystemProcess {};

const std::string kLine =
    "problem: {matrix: {generate: laplace1d, size: [50]}, rhs: {unit: [1, 7, 50]}}\n"
    "solver: {type: block_cg}\n"
    "threads: 1\n"
    "output: {solution: mtx}\n";

/// Entry (i, j), from 1, of the inverse of the matrix of order n with 2 on and −1 beside the
/// diagonal.
double line_inverse(Index n, Index i, Index j) {
  return static_cast<double>(std::min(i, j) * (n + 1 - std::max(i, j))) /
         static_cast<double>(n + 1);
}

TEST_F(CgProcess, SolvesAndWritesWhatTheDesignSays) {
  const ProcessResult run = solve(kLine, {"--profile"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(listing(folder_.path() / "results/case-block_cg"),
            (std::set<std::string>{"result.json", "history.csv", "solution.mtx"}));
  const auto json = result();
  EXPECT_EQ(json.at("status"), "converged");
  EXPECT_EQ(json.at("solver"), "block_cg");
  EXPECT_EQ(json.at("n"), 50);
  EXPECT_EQ(json.at("problem").at("right_hand_sides"), 3);
  EXPECT_EQ(json.at("preconditioner"), "cholesky of A");
  EXPECT_GT(json.at("preconditioner_setup").at("bytes"), 0);
  EXPECT_GE(json.at("preconditioner_setup").at("seconds"), 0);
  EXPECT_GE(json.at("operator_applications"), json.at("matrix_passes"));
  EXPECT_FALSE(json.contains("eigenvalues"));
  for (std::size_t j = 0; j < 3; ++j) {
    EXPECT_LE(json.at("residuals").at(j), 1e-8);
    EXPECT_LE(json.at("backward_errors").at(j), json.at("residuals").at(j));
  }
  const std::string history = file("results/case-block_cg/history.csv");
  EXPECT_GT(std::count(history.begin(), history.end(), '\n'), 2);
  EXPECT_NE(run.out.find("backward error"), std::string::npos);
  EXPECT_NE(run.out.find("passes over A"), std::string::npos);
  EXPECT_NE(run.err.find("right-hand sides: 3 columns, unit vectors"), std::string::npos);

  const auto X = solution();
  const Index rows[] = {1, 7, 50};
  // ‖x − A⁻¹b‖ ≤ ‖A⁻¹‖ ‖r‖ with ‖A⁻¹‖₂ = 1/(4 sin²(π/102)) < 264 and ‖b‖ = 1.
  for (Index j = 0; j < 3; ++j) {
    for (Index i = 0; i < 50; ++i) {
      EXPECT_NEAR(X.view()(i, j), line_inverse(50, i + 1, rows[j]), 264 * 1e-8);
    }
  }
}

/// A ring of unit springs, whose null vector is constant, with a load that has no balance.
TEST_F(CgProcess, RemovesPartsAlongNullVectorsIfAsked) {
  const std::string ring =
      "problem: {matrix: ring.mtx, rhs: {unit: [2]}}\n"
      "threads: 1\n"
      "output: {solution: mtx}\n";
  std::string entries;
  for (int i = 1; i <= 20; ++i) {
    entries += std::to_string(i) + " " + std::to_string(i) + " 2\n";
    if (i > 1) entries += std::to_string(i) + " " + std::to_string(i - 1) + " -1\n";
  }
  folder_.write("ring.mtx", "%%MatrixMarket matrix coordinate real symmetric\n20 20 40\n" +
                                entries + "20 1 -1\n");
  const ProcessResult refused = solve(ring, {});
  EXPECT_EQ(refused.exit_code, 4) << refused.err;
  EXPECT_NE(result().at("reason").get<std::string>().find("project_rhs: true"), std::string::npos);
  EXPECT_NEAR(result().at("residuals").at(0), std::sqrt(1.0 / 20), 1e-9);
  const auto best = solution();
  const ProcessResult run = solve(ring, {"--project-rhs", "true"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const auto X = solution();
  for (Index i = 0; i < 20; ++i) {
    const double before = X.view()((i + 19) % 20, 0), behind = X.view()((i + 1) % 20, 0);
    const double load = 2 * X.view()(i, 0) - before - behind;
    EXPECT_NEAR(load, (i == 1 ? 1 : 0) - 1.0 / 20, 1e-7) << i;
    EXPECT_NEAR(best.view()(i, 0) - best.view()(0, 0), X.view()(i, 0) - X.view()(0, 0), 1e-6);
  }
}

TEST_F(CgProcess, EveryPreconditionerPrecisionAndAlgorithm) {
  const std::string grid =
      "problem: {matrix: {generate: laplace2d, size: [23, 19]}, rhs: {random: 5}}\n"
      "threads: 1\n";
  for (const std::string preconditioner :
       {"none", "jacobi", "block_jacobi", "chebyshev", "incomplete_cholesky"}) {
    for (const std::string algorithm : {"breakdown_free", "pseudo_block"}) {
      const ProcessResult run =
          solve(grid, {"--quiet", "--set", "solver.preconditioner.type=" + preconditioner, "--set",
                       "solver.algorithm=" + algorithm});
      EXPECT_EQ(run.exit_code, 0) << preconditioner << algorithm << run.err;
      EXPECT_LE(worst_residual(), 1e-8);
    }
  }
  for (const std::string precision : {"single", "mixed"}) {
    ASSERT_EQ(solve(grid, {"--set", "precision=" + precision}).exit_code, 0);
    const double tolerance = precision == "single" ? 1e-5 : 1e-8;
    EXPECT_LE(worst_residual(), tolerance);
    EXPECT_EQ(result().at("precision"), precision);
  }
}

TEST_F(CgProcess, FilesOfRightHandSidesAndGuesses) {
  folder_.write("b.mtx", [] {
    std::string text = "%%MatrixMarket matrix array real general\n50 2\n";
    for (int i = 0; i < 50; ++i) text += i == 6 ? "1\n" : "0\n";
    for (int i = 0; i < 50; ++i) text += "0\n";
    return text;
  }());
  ASSERT_EQ(solve(kLine, {"--set", "problem.rhs=b.mtx"}).exit_code, 0);
  EXPECT_EQ(result().at("problem").at("rhs"), "b.mtx");
  const auto X = solution();
  for (Index i = 0; i < 50; ++i) {
    EXPECT_NEAR(X.view()(i, 0), line_inverse(50, i + 1, 7), 264 * 1e-8);
    EXPECT_EQ(X.view()(i, 1), 0);
  }
  ASSERT_EQ(solve(kLine, {"--set", "problem.rhs=b.mtx", "--set",
                          "problem.initial_guess=results/case-block_cg/solution.mtx"})
                .exit_code,
            0);
  EXPECT_EQ(result().at("iterations"), 0);
}

TEST_F(CgProcess, CoordinatesAndNearNullVectorsForMultigrid) {
  const std::string body =
      "problem: {matrix: {generate: elasticity3d, size: [6, 6, 6]}, rhs: {random: 2}}\n"
      "solver: {type: block_cg, preconditioner: {type: multigrid}}\n"
      "threads: 1\n";
  ASSERT_EQ(solve(body, {"--profile"}).exit_code, 0);
  const auto levels = result().at("preconditioner_setup").at("levels");
  EXPECT_EQ(levels[1].at("rows"), 6 * levels[0].at("aggregates").get<int>());
  const int iterations = result().at("iterations");
  std::string points = "%%MatrixMarket matrix array real general\n294 3\n";
  std::string ones = "%%MatrixMarket matrix array real general\n882 1\n";
  for (int axis = 0; axis < 3; ++axis) {
    for (int node = 0; node < 294; ++node) {
      const int at[] = {node % 6 + 1, node / 6 % 7, node / 42};
      points += std::to_string(at[axis]) + "\n";
    }
  }
  for (int i = 0; i < 882; ++i) ones += "1\n";
  folder_.write("points.mtx", points);
  folder_.write("ones.mtx", ones);
  ASSERT_EQ(solve(body, {"--coordinates", "points.mtx"}).exit_code, 0);
  EXPECT_EQ(result().at("iterations"), iterations);
  EXPECT_EQ(result().at("inputs")[0].at("key"), "problem.coordinates");
  ASSERT_EQ(solve(body, {"--near-null", "ones.mtx"}).exit_code, 0);
  EXPECT_GT(result().at("iterations"), iterations);
  const ProcessResult unread =
      solve(body, {"--coordinates", "points.mtx", "--preconditioner", "jacobi"});
  EXPECT_EQ(unread.exit_code, 1);
  EXPECT_NE(unread.err.find("problem.coordinates does not go with solver.preconditioner.type: "
                            "jacobi"),
            std::string::npos)
      << unread.err;
  const ProcessResult wrong = solve(body, {"--coordinates", "ones.mtx"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_NE(wrong.err.find("ones.mtx: the positions are 882 x 1"), std::string::npos) << wrong.err;
}

TEST_F(CgProcess, EqualColumnsGiveEqualSolutions) {
  ASSERT_EQ(solve(kLine, {"--set", "problem.rhs={ones: 3}"}).exit_code, 0);
  const auto X = solution();
  for (Index i = 0; i < 50; ++i) {
    const double exact = 0.5 * static_cast<double>((i + 1) * (50 - i));
    for (Index j = 0; j < 3; ++j) EXPECT_NEAR(X.view()(i, j), exact, 264 * 1e-8 * std::sqrt(50.0));
  }
}

TEST_F(CgProcess, TheSameSeedGivesTheSameBits) {
  const auto digest = [this](const std::string& seed, const std::string& threads) {
    EXPECT_EQ(solve(kLine, {"--set", "problem.rhs={random: 4}", "--set", "seed=" + seed, "--set",
                            "threads=" + threads})
                  .exit_code,
              0);
    return file("results/case-block_cg/solution.mtx");
  };
  const std::string first = digest("1", "1");
  EXPECT_EQ(digest("1", "2"), first);
  EXPECT_NE(digest("2", "1"), first);
}

TEST_F(CgProcess, BadRightHandSidesAndGuesses) {
  folder_.write("short.mtx", "%%MatrixMarket matrix array real general\n2 1\n1\n1\n");
  folder_.write("x.mtx", [] {
    std::string text = "%%MatrixMarket matrix array real general\n50 1\n";
    for (int i = 0; i < 50; ++i) text += "1\n";
    return text;
  }());
  expect_refused(solve(kLine, {"--set", "problem.rhs=short.mtx"}), 2,
                 "short.mtx: the block has 2 rows, the matrix has order 50");
  expect_refused(solve(kLine, {"--set", "problem.initial_guess=x.mtx"}), 2,
                 "x.mtx: the initial guess has 1 columns, there are 3 right-hand sides");
  expect_refused_beginning(solve(kLine, {"--set", "problem.rhs=gone.mtx"}), 2, "gone.mtx: ");
  expect_refused(solve(kLine, {"--set", "problem.rhs.unit=[51]"}), 1,
                 "--set problem.rhs.unit=[51]: problem.rhs.unit: there is no row 51, the matrix "
                 "has order 50");
  expect_refused_beginning(solve("problem: {matrix: {generate: laplace1d, size: [1000000]},\n"
                                 "  rhs: {random: 1000000000}}\n"),
                           5, "the solve needs 8000000000000000 bytes ");
}

TEST_F(CgProcess, WhatIsRefused) {
  expect_refused(solve(kLine, {"--set", "solver.type=lobpcg"}), 1,
                 "--set solver.type=lobpcg: solver.type is lobpcg, heddle-cg solves with block_cg; "
                 "run heddle-lobpcg, or heddle solve for any type");
  expect_refused(solve(kLine, {"--set", "solver.nev=3"}), 1,
                 "--set solver.nev=3: solver.nev belongs to lobpcg and block_lanczos, this file is "
                 "for block_cg");
  folder_.write("a.mtx",
                "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 1\n2 2 1\n1 2 0.5\n");
  expect_refused(solve("problem: {matrix: a.mtx, rhs: {ones: 1}}"), 2,
                 "a.mtx: the matrix is not symmetric: entry (1, 2) is 0.5, entry (2, 1) is 0");
  expect_refused_beginning(solve(kLine + "device: cuda\n"), 5,
                           "case.yaml:5:9: device: cuda cannot be used: ");
}

TEST_F(CgProcess, AnIndefiniteMatrixAndLimitsEndWithResults) {
  folder_.write("a.mtx",
                "%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n1 1 1\n2 2 -1\n3 3 2\n");
  EXPECT_EQ(solve("problem: {matrix: a.mtx, rhs: {ones: 1}}").exit_code, 4);
  EXPECT_EQ(result().at("status"), "indefinite");
  const std::string grid =
      "problem: {matrix: {generate: laplace2d, size: [40, 41]}, rhs: {random: 2}}\n";
  EXPECT_EQ(solve(grid, {"--set", "solver.max_iterations=2"}).exit_code, 3);
  EXPECT_EQ(result().at("status"), "max_iterations");
  EXPECT_EQ(result().at("residuals").size(), 2u);
  EXPECT_EQ(solve(grid, {"--set", "solver.time_limit_s=1e-9"}).exit_code, 3);
  EXPECT_EQ(result().at("status"), "time_limit");
}

TEST_F(CgProcess, ValidateAndHelpSolveNothing) {
  const ProcessResult valid = solve(kLine, {"--validate"});
  EXPECT_EQ(valid.exit_code, 0);
  EXPECT_EQ(valid.out.rfind("case.yaml is valid and asks for\n", 0), 0u);
  const ProcessResult printed = solve(kLine, {"--print-config"});
  EXPECT_NE(printed.out.find("unit: [1, 7, 50]\n"), std::string::npos);
  EXPECT_EQ(solve(printed.out, {"--print-config"}).out, printed.out);
  EXPECT_NE(run({"--help-config"}).out.find("rhs:"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "results"));
}

TEST_F(CgProcess, ASignalEndsTheSolveWithTheResultsSoFar) {
  const ProcessResult run = interrupt(
      "problem: {matrix: {generate: laplace2d, size: [700, 701]}, rhs: {random: 8}}\n"
      "solver: {tolerance: 1e-11, preconditioner: {type: none}}\n"
      "threads: 1\n",
      SIGTERM);
  EXPECT_EQ(run.exit_code, 130) << run.err;
  EXPECT_EQ(result().at("status"), "interrupted");
  EXPECT_EQ(result().at("residuals").size(), 8u);
}

}  // namespace
}  // namespace heddle::apps
