#include <gtest/gtest.h>

#include <heddle/solvers/preconditioners/jacobi/jacobi.hpp>
#include <heddle/solvers/preconditioners/schedule/schedule.hpp>
#include <heddle/solvers/preconditioners/table.hpp>
#include <vector>

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
  test::DiagonalOperator<double> A(test::counting(n)), M(std::vector<double>(n, 1));
  const auto B = test::random_vectors<double>(context, n, b);
  const auto held_with = [&](Preconditioner<double, HostContext>* preconditioner) {
    const auto before = static_cast<double>(context.allocation_count().live_bytes);
    BlockCgWorkspace<double, HostContext> workspace;
    block_cg(context, {&A, preconditioner, B.view()}, {}, workspace);
    return static_cast<double>(context.allocation_count().live_bytes) - before;
  };
  const double held = held_with(&M);
  EXPECT_NEAR(block_cg_memory_bytes(n, b, sizeof(double)), held, 0.02 * held);
  EXPECT_NEAR(held_with(nullptr), held - static_cast<double>(n * b) * sizeof(double), 0.02 * held);
}

/// The bytes that block CG holds with M, which has its memory already.
double held_with(HostContext& context, SparseOperator<double, HostContext>& A,
                 Preconditioner<double, HostContext>* M, const MultiVector<double, HostSpace>& B) {
  block_cg<double, HostContext>(context, {&A, M, B.view()}, {});
  const auto before = static_cast<double>(context.allocation_count().live_bytes);
  BlockCgWorkspace<double, HostContext> workspace;
  const auto& result = block_cg(context, {&A, M, B.view()}, {}, workspace);
  EXPECT_EQ(result.status, SolveStatus::converged) << result.reason;
  return static_cast<double>(context.allocation_count().live_bytes) - before;
}

TEST(BlockCgAllocation, AProductThatStaysInSinglePrecisionSparesABlock) {
  for (const char* name : {"multigrid", "chebyshev", "block_jacobi"}) {
    SCOPED_TRACE(name);
    HostContext context(2);
    auto A = test::make_operator<double>(context, {"laplace3d", {9, 10, 11}});
    const PreconditionerKind& kind = preconditioner_table().get(name);
    const auto lowered = kind.make_lowered(context, A.matrix(), kind.options({}));
    const auto full = kind.make<double>(context, A.matrix(), kind.options({}));
    const auto B = test::random_vectors<double>(context, A.rows(), 5);
    const double held = held_with(context, A, lowered.get(), B);
    EXPECT_TRUE(lowered->schedule()->is_lowered());
    EXPECT_EQ(held_with(context, A, full.get(), B) - held,
              static_cast<double>(A.rows() * 5) * sizeof(double));
  }
}

}  // namespace
}  // namespace heddle
