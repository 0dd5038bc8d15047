#include <apps/difference_matrix.hpp>
#include <apps/linear_system_process.hpp>
#include <cmath>
#include <string>
#include <vector>

namespace heddle::apps {
namespace {

using heddle::test::listing;
using test::ProcessResult;

class LeastSquaresProcess : public test::LinearSystemProcess {
 protected:
  /// A dense file of `rows` rows and `cols` columns of ones.
  void write_ones(const std::string& name, int rows, int cols) {
    std::string text = "%%MatrixMarket matrix array real general\n" + std::to_string(rows) + " " +
                       std::to_string(cols) + "\n";
    for (int i = 0; i < rows * cols; ++i) text += "1\n";
    folder_.write(name, text);
  }
};

const std::string kDifferences =
    "problem: {matrix: d.mtx, transform: normal_equations, rhs: {unit: [1, 7, 50]}}\n"
    "threads: 1\n"
    "output: {solution: mtx}\n";

/// Entry (i, k), from 1, of the pseudoinverse of D, (n+1)×n with (D x)_i = x_i − x_{i−1} where
/// x_0 = x_{n+1} = 0: the steps nearest to e_k that sum up to zero are e_k − 1/(n+1).
double pseudoinverse(Index n, Index i, Index k) {
  const auto length = static_cast<double>(n + 1);
  return i >= k ? 1 - static_cast<double>(i) / length : -static_cast<double>(i) / length;
}

TEST_F(LeastSquaresProcess, OfATallMatrix) {
  constexpr Index kRows = 51;
  constexpr Index kCols = 50;
  folder_.write("d.mtx", test::difference_matrix(kCols));
  const ProcessResult run = solve(kDifferences);
  ASSERT_EQ(run.exit_code, 0) << run.err << run.out;
  EXPECT_EQ(listing(folder_.path() / "results/case-block_cg"),
            (std::set<std::string>{"result.json", "history.csv", "solution.mtx"}));
  EXPECT_NE(run.err.find("min |b - A x|, A of 51 x 50, right-hand sides: 3 columns, unit vectors"),
            std::string::npos)
      << run.err;
  EXPECT_EQ(run.out.rfind("column  residual       |b - A x|\n", 0), 0u) << run.out;
  EXPECT_NE(run.out.find(" columns multiplied by A or A^T\n"), std::string::npos) << run.out;
  const auto json = result();
  EXPECT_EQ(json.at("n"), kRows);
  EXPECT_EQ(json.at("problem").at("cols"), kCols);
  EXPECT_EQ(json.at("preconditioner"), "none");
  EXPECT_FALSE(json.contains("backward_errors"));
  EXPECT_FALSE(json.contains("matrix_passes"));
  const auto X = solution();
  ASSERT_EQ(X.rows(), kCols);
  const Index steps[] = {1, 7, 50};
  // ‖x − A⁺b‖ ≤ ‖(AᵀA)⁻¹‖ ‖Aᵀ(b − A x)‖ with ‖(AᵀA)⁻¹‖₂ = 1/(4 sin²(π/102)) < 264, ‖Aᵀb‖ ≤ √2.
  constexpr double kTolerance = 264 * 1.5 * 1e-8;
  for (Index j = 0; j < 3; ++j) {
    const auto column = static_cast<std::size_t>(j);
    EXPECT_LE(json.at("residuals").at(column), 1e-8);
    // What is left of b is in the direction of ones, the null space of Aᵀ.
    EXPECT_NEAR(json.at("residual_norms").at(column), 1 / std::sqrt(51.0), kTolerance);
    for (Index i = 0; i < kCols; ++i) {
      EXPECT_NEAR(X.view()(i, j), pseudoinverse(kCols, i + 1, steps[j]), kTolerance);
    }
  }
}

TEST_F(LeastSquaresProcess, OfAWideMatrixItIsTheSolutionOfLeastNorm) {
  folder_.write("d.mtx", test::difference_matrix(50, true));
  ASSERT_EQ(solve(kDifferences).exit_code, 0);
  const auto json = result();
  EXPECT_EQ(json.at("n"), 50);
  EXPECT_EQ(json.at("problem").at("cols"), 51);
  const auto X = solution();
  ASSERT_EQ(X.rows(), 51);
  for (Index j = 0; j < 3; ++j) {
    double sum = 0;  // the part in the null space, the direction of ones
    for (Index i = 0; i < X.rows(); ++i) sum += X.view()(i, j);
    EXPECT_NEAR(sum, 0, 1e-10);
    EXPECT_LE(json.at("residual_norms").at(static_cast<std::size_t>(j)), 264 * 2e-8);
  }
}

TEST_F(LeastSquaresProcess, EveryPreconditionerPrecisionAndAlgorithm) {
  const std::string problem =
      "problem: {matrix: {generate: random_uniform, size: [300, 90]}, rhs: {random: 5},\n"
      "  transform: normal_equations}\n"
      "threads: 1\n";
  ASSERT_EQ(solve(problem).exit_code, 0);
  const auto expected = result().at("residual_norms").get<std::vector<double>>();
  const auto expect_same = [&](const std::string& key, double tolerance) {
    SCOPED_TRACE(key);
    const ProcessResult run = solve(problem, {"--set", key});
    ASSERT_EQ(run.exit_code, 0) << run.err << run.out;
    EXPECT_LE(worst_residual(), tolerance);
    for (std::size_t j = 0; j < expected.size(); ++j) {
      EXPECT_NEAR(result().at("residual_norms").at(j), expected[j], tolerance * expected[j]);
    }
  };
  expect_same("solver.preconditioner.type=jacobi", 1e-8);
  EXPECT_EQ(result().at("preconditioner"), "jacobi of A^T A");
  EXPECT_GT(result().at("preconditioner_setup").at("bytes"), 0);
  expect_same("solver.algorithm=pseudo_block", 1e-8);
  expect_same("precision=single", 1e-5);
  expect_same("precision=mixed", 1e-8);
}

TEST_F(LeastSquaresProcess, BeginsWithAGuess) {
  folder_.write("d.mtx", test::difference_matrix(50));
  ASSERT_EQ(solve(kDifferences, {"--set", "solver.tolerance=1e-12"}).exit_code, 0);
  std::filesystem::copy_file(folder_.path() / "results/case-block_cg/solution.mtx",
                             folder_.path() / "x.mtx");
  ASSERT_EQ(solve(kDifferences, {"--set", "problem.initial_guess=x.mtx"}).exit_code, 0);
  EXPECT_EQ(result().at("iterations"), 0);
  EXPECT_EQ(result().at("problem").at("initial_guess"), 3);
}

TEST_F(LeastSquaresProcess, LimitsEndWithResults) {
  folder_.write("d.mtx", test::difference_matrix(50));
  EXPECT_EQ(solve(kDifferences, {"--set", "solver.max_iterations=2"}).exit_code, 3);
  EXPECT_EQ(result().at("status"), "max_iterations");
  EXPECT_EQ(result().at("iterations"), 2);
  EXPECT_EQ(result().at("residual_norms").size(), 3u);
  EXPECT_EQ(solve(kDifferences, {"--set", "solver.time_limit_s=1e-9"}).exit_code, 3);
  EXPECT_EQ(result().at("status"), "time_limit");
}

TEST_F(LeastSquaresProcess, BadInputs) {
  folder_.write("d.mtx", test::difference_matrix(50));
  write_ones("b50.mtx", 50, 3);
  write_ones("x51.mtx", 51, 3);
  write_ones("x2.mtx", 50, 2);
  const auto refused = [this](const std::string& key, int code, const std::string& message) {
    expect_refused(solve(kDifferences, {"--set", key}), code, message);
  };
  refused("problem.rhs=b50.mtx", 2, "b50.mtx: the block has 50 rows, the matrix has 51 rows");
  refused("problem.initial_guess=x51.mtx", 2,
          "x51.mtx: the block has 51 rows, the matrix has 50 columns");
  refused("problem.initial_guess=x2.mtx", 2,
          "x2.mtx: the initial guess has 2 columns, there are 3 right-hand sides");
  refused("problem.rhs.unit=[52]", 1,
          "--set problem.rhs.unit=[52]: problem.rhs.unit: there is no row 52, the matrix has 51 "
          "rows");
  refused("checkpoint={file: state}", 1,
          "--set checkpoint={file: state}: checkpoint.file does not go with transform: "
          "normal_equations");
  refused("problem.transform=laplacian", 1,
          "--set problem.transform=laplacian: problem.transform: expected none or "
          "normal_equations, got 'laplacian'");
  refused("problem.transform=none", 2,
          "d.mtx: the matrix is 51 x 50, it must be square; normal_equations finds its singular "
          "values, or least-squares solutions");
  for (const std::string type : {"block_jacobi", "chebyshev", "incomplete_cholesky"}) {
    const std::string key = "solver.preconditioner.type=" + type;
    refused(key, 1,
            "--set " + key + ": solver.preconditioner.type: " + type +
                " needs a matrix's entries, of A^T A only products and the diagonal are there");
  }
  folder_.write("d.mtx", "%%MatrixMarket matrix coordinate real general\n4 0 0\n");
  expect_refused(solve(kDifferences), 2, "d.mtx: the matrix is 4 x 0, it has no entries");
}

/// AᵀA would be zero in single precision. In double precision, the matrix is scaled.
TEST_F(LeastSquaresProcess, RefusesEntriesWhoseSquaresAreOutOfRange) {
  const auto refused = [this](const std::string& entry, const std::string& precision,
                              const std::string& message) {
    folder_.write("d.mtx", "%%MatrixMarket matrix coordinate real general\n3 2 2\n1 1 " + entry +
                               "\n2 2 " + entry + "\n");
    expect_refused(solve("problem: {matrix: d.mtx, transform: normal_equations, rhs: {ones: 1}}\n",
                         {"--set", "precision=" + precision}),
                   2, "d.mtx: " + message);
  };
  for (const std::string precision : {"single", "mixed"}) {
    refused(
        "1e-25", precision,
        "the largest entry of the matrix is 1e-25, A^T A in single precision needs 3.1e-16: use "
        "precision: double");
  }
}

TEST_F(LeastSquaresProcess, ValidateSolvesNothing) {
  folder_.write("d.mtx", test::difference_matrix(50));
  const ProcessResult run = solve(kDifferences, {"--validate"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_NE(run.out.find("min |b - A x|, A of 51 x 50"), std::string::npos) << run.out;
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "results"));
}

}  // namespace
}  // namespace heddle::apps
