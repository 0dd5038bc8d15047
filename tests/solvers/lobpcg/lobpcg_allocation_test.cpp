#include <gtest/gtest.h>

#include <heddle/solvers/lobpcg/lobpcg.hpp>
#include <heddle/solvers/preconditioners/chebyshev/chebyshev.hpp>

#include "solvers/eigen_test_support.hpp"
#include "support/allocations.hpp"

namespace heddle {
namespace {

/// A second solve with the same workspace takes nothing from the context and nothing from the heap.
void expect_no_allocation(HostContext& context, const EigenProblem<double, HostContext>& problem,
                          const LobpcgOptions& options) {
  LobpcgWorkspace<double, HostContext> workspace;
  const auto& result = lobpcg(context, problem, options, workspace);
  ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
  const std::vector<double> values = result.eigenvalues;
  const std::size_t from_context = context.allocation_count().allocations;
  const std::size_t from_heap = test::heap_allocations();
  lobpcg(context, problem, options, workspace);
  EXPECT_EQ(test::heap_allocations(), from_heap);
  EXPECT_EQ(context.allocation_count().allocations, from_context);
  EXPECT_EQ(result.eigenvalues, values);
}

TEST(LobpcgAllocation, ASecondSolveAllocatesNothing) {
  HostContext context(2);
  auto A = test::make_operator<double>(context, {"laplace3d", {16, 17, 18}});
  ChebyshevPreconditioner<double, HostContext> M(context, A.matrix());
  LobpcgOptions options;
  options.nev = 8;
  expect_no_allocation(context, {&A}, options);
  expect_no_allocation(context, {&A, nullptr, &M}, options);
}

TEST(LobpcgAllocation, NorForAPencilThatLocksPairs) {
  HostContext context(2);
  auto A = test::make_operator<double>(context, {"laplace2d", {30, 31}});
  test::DiagonalOperator<double> mass(test::counting(930, 100));
  LobpcgOptions options;
  options.nev = 30;
  options.block_size = 10;
  options.max_iterations = 5000;
  expect_no_allocation(context, {&A, &mass}, options);
}

}  // namespace
}  // namespace heddle
