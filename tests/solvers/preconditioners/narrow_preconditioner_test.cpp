#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/lobpcg/lobpcg.hpp>
#include <heddle/solvers/preconditioners/schedule/schedule.hpp>

#include "solvers/preconditioners/narrow_solves.hpp"

namespace heddle {
namespace {

TEST(NarrowPreconditioner, LobpcgFindsTheValuesOfDouble) {
  HostContext context(2);
  for (const test::NamedMatrix& matrix : test::narrow_test_matrices(context)) {
    test::expect_values_of_double(context, context, matrix);
  }
}

TEST(NarrowPreconditioner, BlockCgReachesTheToleranceOfDouble) {
  HostContext context(2);
  for (const test::NamedMatrix& matrix : test::narrow_test_matrices(context)) {
    test::expect_residuals_of_double(context, context, matrix);
  }
}

/// Degrees that a type does not resolve are left to single precision.
TEST(NarrowPreconditioner, IsRaisedWhereTheWantedEigenvaluesNeedMoreDegrees) {
  HostContext context(2);
  const auto A = generate<double>(context, {"laplace2d", {9, 10}});
  const PreconditionerKind& kind = preconditioner_table().get("chebyshev");
  PreconditionerOptions chosen = kind.options();
  chosen.set_products(ProductPrecision::bf16);
  auto M = kind.lowered_stage(context, A.view(), chosen);
  const auto X = test::random_vectors<double>(context, A.rows(), 2);
  M.set_degree(14);
  test::applied(context, context, M, X);
  EXPECT_EQ(M.raised(), 0);
  EXPECT_EQ(M.degree(), 14);
  EXPECT_EQ(M.precision(), "bf16");
  M.set_degree(15);
  test::applied(context, context, M, X);
  EXPECT_EQ(M.raised(), 1);
  EXPECT_EQ(M.degree(), 15);
  EXPECT_TRUE(M.is_lowered());
  EXPECT_EQ(M.precision(), "bf16, then single");
  EXPECT_TRUE(M.raise(context));
  EXPECT_EQ(M.raised(), 2);
  EXPECT_EQ(M.degree(), 15);
  EXPECT_EQ(M.precision(), "bf16, then single, then double");
  EXPECT_FALSE(M.raise(context));
}

TEST(NarrowPreconditioner, RefusesDegreesBeyondItsDigits) {
  HostContext context(1);
  const auto A = generate<double>(context, {"laplace1d", {9}});
  const test::Lowerable fixed{"chebyshev", {{"degree", Index{15}}}};
  EXPECT_THROW(test::make_narrow(context, A.view(), fixed, ProductPrecision::bf16),
               InvalidArgument);
  EXPECT_NO_THROW(test::make_narrow(context, A.view(), fixed, ProductPrecision::half));
}

/// Rounding to bfloat16 moves eigenvalues below zero, but the preconditioner stays positive.
TEST(NarrowPreconditioner, ChebyshevStaysPositiveDefinite) {
  HostContext context(2);
  for (const test::NamedMatrix& matrix : test::narrow_test_matrices(context)) {
    for (const ProductPrecision products : test::kNarrow) {
      const PreconditionerKind& kind = preconditioner_table().get("chebyshev");
      PreconditionerOptions chosen = kind.options();
      chosen.set_products(products);
      auto M = kind.lowered_stage(context, matrix.A.view(), chosen);
      M.set_degree(14);
      const auto X = test::random_vectors<double>(context, matrix.A.rows(), 8);
      const auto Y = test::applied(context, context, M, X);
      for (Index j = 0; j < X.cols(); ++j) {
        double energy = 0;
        for (Index i = 0; i < X.rows(); ++i) energy += X.view()(i, j) * Y.view()(i, j);
        EXPECT_GT(energy, 0) << matrix.name << ' ' << limits_of(products).name;
      }
    }
  }
}

/// Y = factor·X in single precision.
class Multiple final : public Preconditioner<float, HostContext> {
 public:
  Multiple(Index n, float factor) : Preconditioner<float, HostContext>(n, n), factor_(factor) {}

 protected:
  void apply_block(HostContext& context, ConstBlockView<float, HostSpace> X,
                   BlockView<float, HostSpace> Y) override {
    axpby<float>(context, factor_, X, 0, Y);
  }

 private:
  float factor_;
};

/// Block CG leaves a lowered preconditioner that is useless: negative, not finite, or so weak that
/// the solve is slow.
TEST(NarrowPreconditioner, BlockCgRaisesOneThatIsUseless) {
  HostContext context(2);
  auto A = test::make_operator<double>(context, {"laplace1d", {600}});
  const auto B = test::random_vectors<double>(context, A.rows(), 2);
  const PreconditionerKind& kind = preconditioner_table().get("multigrid");
  const auto make_full = [&](HostContext& later) {
    return kind.make<double>(later, A.matrix(), kind.options());
  };
  for (const auto algorithm : {CgAlgorithm::breakdown_free, CgAlgorithm::pseudo_block}) {
    for (const float factor : {-1.0f, std::numeric_limits<float>::quiet_NaN(), 1.0f}) {
      SCOPED_TRACE(factor);
      using Schedule = PreconditionerSchedule<double, HostContext>;
      Schedule M(Schedule::Stage(std::make_unique<Multiple>(A.rows(), factor),
                                 ProductPrecision::single_precision, make_full));
      BlockCgOptions options;
      options.algorithm = algorithm;
      const auto solved = block_cg<double, HostContext>(context, {&A, &M, B.view()}, options);
      EXPECT_EQ(solved.status, SolveStatus::converged) << solved.reason;
      EXPECT_EQ(M.current().raised(), 1);
      EXPECT_LE(solved.iterations, 40);
    }
  }
}

}  // namespace
}  // namespace heddle
