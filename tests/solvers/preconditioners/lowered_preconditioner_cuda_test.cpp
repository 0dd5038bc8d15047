#include <heddle/linalg/blocks/convert.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
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
