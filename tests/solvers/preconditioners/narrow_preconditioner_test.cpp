#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/lobpcg/lobpcg.hpp>

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
  const auto M = test::make_narrow(context, A.view(), {"chebyshev"}, ProductPrecision::bf16);
  const auto* lowered = dynamic_cast<const LoweredPreconditioner<HostContext>*>(M.get());
  ASSERT_NE(lowered, nullptr);
  const auto X = test::random_vectors<double>(context, A.rows(), 2);
  M.get()->set_strength(14);
  test::applied(context, context, *M.get(), X);
  EXPECT_EQ(lowered->raised(), 0);
  EXPECT_EQ(M.get()->strength(), 14);
  M.get()->set_strength(15);
  test::applied(context, context, *M.get(), X);
  EXPECT_EQ(lowered->raised(), 1);
  EXPECT_EQ(M.get()->strength(), 15);
  EXPECT_TRUE(M.get()->is_lowered());
  M.get()->raise(context);
  EXPECT_EQ(lowered->raised(), 2);
  EXPECT_EQ(M.get()->strength(), 15);
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
      const auto M = test::make_narrow(context, matrix.A.view(), {"chebyshev"}, products);
      M.get()->set_strength(14);
      const auto X = test::random_vectors<double>(context, matrix.A.rows(), 8);
      const auto Y = test::applied(context, context, *M.get(), X);
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
    return kind.make<double>(later, A.matrix(), kind.options()).preconditioner;
  };
  for (const auto algorithm : {CgAlgorithm::breakdown_free, CgAlgorithm::pseudo_block}) {
    for (const float factor : {-1.0f, std::numeric_limits<float>::quiet_NaN(), 1.0f}) {
      SCOPED_TRACE(factor);
      LoweredPreconditioner<HostContext> M(std::make_unique<Multiple>(A.rows(), factor), make_full);
      BlockCgOptions options;
      options.algorithm = algorithm;
      const auto solved = block_cg<double, HostContext>(context, {&A, &M, B.view()}, options);
      EXPECT_EQ(solved.status, SolveStatus::converged) << solved.reason;
      EXPECT_EQ(M.raised(), 1);
      EXPECT_LE(solved.iterations, 40);
    }
  }
}

}  // namespace
}  // namespace heddle
