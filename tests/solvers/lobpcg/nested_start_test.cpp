#include <heddle/linalg/sparse/csr_ops.hpp>
#include <heddle/solvers/lobpcg/lobpcg.hpp>
#include <heddle/solvers/lobpcg/nested_start.hpp>
#include <heddle/solvers/preconditioners/jacobi/jacobi.hpp>
#include <heddle/solvers/preconditioners/multigrid/multigrid.hpp>
#include <heddle/solvers/preconditioners/table.hpp>
#include <vector>

#include "solvers/eigen_test_support.hpp"
#include "solvers/preconditioners/multigrid/multigrid_battery.hpp"

namespace heddle {
namespace {

using Problem = EigenProblem<double, HostContext>;
using Operator = SparseOperator<double, HostContext>;

EigenResult<double, HostSpace> solved(HostContext& context, const Problem& problem, Index nev,
                                      StartVectors start) {
  LobpcgOptions options;
  options.nev = nev;
  options.criterion = Criterion::norm;
  options.start = start;
  return lobpcg<double, HostContext>(context, problem, options);
}

/// X of `nested_start`, or no columns where it returned false.
MultiVector<double, HostSpace> start_block(HostContext& context, const Problem& problem, Index b,
                                           double tolerance = 1e-8) {
  std::optional<PreconditionerSchedule<double, HostContext>> own;
  LobpcgOptions options;
  options.tolerance = tolerance;
  MultiVector<double, HostSpace> X(context, problem.A->rows(), b);
  const bool made = detail::nested_start<double, HostContext>(
      context, problem, *schedule_of(problem.preconditioner, own), options, X.view());
  return made ? std::move(X) : MultiVector<double, HostSpace>();
}

double dot(ConstBlockView<double, HostSpace> X, ConstBlockView<double, HostSpace> Y, Index j) {
  double sum = 0;
  for (Index i = 0; i < X.rows(); ++i) sum += X(i, j) * Y(i, j);
  return sum;
}

// The Rayleigh quotients of the start vectors are near the smallest eigenvalues. Those of random
// vectors are near the mean of all, 6.
TEST(NestedStart, ApproximatesTheSmallestPairs) {
  HostContext context;
  Operator A = test::make_operator<double>(context, {"laplace3d", {20, 21, 22}});
  MultigridPreconditioner<double, HostContext> M(context, A.matrix());
  const auto X = start_block(context, {.A = &A, .preconditioner = &M}, 10);
  ASSERT_EQ(X.cols(), 10);
  MultiVector<double, HostSpace> AX(context, X.rows(), X.cols());
  A.apply(context, X.view(), AX.view());
  const std::vector<double> exact = laplace_smallest_eigenvalues({20, 21, 22}, 10);
  for (Index j = 0; j < 8; ++j) {
    const double quotient = dot(X.view(), AX.view(), j) / dot(X.view(), X.view(), j);
    EXPECT_LT(quotient, 1.5 * exact[static_cast<std::size_t>(j)]) << j;
  }
}

TEST(NestedStart, NeedsLevelsAndAStoredMass) {
  HostContext context;
  Operator A = test::make_operator<double>(context, {"laplace3d", {14, 14, 14}});
  MultigridPreconditioner<double, HostContext> M(context, A.matrix());
  JacobiPreconditioner<double, HostContext> diagonal(context, A.matrix());
  test::DiagonalOperator<double> mass(std::vector<double>(2744, 2.0));
  EXPECT_EQ(start_block(context, {.A = &A, .preconditioner = &diagonal}, 6).cols(), 0);
  EXPECT_EQ(start_block(context, {.A = &A, .B = &mass, .preconditioner = &M}, 6).cols(), 0);
  // Of loose tolerances, the few steps would not find pairs that the levels lack.
  EXPECT_EQ(start_block(context, {.A = &A, .preconditioner = &M}, 6).cols(), 6);
  EXPECT_EQ(start_block(context, {.A = &A, .preconditioner = &M}, 6, 1e-6).cols(), 0);
  // No coarser level has enough rows for so wide a block.
  EXPECT_EQ(start_block(context, {.A = &A, .preconditioner = &M}, 600).cols(), 0);
  const auto result =
      solved(context, {.A = &A, .B = &mass, .preconditioner = &M}, 4, StartVectors::nested);
  ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
  EXPECT_NEAR(result.eigenvalues[0], laplace_smallest_eigenvalues({14, 14, 14}, 1)[0] / 2, 1e-9);
}

TEST(NestedStart, TakesFewerIterationsToTheSamePairs) {
  HostContext context;
  const std::vector<Index> size{24, 25, 26};
  Operator A = test::make_operator<double>(context, {"laplace3d", size});
  MultigridPreconditioner<double, HostContext> M(context, A.matrix());
  const Problem problem{.A = &A, .preconditioner = &M};
  const auto nested = solved(context, problem, 10, StartVectors::nested);
  const auto random = solved(context, problem, 10, StartVectors::random);
  for (const auto* result : {&nested, &random}) {
    test::expect_pairs<double>(A.matrix(), *A.one_norm(), *result,
                               laplace_smallest_eigenvalues(size, 10), 1e-8);
  }
  EXPECT_LT(nested.iterations, random.iterations - 2);
}

TEST(NestedStart, OfAPencilAndInLowerPrecision) {
  HostContext context;
  Operator A = test::make_operator<double>(context, {"elasticity3d", {14, 14, 14}});
  auto mass = generate<double>(context, {"elasticity3d_mass", {14, 14, 14}});
  const auto* const kind = preconditioner_table().find("multigrid");
  ASSERT_NE(kind, nullptr);
  const std::vector<double> exact = [&] {
    Operator B(context, convert<double>(context, mass.view()));
    JacobiPreconditioner<double, HostContext> M(context, A.matrix());
    return solved(context, {.A = &A, .B = &B, .preconditioner = &M}, 8, StartVectors::random)
        .eigenvalues;
  }();
  // Beyond the range of single precision, in which the levels are.
  for (const double unit : {1.0, 1e-12, 1e-60, 1e60}) {
    SCOPED_TRACE(unit);
    auto scaled = convert<double>(context, mass.view());
    for (Index e = 0; e < scaled.nnz(); ++e) scaled.values()[e] *= unit;
    Operator B(context, std::move(scaled));
    const auto M = kind->make_lowered(context, DistributedCsrView(A.matrix()), kind->options());
    const Problem problem{.A = &A, .B = &B, .preconditioner = M.get()};
    const auto nested = solved(context, problem, 8, StartVectors::nested);
    const auto random = solved(context, problem, 8, StartVectors::random);
    ASSERT_EQ(nested.status, SolveStatus::converged) << nested.reason;
    for (std::size_t j = 0; j < exact.size(); ++j) {
      EXPECT_NEAR(nested.eigenvalues[j] * unit / exact[j], 1, 1e-9) << j;
    }
    EXPECT_LT(nested.iterations, random.iterations - 1);
  }
}

// The coarse levels hold no vectors of lone unknowns. The random part of the start has them.
TEST(NestedStart, FindsPairsThatCoarseLevelsLack) {
  HostContext context;
  const auto mesh = generate<double>(context, {"laplace3d", {16, 16, 16}});
  const auto n = mesh.rows();
  for (const double tolerance : {1e-8, 1e-4}) {
    for (const double stiffness : {1.0, 1e-3, 1e4}) {
      SCOPED_TRACE(testing::Message() << tolerance << ", " << stiffness);
      std::vector<Triplet<double>> entries;
      const auto view = mesh.view();
      for (Index i = 0; i < n; ++i) {
        for (auto e = view.row_offsets[i]; e < view.row_offsets[i + 1]; ++e) {
          entries.push_back({i, view.columns[e], view.values[e]});
        }
      }
      entries.push_back({n, n, .01});
      entries.push_back({n + 1, n + 1, .02});
      // Two unknowns, joined by a spring, that are held softly: eigenvalues .015 and stiff.
      for (const Index i : {n + 2, n + 3}) entries.push_back({i, i, stiffness + .015});
      entries.push_back({n + 2, n + 3, -stiffness});
      entries.push_back({n + 3, n + 2, -stiffness});
      Operator A(context, csr_from_triplets<double>(context, n + 4, n + 4, entries));
      MultigridPreconditioner<double, HostContext> M(context, A.matrix());
      LobpcgOptions options;
      options.nev = 4;
      options.tolerance = tolerance;
      const auto result =
          lobpcg<double, HostContext>(context, {.A = &A, .preconditioner = &M}, options);
      ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
      std::vector<double> exact{.01, .015, .02, 2 * stiffness + .015,
                                laplace_smallest_eigenvalues({16, 16, 16}, 1)[0]};
      std::sort(exact.begin(), exact.end());
      for (std::size_t j = 0; j < 4; ++j) {
        EXPECT_NEAR(result.eigenvalues[j], exact[j], result.error_bounds[j] + 1e-14) << j;
      }
    }
  }
}

}  // namespace
}  // namespace heddle
