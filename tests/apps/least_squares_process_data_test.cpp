#include <Eigen/Core>
#include <apps/solver_process.hpp>
#include <heddle/linalg/matrix_market/matrix_market.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <support/decompositions.hpp>
#include <support/matrix_dir.hpp>

namespace heddle::apps {
namespace {

class LeastSquaresProcessData : public test::SolverProcess {
 protected:
  LeastSquaresProcessData() : SolverProcess("heddle-cg") {}
};

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

RowMajor dense(const HostCsrMatrix<double>& A) {
  const CsrView<double, HostSpace> view = A.view();
  RowMajor D = RowMajor::Zero(view.rows, view.cols);
  for (Index i = 0; i < view.rows; ++i) {
    for (Index k = view.row_offsets[i]; k < view.row_offsets[i + 1]; ++k) {
      D(i, view.columns[k]) = view.values[k];
    }
  }
  return D;
}

/// A survey's matrix, with unit vectors for right-hand sides.
TEST_F(LeastSquaresProcessData, AgreeWithADenseSolution) {
  const auto folder = heddle::test::matrix_dir();
  if (!folder) GTEST_SKIP() << "no matrix folder";
  const std::string path = (*folder / "well1033.mtx").string();
  HostContext context(1);
  const RowMajor A = dense(read_matrix_market<double>(context, path));
  RowMajor B = RowMajor::Zero(A.rows(), 4);
  for (const Index j : {0, 1, 2, 3}) B(100 * j, j) = 1;
  const RowMajor expected = heddle::test::least_squares_solution(A, B).solution;
  const double smallest = heddle::test::singular_values_of_large(A).tail<1>()(0);

  for (const std::string preconditioner : {"none", "jacobi"}) {
    SCOPED_TRACE(preconditioner);
    const test::ProcessResult run =
        solve("problem: {matrix: " + path +
              ", transform: normal_equations, rhs: {unit: [1, 101, 201, 301]}}\n"
              "solver: {tolerance: 1e-10, preconditioner: {type: " +
              preconditioner + "}}\noutput: {solution: mtx}\n");
    ASSERT_EQ(run.exit_code, 0) << run.err << run.out;
    const auto X = read_matrix_market_block<double>(
        context, folder_.path() / "results/case-block_cg/solution.mtx");
    ASSERT_EQ(X.rows(), A.cols());
    for (Index j = 0; j < 4; ++j) {
      Eigen::VectorXd x(X.rows());
      for (Index i = 0; i < X.rows(); ++i) x(i) = X.view()(i, j);
      // ‖x − A⁺b‖ ≤ ‖(AᵀA)⁻¹‖ ‖Aᵀ(b − A x)‖
      const double allowed = 1e-10 * (A.transpose() * B.col(j)).norm() / (smallest * smallest);
      EXPECT_LE((x - expected.col(j)).norm(), allowed + 1e-12 * x.norm());
      EXPECT_NEAR(result().at("residual_norms").at(static_cast<std::size_t>(j)),
                  (B.col(j) - A * expected.col(j)).norm(), 1e-10);
    }
  }
}

}  // namespace
}  // namespace heddle::apps
