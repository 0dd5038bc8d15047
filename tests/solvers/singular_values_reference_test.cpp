#include <gtest/gtest.h>

#include <Eigen/SVD>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <heddle/linalg/matrix_market.hpp>
#include <heddle/solvers/singular_values.hpp>
#include <sstream>
#include <string>

#include "solvers/adjoint_support.hpp"
#include "support/dense.hpp"
#include "support/matrix_dir.hpp"

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

/// Whether the reference comes from AᵀA, where A is too large for a dense decomposition: squaring
/// costs the digits of small singular values.
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
  if (!squared(A)) return Eigen::BDCSVD<Eigen::MatrixXd>(test::to_dense(A)).singularValues();
  return test::eigenvalues(normal_matrix(context, A)).cwiseMax(0).cwiseSqrt().reverse();
}

void solve_and_compare(HostContext& context, const std::string& file, test::SparsePair<double>& A,
                       const Eigen::VectorXd& truth, Which which) {
  SCOPED_TRACE(file + (which == Which::largest ? " largest" : " smallest"));
  SingularOptions options;
  options.nev = kTriplets;
  options.which = which;
  const auto result = singular_triplets(context, A.pair(), options);
  // Vectors of the longer side that belong to σ = 0 are not found, and the status says so.
  const bool zero = which == Which::smallest && truth[truth.size() - 1] <= 1e-13 * truth[0];
  EXPECT_EQ(result.status, zero ? SolveStatus::verification_failed : SolveStatus::converged)
      << result.reason;
  ASSERT_EQ(std::ssize(result.singular_values), kTriplets);
  double worst = 0;
  for (Index j = 0; j < kTriplets; ++j) {
    const double sigma = result.singular_values[static_cast<std::size_t>(j)];
    const double expected = truth[which == Which::largest ? j : truth.size() - 1 - j];
    EXPECT_NEAR(sigma, expected, 1e-8 * truth[0]) << "triplet " << j;
    worst = std::max(worst, std::abs(sigma - expected) / truth[0]);
  }
  std::printf("%-18s %-8s %4d iterations, %6d products, worst error %.1e, residual %.1e, %s\n",
              file.c_str(), which == Which::largest ? "largest" : "smallest",
              static_cast<int>(result.iterations), static_cast<int>(result.operator_applications),
              worst, *std::max_element(result.residuals.begin(), result.residuals.end()),
              result.reason.c_str());
  std::fflush(stdout);
}

TEST(SingularReference, LargestAndSmallestAgreeWithADenseDecomposition) {
  const auto folder = test::matrix_dir();
  if (!folder) GTEST_SKIP() << "no matrix folder";
  HostContext context(2);
  for (const std::string& file : rectangular_matrices(*folder)) {
    const auto matrix = read_matrix_market<double>(context, *folder / file);
    test::SparsePair<double> A(context, matrix.view());
    const Eigen::VectorXd truth = dense_singular_values(context, matrix.view());
    solve_and_compare(context, file, A, truth, Which::largest);
    if (!squared(matrix.view())) solve_and_compare(context, file, A, truth, Which::smallest);
  }
}

}  // namespace
}  // namespace heddle
