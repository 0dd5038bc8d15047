#include <gtest/gtest.h>

#include <heddle/solvers/preconditioners/jacobi/jacobi.hpp>

#include "solvers/linear_test_support.hpp"
#include "support/allocations.hpp"

namespace heddle {
namespace {

TEST(BlockCgAllocation, ASecondSolveAllocatesNothing) {
  HostContext context(2);
  auto A = test::make_operator<double>(context, {"elasticity3d", {4, 4, 4}});
  JacobiPreconditioner<double, HostContext> M(context, A.matrix());
  auto B = test::random_vectors<double>(context, A.rows(), 8);
  copy<double>(context, B.columns(0, 1), B.columns(5, 1));  // the ladder is needed, too
  for (const CgAlgorithm algorithm : {CgAlgorithm::breakdown_free, CgAlgorithm::pseudo_block}) {
    BlockCgOptions options;
    options.algorithm = algorithm;
    const LinearSystem<double, HostContext> system{&A, &M, B.view()};
    BlockCgWorkspace<double, HostContext> workspace;
    const auto& result = block_cg(context, system, options, workspace);
    ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
    const auto solution = test::all_entries<double>(result.solution.view());
    const std::size_t from_context = context.allocation_count().allocations;
    const std::size_t from_heap = test::heap_allocations();
    block_cg(context, system, options, workspace);
    EXPECT_EQ(test::heap_allocations(), from_heap);
    EXPECT_EQ(context.allocation_count().allocations, from_context);
    EXPECT_EQ(test::all_entries<double>(result.solution.view()), solution);
  }
}

TEST(BlockCgAllocation, TheMemoryIsWhatIsSaid) {
  HostContext context(1);
  const Index n = 5000, b = 16;
  test::DiagonalOperator<double> A(test::counting(n));
  const auto B = test::random_vectors<double>(context, n, b);
  const auto before = static_cast<double>(context.allocation_count().live_bytes);
  BlockCgWorkspace<double, HostContext> workspace;
  block_cg(context, {&A, nullptr, B.view()}, {}, workspace);
  const double held = static_cast<double>(context.allocation_count().live_bytes) - before;
  EXPECT_NEAR(block_cg_memory_bytes(n, b, sizeof(double)), held, 0.02 * held);
}

}  // namespace
}  // namespace heddle
