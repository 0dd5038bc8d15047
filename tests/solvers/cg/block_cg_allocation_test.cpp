#include <gtest/gtest.h>

#include <heddle/solvers/preconditioners/jacobi/jacobi.hpp>
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

/// A preconditioner that hides whether the one behind it keeps its products.
class Hidden final : public Preconditioner<double, HostContext> {
 public:
  explicit Hidden(Preconditioner<double, HostContext>& M)
      : Preconditioner<double, HostContext>(M.row_range(), M.column_range()), M_(M) {}

  bool is_lowered() const noexcept override { return M_.is_lowered(); }
  void raise(HostContext& context) override { M_.raise(context); }

 protected:
  void apply_block(HostContext& context, ConstBlockView<double, HostSpace> X,
                   BlockView<double, HostSpace> Y) override {
    M_.apply(context, X, Y);
  }

 private:
  Preconditioner<double, HostContext>& M_;
};

TEST(BlockCgAllocation, AProductThatStaysInSinglePrecisionSparesABlockAndNoBit) {
  for (const char* name : {"multigrid", "chebyshev", "block_jacobi"}) {
    SCOPED_TRACE(name);
    HostContext context(2);
    auto A = test::make_operator<double>(context, {"laplace3d", {9, 10, 11}});
    const PreconditionerKind& kind = preconditioner_table().get(name);
    const auto M = kind.make_lowered(context, A.matrix(), kind.options({}));
    const auto B = test::random_vectors<double>(context, A.rows(), 5);
    Hidden hidden(*M.get());
    using Made = Preconditioner<double, HostContext>*;
    for (const Made either : {Made{M.get()}, Made{&hidden}}) {  // so that M has its memory
      block_cg<double, HostContext>(context, {&A, either, B.view()}, {});
    }
    std::vector<std::vector<double>> solutions;
    std::vector<double> held;
    for (const Made either : {Made{M.get()}, Made{&hidden}}) {
      const auto before = static_cast<double>(context.allocation_count().live_bytes);
      BlockCgWorkspace<double, HostContext> workspace;
      const auto& result = block_cg(context, {&A, either, B.view()}, {}, workspace);
      EXPECT_EQ(result.status, SolveStatus::converged) << result.reason;
      EXPECT_TRUE(either->is_lowered());
      held.push_back(static_cast<double>(context.allocation_count().live_bytes) - before);
      solutions.push_back(test::all_entries<double>(result.solution.view()));
    }
    EXPECT_EQ(solutions[0], solutions[1]);
    EXPECT_EQ(held[1] - held[0], static_cast<double>(A.rows() * 5) * sizeof(double));
  }
}

}  // namespace
}  // namespace heddle
