#include <gtest/gtest.h>

#include <heddle/solvers/iteration/eigen_verifier.hpp>
#include <limits>
#include <string>

#include "solvers/eigen_test_support.hpp"

namespace heddle {
namespace detail {}
using namespace detail;
namespace {

/// The eigenvectors of the largest end of such a pencil are as long as √(1/λ_min(B)). Rounding in
/// xᵀBy grows with their squares.
TEST(EigenVerifierOrthogonality, IsJudgedByWhatRoundingAllowsForB) {
  EXPECT_EQ(orthogonality_limit<double>(1), kOrthogonalityLimit<double>);
  EXPECT_NEAR(orthogonality_limit<double>(1e9), 2.2e-6, 1e-7);
  HostContext context;
  test::DiagonalOperator<double> A({1, 1, 1, 1});
  test::DiagonalOperator<double> B({1, 2, 3, 4});
  MultiVector<double, HostSpace> V(context, 4, 2), AV(context, 4, 2), BV(context, 4, 2);
  set_identity<double>(context, V.view());
  const EigenProblem<double, HostContext> problem{.A = &A, .B = &B};
  EigenVerifier<double, HostContext> verifier(context, 4, 2, true);
  ASSERT_EQ(
      verifier.rayleigh_ritz(context, problem, Which::largest, V.view(), AV.view(), BV.view()),
      DenseFailure::none);
  V.view()(0, 0) *= 1 + 1e-9;
  verifier.norms().prepare(context, problem);
  verifier.measure(context, problem, V.view(), AV.view(), BV.view());
  const EigenConvergence convergence(Criterion::norm, 1e-8, 1, 4,
                                     std::numeric_limits<double>::epsilon());
  EXPECT_FALSE(verifier.judge(convergence, {}).confirmed());
  EXPECT_FALSE(verifier.orthonormal());
  const std::string refutation = verifier.refutation(convergence);
  EXPECT_EQ(refutation.substr(0, 42), "|X'BX - I| is 2.0e-09, 2.2e-12 is allowed:");
}

}  // namespace
}  // namespace heddle
