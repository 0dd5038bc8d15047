#include <fmt/format.h>
#include <gtest/gtest.h>

#include <apps/executable.hpp>
#include <apps/process.hpp>
#include <apps/solver_process.hpp>
#include <filesystem>
#include <fstream>
#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/formats/formats.hpp>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <support/temporary_folder.hpp>
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

/// `heddle spmm --device cuda`; skipped, saying why, where there is no GPU.
class SpmmOnGpu : public testing::Test {
 protected:
  void SetUp() override {
    const std::string reason = cuda_unavailable_reason();
    if (!reason.empty()) GTEST_SKIP() << "skipped: " << reason;
  }

  test::ProcessResult run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {test::executable("heddle"), "spmm"});
    arguments.insert(arguments.end(), {"--device", "cuda"});
    return test::run_process(folder_.path(), arguments);
  }

  heddle::test::TemporaryFolder folder_;
};

TEST_F(SpmmOnGpu, EveryPrecisionKeepsItsBound) {
  double before = 1;
  for (const std::string precision : {"bf16", "half", "single", "double"}) {  // the roundest first
    const test::ProcessResult result =
        run({"stencil27:9,8,7", "--columns", "11", "--precision", precision, "--json"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const nlohmann::json json = nlohmann::json::parse(result.out);
    EXPECT_NE(json["device"], "the host");
    const double error = json["largest_error"];
    EXPECT_GT(error, 0);
    EXPECT_LT(error, before);
    EXPECT_LE(json["worst_share_of_bound"].get<double>(), 1);
    before = error;
  }
}

TEST_F(SpmmOnGpu, KernelsAreTakenByName) {
  for (const std::string kernel : {"row_split", "merge"}) {
    const test::ProcessResult result =
        run({"stencil27:9,8,7", "--columns", "11", "--kernel", kernel, "--json"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(nlohmann::json::parse(result.out)["kernel"], kernel);
  }
}

TEST_F(SpmmOnGpu, OrdersAreChosenByTheTimesOfThisGpu) {
  const test::ProcessResult natural = run(
      {"band:4000,40", "--columns", "8", "--precision", "bf16", "--order", "fastest", "--json"});
  ASSERT_EQ(natural.exit_code, 0) << natural.err;
  EXPECT_EQ(nlohmann::json::parse(natural.out)["order"], "natural");
  // A mesh in random order: rows i and 2017 i mod 4001 of a band of 4001 rows changed places.
  std::string text = "%%MatrixMarket matrix coordinate pattern general\n4001 4001 28007\n";
  for (int i = 0; i < 4001; ++i) {
    for (int d = -3; d <= 3; ++d) {
      const int row = i * 2017 % 4001 + 1;
      text += fmt::format("{} {}\n", row, (i + d + 4001) % 4001 * 2017 % 4001 + 1);
    }
  }
  folder_.write("shuffled.mtx", text);
  const test::ProcessResult clustered = run(
      {"shuffled.mtx", "--columns", "8", "--precision", "half", "--order", "fastest", "--json"});
  ASSERT_EQ(clustered.exit_code, 0) << clustered.err;
  const auto product = nlohmann::json::parse(clustered.out);
  EXPECT_EQ(product["order"], "rows and columns");
  EXPECT_LE(product["worst_share_of_bound"].get<double>(), 1);
}

TEST_F(SpmmOnGpu, WritesTheProductAndRefusesWhatItCannotHold) {
  folder_.write("A.mtx", "%%MatrixMarket matrix coordinate real general\n2 1 2\n1 1 3\n2 1 1e9\n");
  folder_.write("B.mtx", "%%MatrixMarket matrix array real general\n1 2\n0.5\n-2\n");
  ASSERT_EQ(run({"A.mtx", "--multiply", "B.mtx", "-o", "C.npy", "--precision", "half"}).exit_code,
            0);
  HostContext host;
  const auto C = read_block<double>(host, folder_.path() / "C.npy");
  EXPECT_EQ(C.view()(0, 0), 1.5);
  EXPECT_EQ(C.view()(0, 1), -6);
  EXPECT_NEAR(C.view()(1, 0), 5e8, 5e8 * 0x1p-10);
  EXPECT_NEAR(C.view()(1, 1), -2e9, 2e9 * 0x1p-10);
  const test::ProcessResult refused =
      run({"A.mtx", "--multiply", "B.mtx", "--precision", "half", "--no-scaling"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_NE(refused.err.find("entry (2, 1) of A is 1e+09"), std::string::npos) << refused.err;
}

/// Both formats give the same product with small integers.
TEST(SpgemmOnGpu, MultipliesInBothFormats) {
  const std::string reason = cuda_unavailable_reason();
  if (!reason.empty()) GTEST_SKIP() << "skipped: " << reason;
  const heddle::test::TemporaryFolder folder;
  for (const std::string format : {"csr", "dia"}) {
    SCOPED_TRACE(format);
    const test::ProcessResult run =
        test::run_process(folder.path(), {test::executable("heddle-spgemm"), "laplace2d:60,50",
                                          "--format", format, "--json", "-o", format + ".mtx"});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    const auto product = nlohmann::json::parse(run.out).at("products").at(0);
    EXPECT_EQ(product.at("format"), format);
    EXPECT_NE(product.at("device"), "the host");
  }
  EXPECT_FALSE(heddle::test::contents(folder.path() / "csr.mtx").empty());
  EXPECT_EQ(heddle::test::contents(folder.path() / "csr.mtx"),
            heddle::test::contents(folder.path() / "dia.mtx"));
}

}  // namespace
}  // namespace heddle::apps
