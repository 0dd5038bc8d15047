#include <gtest/gtest.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <heddle/linalg/matrix_market/matrix_market.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/rectangular/singular_values.hpp>
#include <sstream>
#include <string>

#include "solvers/rectangular/adjoint_support.hpp"
#include "support/dense.hpp"
#include "support/matrix_dir.hpp"
#include "support/tolerance.hpp"

namespace heddle {
namespace {

constexpr Index kTriplets = 5;

/// Files of the real rectangular matrices whose shorter side is at least 20.
std::vector<std::string> rectangular_matrices(const std::filesystem::path& folder) {
  std::ifstream manifest(folder / "MANIFEST.tsv");
  std::vector<std::string> files;
  for (std::string line; std::getline(manifest, line);) {
    std::istringstream fields(line);
    std::string name, file, rows, cols, stored, expanded, field;
    for (std::string* text : {&name, &file, &rows, &cols, &stored, &expanded, &field}) {
      std::getline(fields, *text, '\t');
    }
    if (name == "name" || rows == cols || field == "complex") continue;
    if (std::min(std::stoll(rows), std::stoll(cols)) >= 20) files.push_back(file);
  }
  return files;
}

/// Whether the reference comes from AᵀA, where A is too large for a dense decomposition.
bool squared(const CsrView<double, HostSpace>& A) {
  constexpr Index kDenseEntries = 4'000'000;
  return A.rows * A.cols > kDenseEntries;
}

/// AᵀA or A Aᵀ, whichever is smaller, dense.
Eigen::MatrixXd normal_matrix(HostContext& context, const CsrView<double, HostSpace>& A) {
  if (A.rows < A.cols) return normal_matrix(context, transpose(context, A).view());
  Eigen::MatrixXd product = Eigen::MatrixXd::Zero(A.cols, A.cols);
  for (Index i = 0; i < A.rows; ++i) {
    for (std::int64_t e = A.row_offsets[i]; e < A.row_offsets[i + 1]; ++e) {
      for (std::int64_t f = A.row_offsets[i]; f < A.row_offsets[i + 1]; ++f) {
        product(A.columns[e], A.columns[f]) += A.values[e] * A.values[f];
      }
    }
  }
  return product;
}

/// All singular values, descending.
Eigen::VectorXd dense_singular_values(HostContext& context, const CsrView<double, HostSpace>& A) {
  if (!squared(A)) return test::singular_values_of_large(test::to_dense(A));
  const Eigen::VectorXd squares = test::eigenvalues(normal_matrix(context, A)).reverse();
  // Squares that rounding may make of zero tell no more than that: the triplets that are found then
  // show how small the values are, A v = σ u for orthonormal v being upper bounds.
  const double rounding = test::tolerance<double>(squares[0], static_cast<double>(squares.size()));
  return squares.unaryExpr([&](double x) { return x > rounding ? std::sqrt(x) : 0; });
}

Eigen::VectorXd product(const CsrView<double, HostSpace>& A, const Eigen::VectorXd& x) {
  Eigen::VectorXd y = Eigen::VectorXd::Zero(A.rows);
  for (Index i = 0; i < A.rows; ++i) {
    for (Index k = A.row_offsets[i]; k < A.row_offsets[i + 1]; ++k) {
      y[i] += A.values[k] * x[A.columns[k]];
    }
  }
  return y;
}

Eigen::VectorXd transposed_product(const CsrView<double, HostSpace>& A, const Eigen::VectorXd& x) {
  Eigen::VectorXd y = Eigen::VectorXd::Zero(A.cols);
  for (Index i = 0; i < A.rows; ++i) {
    for (Index k = A.row_offsets[i]; k < A.row_offsets[i + 1]; ++k) {
      y[A.columns[k]] += A.values[k] * x[i];
    }
  }
  return y;
}

/// max |XᵀX − I|.
double orthogonality(const Eigen::MatrixXd& X) {
  return (X.transpose() * X - Eigen::MatrixXd::Identity(X.cols(), X.cols())).cwiseAbs().maxCoeff();
}

/// Values against `truth` to 1e-8·σ₁; residuals and orthogonality by products of our own.
void expect_triplets(const CsrView<double, HostSpace>& A, const Eigen::VectorXd& truth, Which which,
                     const SingularResult<double, HostSpace>& result) {
  const double norm = truth[0];
  // AᵀA shows no digits of a singular value that is zero.
  const bool zero = which == Which::smallest && truth[truth.size() - 1] < 1e-12 * norm;
  if (zero && result.status == SolveStatus::stagnated) {
    EXPECT_NE(result.reason.find("no digits"), std::string::npos) << result.reason;
  } else {
    ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
  }
  ASSERT_EQ(std::ssize(result.singular_values), kTriplets);
  const Eigen::MatrixXd U = test::to_dense(result.left_vectors.columns(0, kTriplets));
  const Eigen::MatrixXd V = test::to_dense(result.right_vectors.columns(0, kTriplets));
  for (Index j = 0; j < kTriplets; ++j) {
    SCOPED_TRACE(::testing::Message() << "triplet " << j);
    const double sigma = result.singular_values[static_cast<std::size_t>(j)];
    const double expected = truth[which == Which::largest ? j : truth.size() - 1 - j];
    EXPECT_NEAR(sigma, expected, 1e-8 * norm);
    EXPECT_LE((product(A, V.col(j)) - sigma * U.col(j)).norm(), kDefaultTolerance<double> * norm);
    EXPECT_LE((transposed_product(A, U.col(j)) - sigma * V.col(j)).norm(),
              kDefaultTolerance<double> * norm);
  }
  const double n = static_cast<double>(A.rows + A.cols);
  EXPECT_LE(orthogonality(U), test::tolerance<double>(1, n, 64));
  EXPECT_LE(orthogonality(V), test::tolerance<double>(1, n, 64));
}

void solve_and_compare(HostContext& context, test::SparsePair<double>& A,
                       const Eigen::VectorXd& truth, Which which, SingularSolver solver) {
  const char* const names[] = {"", "block_lanczos", "lobpcg"};
  const char* const name = names[static_cast<int>(solver)];
  const char* const end = which == Which::largest ? "largest" : "smallest";
  SCOPED_TRACE(::testing::Message() << end << " by " << name);
  SingularOptions options;
  options.nev = kTriplets;
  options.which = which;
  options.solver = solver;
  options.max_iterations = 100'000;  // LOBPCG, which has no preconditioner here, takes thousands
  const auto result = singular_triplets(context, A.pair(), options);
  expect_triplets(A.matrix(), truth, which, result);
  std::printf("  %-13s %-8s %4d iterations, %6d products, %s\n", name, end,
              static_cast<int>(result.iterations), static_cast<int>(result.operator_applications),
              result.reason.c_str());
  std::fflush(stdout);
}

TEST(SingularReference, LargestAndSmallestAgreeWithADenseDecomposition) {
  const auto folder = test::matrix_dir();
  if (!folder) GTEST_SKIP() << "no matrix folder";
  HostContext context(2);
  for (const std::string& file : rectangular_matrices(*folder)) {
    SCOPED_TRACE(file);
    const auto matrix = read_matrix_market<double>(context, *folder / file);
    test::SparsePair<double> A(context, matrix.view());
    const Eigen::VectorXd truth = dense_singular_values(context, matrix.view());
    std::printf("%s\n", file.c_str());
    for (const SingularSolver solver : {SingularSolver::block_lanczos, SingularSolver::lobpcg}) {
      for (const Which which : {Which::largest, Which::smallest}) {
        solve_and_compare(context, A, truth, which, solver);
      }
    }
  }
}

}  // namespace
}  // namespace heddle
