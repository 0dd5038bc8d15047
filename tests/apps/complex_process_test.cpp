#include <gtest/gtest.h>

#include <algorithm>
#include <apps/solver_process.hpp>
#include <cmath>
#include <complex>
#include <numbers>
#include <sstream>
#include <string>
#include <support/temporary_folder.hpp>
#include <vector>

/// Complex matrices and blocks from files and generators, solved by the programs.
namespace heddle::apps {
namespace {

using Complex = std::complex<double>;
using heddle::test::contents;
using test::ProcessResult;

/// The Hermitian matrix [2, i, 0; −i, 2, 0; 0, 0, 5], which has the eigenvalues 1, 3 and 5.
constexpr const char* kHermitian =
    "%%MatrixMarket matrix coordinate complex hermitian\n3 3 4\n"
    "1 1 2 0\n2 1 0 -1\n2 2 2 0\n3 3 5 0\n";

class ComplexSolveProcess : public test::SolverProcess {
 protected:
  ComplexSolveProcess() : SolverProcess("heddle") {}

  ProcessResult run_solve(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "solve");
    arguments.insert(arguments.end(), {"--threads", "2", "-o", "out"});
    return run(arguments);
  }

  void expect_error(const ProcessResult& run, int code, const std::string& message) {
    EXPECT_EQ(run.exit_code, code) << run.err;
    EXPECT_EQ(run.err, "heddle solve: error: " + message + "\n");
    EXPECT_EQ(run.out, "");
  }

