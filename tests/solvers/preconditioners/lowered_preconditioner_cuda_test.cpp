#include <heddle/linalg/blocks/convert.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/preconditioners/chebyshev/narrow_chebyshev.hpp>
#include <heddle/solvers/preconditioners/schedule/schedule.hpp>

#include "solvers/preconditioners/lowered_preconditioner_battery.hpp"
#include "solvers/preconditioners/narrow_solves.hpp"
#include "support/cuda_test.hpp"

namespace heddle {
namespace {

using LoweredPreconditionerCuda = test::CudaTest;

TEST_F(LoweredPreconditionerCuda, KeepsTheDigitsOfColumnsOfAnyNorm) {
  HostContext host(2);
  test::expect_lowered_products(context(), host);
}

TEST_F(LoweredPreconditionerCuda, ProductsInShortNumberTypesKeepTheirDigits) {
  HostContext host(2);
  test::expect_narrow_products(context(), host);
}

/// An elastic body in half precision, whose rows fill panels. Columns of norm 1, and 8 steps.
TEST_F(LoweredPreconditionerCuda, TensorCoresMultiplyWhereTheyArePredictedToBeFaster) {
  HostContext host(2);
  constexpr int kDegree = 8;
  auto elastic = generate<double>(host, {"elasticity3d", {12, 12, 12}});
  const auto X = test::random_vectors<double>(host, elastic.rows(), 16);
  const PreconditionerKind& kind = preconditioner_table().get("chebyshev");
  const auto options = kind.options({{"degree", kDegree}});
  const auto expected =
      test::applied(host, host, *kind.make<double>(host, elastic.view(), options).get(), X);
  const auto A = place(context(), std::move(elastic));
  NarrowChebyshev<Half, CudaContext> M(context(), A.view(), kDegree);
  EXPECT_EQ(M.products().kernel(), "panels") << M.products().reason();
  MultiVector<float, HostSpace> rounded(host, X.rows(), X.cols());
  for (Index i = 0; i < X.rows(); ++i) {
    for (Index j = 0; j < X.cols(); ++j) rounded.view()(i, j) = static_cast<float>(X.view()(i, j));
  }
  const auto there = place(context(), std::move(rounded));
  MultiVector<float, DeviceSpace> Y(context(), X.rows(), X.cols());
  M.apply(context(), there.view(), Y.view());
  const auto found = fetch(context(), host, std::move(Y));
  MultiVector<double, HostSpace> wide(host, X.rows(), X.cols());
  for (Index i = 0; i < X.rows(); ++i) {
    for (Index j = 0; j < X.cols(); ++j) {
      wide.view()(i, j) = static_cast<double>(found.view()(i, j));
    }
  }
  for (Index j = 0; j < X.cols(); ++j) {
    const double difference = test::column_difference(expected, wide, j);
    EXPECT_LE(difference, 20 * Half::kRoundoff) << "column " << j;
    EXPECT_GE(difference, Half::kRoundoff / 50) << "column " << j << " was computed in more digits";
  }
}

TEST_F(LoweredPreconditionerCuda, SolvesWithShortNumberTypesEndAsThoseInDouble) {
  HostContext host(2);
  for (const test::NamedMatrix& matrix : test::narrow_test_matrices(host)) {
    test::expect_values_of_double(context(), host, matrix);
    test::expect_residuals_of_double(context(), host, matrix);
  }
}

TEST_F(LoweredPreconditionerCuda, AColumnThatIsNotFiniteLeavesTheOthersAlone) {
  HostContext host(2);
  test::expect_columns_apart(context(), host);
}

TEST_F(LoweredPreconditionerCuda, ScalesAndRoundsColumnsAsTheHostDoes) {
  HostContext host(2);
  auto X = test::columns_of_all_sizes(host, 3000);
  const Index n = X.rows(), b = X.cols();
  SmallMatrix<double, HostSpace> scales(host, b, 2);
  MultiVector<float, HostSpace> expected(host, n, b);
  norm_scales<double>(host, X.view(), scales.view(b, 2));
  convert<float, double>(host, X.view(), scales.view(b, 2).block(0, 0, b, 1), expected.view());

  const auto there = place(context(), std::move(X));
  SmallMatrix<double, DeviceSpace> device_scales(context(), b, 2);
  MultiVector<float, DeviceSpace> found(context(), n, b);
  norm_scales<double>(context(), there.view(), device_scales.view(b, 2));
  convert<float, double>(context(), there.view(), device_scales.view(b, 2).block(0, 0, b, 1),
                         found.view());
  const auto fetched = fetch(context(), host, std::move(found));
  EXPECT_EQ(test::all_entries<float>(fetched.view()), test::all_entries<float>(expected.view()));
}

TEST_F(LoweredPreconditionerCuda, TheDegreeSuitsWiderBlocksThanProductsHad) {
  HostContext host(2);
  auto A = generate<double>(host, {"laplace2d", {40, 41}});
  const PreconditionerKind& kind = preconditioner_table().get("chebyshev");
  const auto on_host = kind.make<double>(host, A.view(), kind.options());
  auto X = test::random_vectors<double>(host, A.rows(), 8);
  const std::vector<double> energies{2, 3, 4, 5, 6, 7, 8, 9};
  // The host takes 1.15 times the degree. Both are rounded.
  const auto expected =
      static_cast<double>(on_host->variable_degree()->suitable_degree(host, X.view(), energies));
  const auto A_there = place(context(), std::move(A));
  const auto X_there = place(context(), std::move(X));
  using Stage = PreconditionerStage<double, CudaContext>;
  Stage lowered = kind.lowered_stage(context(), A_there.view(), kind.options());
  Stage full(kind.make<double>(context(), A_there.view(), kind.options()));
  for (Stage* const M : {&lowered, &full}) {
    MultiVector<double, DeviceSpace> Y(context(), X_there.rows(), 5);
    M->apply(context(), X_there.columns(0, 5), Y.view());
    const auto found = static_cast<double>(M->suitable_degree(context(), X_there.view(), energies));
    EXPECT_NEAR(1.15 * found, expected, 1.1);
    EXPECT_GT(found, 1);
  }
}

TEST_F(LoweredPreconditionerCuda, RefusesDiagonalsOutOfRange) {
  HostContext host(1);
  const auto A = [&](double entry) {
    return place(context(),
                 csr_from_triplets<double>(host, 2, 2,
                                           std::vector<Triplet<double>>{{0, 0, 1}, {1, 1, entry}}));
  };
  EXPECT_EQ(refuse_single_precision(context(), A(1e-10).view()), "");
  EXPECT_NE(refuse_single_precision(context(), A(1e-30).view()), "");
}

}  // namespace
}  // namespace heddle
