#include <gtest/gtest.h>

#include <heddle/linalg/matrix_market/matrix_market.hpp>
#include <heddle/solvers/preconditioners/block_jacobi/block_jacobi.hpp>
#include <heddle/solvers/preconditioners/chebyshev/chebyshev.hpp>
#include <heddle/solvers/preconditioners/incomplete_cholesky/incomplete_cholesky.hpp>
#include <heddle/solvers/preconditioners/jacobi/jacobi.hpp>
#include <memory>
#include <string>

#include "solvers/linear_test_support.hpp"
#include "support/matrix_dir.hpp"

namespace heddle {
namespace {

using Made = std::unique_ptr<Preconditioner<double, HostContext>>;
using Matrix = CsrView<double, HostSpace>;

struct Choice {
  std::string name;
  Made (*make)(HostContext&, Matrix);
};

const Choice kChoices[] = {
    {"jacobi",
     [](HostContext& context, Matrix A) -> Made {
       return std::make_unique<JacobiPreconditioner<double, HostContext>>(context, A);
     }},
    {"block_jacobi",
     [](HostContext& context, Matrix A) -> Made {
       return std::make_unique<BlockJacobiPreconditioner<double, HostContext>>(context, A);
     }},
    {"chebyshev",
     [](HostContext& context, Matrix A) -> Made {
       return std::make_unique<ChebyshevPreconditioner<double, HostContext>>(context, A);
     }},
    {"incomplete_cholesky",
     [](HostContext& context, Matrix A) -> Made {
       return std::make_unique<IncompleteCholeskyPreconditioner<double, HostContext>>(context, A);
     }},
};

/// 16 right-hand sides to 1e-8 with each preconditioner, before CG on each column is done.
void expect_solved(HostContext& context, SparseOperator<double, HostContext>& A) {
  const auto B = test::random_vectors<double>(context, A.rows(), 16);
  for (const Choice& choice : kChoices) {
    const Made M = choice.make(context, A.matrix());
    const LinearSystem<double, HostContext> system{&A, M.get(), B.view()};
    BlockCgOptions options;
    const auto block = block_cg(context, system, options);
    EXPECT_EQ(block.status, SolveStatus::converged) << choice.name << ": " << block.reason;
    for (const double residual :
         test::true_linear_residuals<double>(A.matrix(), B.view(), block.solution.view())) {
      EXPECT_LE(residual, 1.1e-8) << choice.name;
    }
    options.algorithm = CgAlgorithm::pseudo_block;
    options.max_iterations = block.iterations;
    const auto pseudo = block_cg(context, system, options);
    EXPECT_EQ(pseudo.status, SolveStatus::max_iterations) << choice.name << ": " << pseudo.reason;
  }
}

class BlockCgMatrices : public ::testing::TestWithParam<const char*> {};

TEST_P(BlockCgMatrices, AreSolvedWithEachPreconditioner) {
  const auto folder = test::matrix_dir();
  if (!folder) GTEST_SKIP() << "no matrix folder";
  HostContext context;
  SparseOperator<double, HostContext> A(context,
                                        read_matrix_market<double>(context, *folder / GetParam()));
  expect_solved(context, A);
}

INSTANTIATE_TEST_SUITE_P(Real, BlockCgMatrices,
                         ::testing::Values("1138_bus.mtx", "bcsstk16.mtx.gz", "bcsstk17.mtx.gz",
                                           "Dubcova1.mtx.gz"),
                         [](const auto& info) {
                           const std::string name = info.param;
                           return "m" + name.substr(0, name.find('.'));
                         });

TEST(BlockCgHexahedra, AreSolvedWithEachPreconditioner) {
  HostContext context;
  auto A = test::make_operator<double>(context, {"elasticity3d", {10, 10, 10}});
  expect_solved(context, A);
}

}  // namespace
}  // namespace heddle
