#include <apps/solver_process.hpp>
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

}  // namespace
}  // namespace heddle::apps