  std::vector<double> eigenvalues() {
    return result("out").at("eigenvalues").get<std::vector<double>>();
  }
};

TEST_F(ComplexSolveProcess, EigenpairsOfAHermitianFile) {
  folder_.write("A.mtx", kHermitian);
  const ProcessResult run = run_solve({"A.mtx", "-n", "2", "--set", "output.eigenvectors=mtx"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_TRUE(result("out").at("problem").at("complex").get<bool>());
  EXPECT_NEAR(eigenvalues().at(0), 1, 1e-14);
  EXPECT_NEAR(eigenvalues().at(1), 3, 1e-14);
  std::istringstream file(contents(folder_.path() / "out/eigenvectors.mtx"));
  std::string banner;
  std::getline(file, banner);
  EXPECT_EQ(banner, "%%MatrixMarket matrix array complex general");
  for (std::string line; file.peek() == '%';) std::getline(file, line);
  int rows = 0, columns = 0;
  file >> rows >> columns;
  ASSERT_EQ(rows, 3);
  ASSERT_EQ(columns, 2);
  std::vector<Complex> x;
  for (double re = 0, im = 0; file >> re >> im;) x.emplace_back(re, im);
  ASSERT_EQ(x.size(), 6u);
  const Complex i(0, 1);
  for (std::size_t j = 0; j < 2; ++j) {  // 2 x₁ + i x₂ = λ x₁
    EXPECT_NEAR(std::abs(2.0 * x[3 * j] + i * x[3 * j + 1] - eigenvalues()[j] * x[3 * j]), 0,
                1e-14);
    EXPECT_NEAR(std::abs(x[3 * j]), std::sqrt(0.5), 1e-14);
  }
}

TEST_F(ComplexSolveProcess, GeneratedRingWithAFlux) {
  for (const char* const solver : {"auto", "lobpcg", "block_lanczos"}) {
    const ProcessResult run = run_solve(
        {"ring_flux:200:0.3", "-n", "4", "--solver", solver, "--set", "output.eigenvectors=npy"});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    std::size_t j = 0;
    for (const double k : {0.3, -0.7, 1.3, -1.7}) {
      EXPECT_NEAR(eigenvalues().at(j++), 2 - 2 * std::cos(2 * std::numbers::pi * k / 200), 1e-11);
    }
    EXPECT_NE(contents(folder_.path() / "out/eigenvectors.npy").find("'<c16'"), std::string::npos);
  }
}

TEST_F(ComplexSolveProcess, ARealMatrixWithAComplexRightHandSide) {
  folder_.write("b.mtx", "%%MatrixMarket matrix array complex general\n3 1\n2 1\n0 0\n0 -3\n");
  const ProcessResult run =
      run_solve({"laplace1d:3", "--rhs", "b.mtx", "--set", "output.solution=mtx"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  std::istringstream file(contents(folder_.path() / "out/solution.mtx"));
  for (std::string line; file.peek() == '%';) std::getline(file, line);
  int rows = 0, columns = 0;
  file >> rows >> columns;
  std::vector<Complex> x;
  for (double re = 0, im = 0; file >> re >> im;) x.emplace_back(re, im);
  const std::vector<Complex> exact{{1.5, 0}, {1, -1}, {0.5, -2}};
  ASSERT_EQ(x.size(), exact.size());
  for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(std::abs(x[k] - exact[k]), 0, 1e-7);
}

TEST_F(ComplexSolveProcess, TheHermitianPartOfAnotherMatrix) {
  folder_.write("G.mtx",
                "%%MatrixMarket matrix coordinate complex general\n3 3 4\n"
                "1 1 2 0\n1 2 0 2\n2 2 2 0\n3 3 5 0\n");
  expect_error(
      run_solve({"G.mtx", "-n", "1"}), 2,
      "G.mtx: the matrix is not Hermitian: entry (1, 2) is 0+2i, entry (2, 1) is 0+0i, not "
      "its conjugate");
  const ProcessResult run = run_solve({"G.mtx", "-n", "3", "--symmetrize", "average"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_NEAR(eigenvalues().at(k), 1 + 2 * static_cast<double>(k), 1e-14);
  }
}

TEST_F(ComplexSolveProcess, FindsPairsInsideTheSpectrum) {
  folder_.write("A.mtx", kHermitian);  // 1, 3, 5
  ProcessResult run = run_solve({"A.mtx", "-n", "1", "--sigma", "2.8"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  ASSERT_EQ(eigenvalues().size(), 1u);
  EXPECT_NEAR(eigenvalues()[0], 3, 1e-12);
  run = run_solve({"A.mtx", "--interval", "2", "6"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  ASSERT_EQ(eigenvalues().size(), 2u);
  EXPECT_NEAR(eigenvalues()[1], 5, 1e-12);
}

/// [3i, 0; 0, 1; 0, 0] has the singular values 3 and 1.
TEST_F(ComplexSolveProcess, SingularValuesAndLeastSquaresOfARectangularFile) {
  folder_.write("A.mtx",
                "%%MatrixMarket matrix coordinate complex general\n3 2 2\n1 1 0 3\n2 2 1 0\n");
  folder_.write("b.mtx", "%%MatrixMarket matrix array complex general\n3 1\n6 0\n0 2\n0 5\n");
  ProcessResult run = run_solve({"A.mtx", "--transform", "normal_equations", "-n", "2", "--which",
                                 "largest", "--set", "output.eigenvectors=mtx"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto sigma = result("out").at("singular_values").get<std::vector<double>>();
  ASSERT_EQ(sigma.size(), 2u);
  EXPECT_NEAR(sigma[0], 3, 1e-14);
  EXPECT_NEAR(sigma[1], 1, 1e-14);
  for (const char* const side : {"left", "right"}) {
    const std::string file =
        contents(folder_.path() / "out" / (side + std::string("_vectors.mtx")));
    EXPECT_EQ(file.substr(0, file.find('\n')), "%%MatrixMarket matrix array complex general");
  }
  run = run_solve({"A.mtx", "--transform", "normal_equations", "--rhs", "b.mtx", "--set",
                   "output.solution=mtx"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  std::istringstream file(contents(folder_.path() / "out/solution.mtx"));
  for (std::string line; file.peek() == '%';) std::getline(file, line);
  int rows = 0, columns = 0;
  double x[4];
  file >> rows >> columns >> x[0] >> x[1] >> x[2] >> x[3];
  ASSERT_EQ(rows, 2);  // x = (-2i, 2i), and |b - A x| = 5
  for (const auto& [place, exact] : {std::pair{0, 0.0}, {1, -2.0}, {2, 0.0}, {3, 2.0}}) {
    EXPECT_NEAR(x[place], exact, 1e-14);
  }
  EXPECT_NEAR(result("out").at("residual_norms").at(0).get<double>(), 5, 1e-13);
}

TEST_F(ComplexSolveProcess, RefusesByKeyWhatIsThereForRealMatrices) {
  folder_.write("A.mtx", kHermitian);
  expect_error(run_solve({"A.mtx", "--transform", "laplacian"}), 1,
               "--transform laplacian: problem.transform: takes real matrices and blocks only");
  expect_error(
      run_solve({"A.mtx", "--buckling", "A.mtx", "-n", "1"}), 1,
      "--buckling A.mtx: problem.geometric_stiffness: takes real matrices and blocks only");
  folder_.write(
      "S.mtx",
      "%%MatrixMarket matrix coordinate complex symmetric\n2 2 3\n1 1 2 0\n2 1 0 1\n2 2 2 "
      "0\n");
  expect_error(
      run_solve({"S.mtx", "-n", "1"}), 2,
      "S.mtx: the matrix is not Hermitian: entry (1, 2) is 0+1i, entry (2, 1) is 0+1i, not "
      "its conjugate; complex symmetric matrices have no real eigenvalues, and no solver "
      "here takes them");
  folder_.write(
      "M.mtx",
      "%%MatrixMarket matrix coordinate complex hermitian\n3 3 4\n1 1 1 0\n2 1 0 2\n2 2 1 "
      "0\n3 3 1 0\n");
  const ProcessResult indefinite = run_solve({"A.mtx", "--mass", "M.mtx", "-n", "1"});
  EXPECT_EQ(indefinite.exit_code, 2);
  EXPECT_NE(indefinite.err.find("M.mtx: the mass matrix is not positive definite"),
            std::string::npos)
      << indefinite.err;
}

}  // namespace
}  // namespace heddle::apps
