#include <gtest/gtest.h>

#include <apps/solver_process.hpp>
#include <filesystem>
#include <heddle/linalg/context/cuda_context.hpp>
#include <string>
#include <vector>

#include "support/matrix_dir.hpp"

namespace heddle::apps {
namespace {

/// A solver on a GPU; skipped, saying why, where there is none.
class OnGpu : public test::SolverProcess {
 protected:
  using SolverProcess::SolverProcess;

  void SetUp() override {
    const std::string reason = cuda_unavailable_reason();
    if (!reason.empty()) GTEST_SKIP() << "skipped: " << reason;
  }

  test::ProcessResult solve_on(const std::string& device, const std::string& yaml,
                               std::vector<std::string> arguments = {}) {
    arguments.insert(arguments.end(), {"--quiet", "--set", "device=" + device});
    return solve(yaml, arguments, true);
  }
};

class LanczosOnGpu : public OnGpu {
 protected:
  LanczosOnGpu() : OnGpu("heddle-lanczos") {}
};

class CgOnGpu : public OnGpu {
 protected:
  CgOnGpu() : OnGpu("heddle-cg") {}
};

TEST_F(LanczosOnGpu, FindsTheEigenvaluesThatTheHostFinds) {
  const std::string cube = "problem: {matrix: {generate: laplace3d, size: [12, 13, 14]}}\n";
  const std::string elastic =
      "problem:\n"
      "  matrix: {generate: elasticity3d, size: [4, 4, 4]}\n"
      "  mass: {generate: elasticity3d_mass, size: [4, 4, 4]}\n";
  for (const std::string& text :
       {cube + "solver: {nev: 6, tolerance: 1e-10}\n",
        cube + "solver: {nev: 6, which: largest, tolerance: 1e-10}\n",
        elastic + "solver: {nev: 3, which: largest, tolerance: 1e-10}\n"}) {
    ASSERT_EQ(solve_on("host", text).exit_code, 0) << text;
    const auto expected = result().at("eigenvalues").get<std::vector<double>>();
    ASSERT_EQ(solve_on("cuda", text).exit_code, 0) << text;
    EXPECT_EQ(result().at("device"), "cuda");
    const auto found = result().at("eigenvalues").get<std::vector<double>>();
    ASSERT_EQ(found.size(), expected.size());
    // Residuals of 1e-10 (‖A‖ + |λ| ‖B‖); 100 stands above ‖A‖, ‖B‖ and ‖B⁻¹‖ of all three.
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_NEAR(found[i], expected[i], 1e-10 * 100 * 100) << text << i;
    }
  }
}

/// CG with this mass matrix takes hundreds of iterations per product, each of ten launches.
TEST_F(LanczosOnGpu, FactorsAMassMatrixThatIsSmall) {
  const auto folder = heddle::test::matrix_dir();
  if (!folder) GTEST_SKIP() << "no matrix folder";
  const std::string pencil = "problem: {matrix: " + (*folder / "bcsstk07.mtx").string() +
                             ", mass: " + (*folder / "bcsstm07.mtx").string() + "}\n";
  for (const std::string end : {"smallest", "largest"}) {
    ASSERT_EQ(solve_on("cuda", pencil + "solver: {nev: 6, which: " + end + "}\n").exit_code, 0);
    EXPECT_GT(result().at("phases").at("factorization").at("seconds"), 0) << end;
  }
}

TEST_F(CgOnGpu, SolvesWithEachPreconditionerAndPrecision) {
  const std::string cube =
      "problem: {matrix: {generate: laplace3d, size: [12, 13, 14]}, rhs: {random: 8}}\n";
  for (const std::string preconditioner :
       {"none", "jacobi", "block_jacobi", "chebyshev", "incomplete_cholesky"}) {
    ASSERT_EQ(
        solve_on("cuda", cube, {"--set", "solver.preconditioner.type=" + preconditioner}).exit_code,
        0)
        << preconditioner;
    EXPECT_EQ(result().at("device"), "cuda");
    EXPECT_LE(worst_residual(), 1e-8);
  }
  for (const std::string precision : {"single", "mixed"}) {
    ASSERT_EQ(solve_on("cuda", cube, {"--set", "precision=" + precision}).exit_code, 0);
    const double tolerance = precision == "single" ? 1e-5 : 1e-8;
    EXPECT_LE(worst_residual(), tolerance);
  }
}

TEST_F(CgOnGpu, SolvesLeastSquares) {
  const std::string problem =
      "problem: {matrix: {generate: random_uniform, size: [300, 90]}, rhs: {random: 5},\n"
      "  transform: normal_equations}\n";
  ASSERT_EQ(solve_on("host", problem).exit_code, 0);
  const auto expected = result().at("residual_norms").get<std::vector<double>>();
  for (const std::string preconditioner : {"none", "jacobi"}) {
    ASSERT_EQ(solve_on("cuda", problem, {"--set", "solver.preconditioner.type=" + preconditioner})
                  .exit_code,
              0)
        << preconditioner;
    EXPECT_EQ(result().at("device"), "cuda");
    EXPECT_LE(worst_residual(), 1e-8);
    for (std::size_t j = 0; j < expected.size(); ++j) {
      EXPECT_NEAR(result().at("residual_norms").at(j), expected[j], 1e-8 * expected[j]);
    }
  }
}

TEST_F(CgOnGpu, TrianglesAreSolvedByLevelsOrIterated) {
  for (const std::string solves : {"auto", "levels", "iterated"}) {
    ASSERT_EQ(
        solve_on("cuda",
                 "problem: {matrix: {generate: laplace2d, size: [40, 41]}, rhs: {random: 5}}\n"
                 "solver: {preconditioner: {type: incomplete_cholesky, triangular_solve: " +
                     solves + "}}\n")
            .exit_code,
        0)
        << solves;
    EXPECT_EQ(result().at("device"), "cuda");
    EXPECT_LE(worst_residual(), 1e-8);
  }
}

}  // namespace
}  // namespace heddle::apps
