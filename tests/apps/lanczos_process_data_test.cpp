#include <Eigen/Sparse>
#include <apps/solver_process.hpp>
#include <heddle/linalg/matrix_market/matrix_market.hpp>
#include <support/dense.hpp>
#include <support/matrix_dir.hpp>

namespace heddle::apps {
namespace {

class LanczosProcessData : public test::SolverProcess {
 protected:
  LanczosProcessData() : SolverProcess("heddle-lanczos") {}
};

/// 518 rows of this stiffness matrix are rows of the identity, and its other end is near 1e10: no
/// polynomial of any use tells the eigenvalue 1 from those of a hundred.
TEST_F(LanczosProcessData, TheSmallestEndOfAStiffMatrix) {
  const auto folder = heddle::test::matrix_dir();
  if (!folder) GTEST_SKIP() << "no matrix folder";
  const test::ProcessResult run = solve(
      "problem: {matrix: " + (*folder / "bcsstk17.mtx.gz").string() + "}\nsolver: {nev: 10}\n");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto json = result();
  EXPECT_EQ(json.at("status"), "converged");
  EXPECT_GT(json.at("inverse_applications"), 0);
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_NEAR(json.at("eigenvalues").at(i), 1, 1e-6);
    EXPECT_LE(json.at("residuals").at(i), 1e-8);
  }
}

/// The number of finite eigenvalues of A x = λ B x below σ, for positive definite A and
/// semidefinite B: the negative pivots of A − σB (Sylvester's law of inertia).
Index eigenvalues_below(const Eigen::SparseMatrix<double>& A, const Eigen::SparseMatrix<double>& B,
                        double sigma) {
  const Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>> factor(A - sigma * B);
  return static_cast<Index>((factor.vectorD().array() < 0).count());
}

/// A structure with massless unknowns: 762 rows of its mass matrix are zero.
TEST_F(LanczosProcessData, APencilWithASingularMassMatrix) {
  const auto folder = heddle::test::matrix_dir();
  if (!folder) GTEST_SKIP() << "no matrix folder";
  const std::string stiffness = (*folder / "bcsstk13.mtx.gz").string();
  const std::string mass = (*folder / "bcsstm13.mtx.gz").string();
  const test::ProcessResult run =
      solve("problem: {matrix: " + stiffness + ", mass: " + mass + "}\nsolver: {nev: 10}\n");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  HostContext context;
  const auto sparse = [&](const std::string& file) {
    return Eigen::SparseMatrix<double>(
        heddle::test::to_dense(read_matrix_market<double>(context, file).view()).sparseView());
  };
  const Eigen::SparseMatrix<double> A = sparse(stiffness);
  const Eigen::SparseMatrix<double> B = sparse(mass);
  const auto values = result().at("eigenvalues");
  ASSERT_EQ(values.size(), 10U);
  for (Index k = 0; k < 10; ++k) {
    const double value = values.at(static_cast<std::size_t>(k));
    EXPECT_LE(eigenvalues_below(A, B, value * (1 - 1e-7)), k);
    EXPECT_GE(eigenvalues_below(A, B, value * (1 + 1e-7)), k + 1);
  }
  const Eigen::VectorXd diagonal = B.diagonal();
  EXPECT_EQ(result().at("infinite_eigenvalues"), (diagonal.array() == 0).count());
}

}  // namespace
}  // namespace heddle::apps
