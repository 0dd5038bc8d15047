#include <heddle/spmm/blocked/block_counts.hpp>
#include <heddle/spmm/low_precision/column_groups.hpp>

#include "spmm/low_precision/step_battery.hpp"
#include "support/cuda_test.hpp"
#include "support/matrices.hpp"

namespace heddle {
namespace {

template <class V>
class LowPrecisionStepCuda : public test::CudaTest {};

using Types = testing::Types<Half, Bfloat16, Tf32>;
TYPED_TEST_SUITE(LowPrecisionStepCuda, Types);

TYPED_TEST(LowPrecisionStepCuda, ProductsAreRoundedSumsOfRoundedFactors) {
  HostContext host(2);
  for (const std::string_view kernel : low_precision_kernels()) {
    test::expect_uneven_steps<TypeParam>(this->context(), host, std::string(kernel));
  }
}

TYPED_TEST(LowPrecisionStepCuda, ProductsOfNodesAreRoundedSumsOfRoundedFactors) {
  HostContext host(2);
  for (const std::string_view kernel : low_precision_kernels()) {
    test::expect_node_steps<TypeParam>(this->context(), host, std::string(kernel));
  }
}

TYPED_TEST(LowPrecisionStepCuda, RefusesWhatDoesNotFit) {
  HostContext host(1);
  test::expect_step_refusals<TypeParam>(this->context(), host);
}

TYPED_TEST(LowPrecisionStepCuda, MatricesOnTheDeviceGetTheKernelOfTheirPattern) {
  HostContext host(2);
  const auto kernel_of = [&](const HostCsrMatrix<double>& A, const std::string& way) {
    const auto there = place(this->context(), A.view());
    return std::string(
        LowPrecisionPlan<TypeParam, CudaContext>(this->context(), there.view(), {.kernel = way})
            .kernel());
  };
  // Panels of 8 columns, for values of 4 bytes, are near rows.
  const std::string of_nodes = kernel_of(test::node_matrix(host, 4000, 8), "auto");
  EXPECT_TRUE(of_nodes == "panels" || (sizeof(TypeParam) == 4 && of_nodes == "rows")) << of_nodes;
  std::vector<Triplet<double>> entries;
  constexpr Index kRows = 40'000;
  for (Index i = 0; i < kRows; ++i) {
    for (Index k = 0; k < 5; ++k) entries.push_back({i, (i + 997 * k) % kRows, 1.0});
  }
  const auto diagonals = csr_from_triplets<double>(host, kRows, kRows, entries);
  EXPECT_EQ(kernel_of(diagonals, "auto"), "rows");
  const std::string measured = kernel_of(diagonals, "measure");
  EXPECT_TRUE(measured == "rows" || measured == "panels") << measured;
}

TYPED_TEST(LowPrecisionStepCuda, ColumnGroupsAndLinesAreThoseOfTheHost) {
  HostContext host(2);
  constexpr Index kWidth = 32 / static_cast<Index>(sizeof(TypeParam));
  // The counts depend on the pattern alone.
  const auto placed = [&](const test::TestMatrix<double>& A) {
    return place(this->context(), A.view());
  };
  const auto pattern = [](const CsrMatrix<double, DeviceSpace>& A) {
    const auto view = A.view();
    return CsrView<TypeParam, DeviceSpace>{view.rows,        view.cols,    view.nnz,
                                           view.row_offsets, view.columns, nullptr};
  };
  for (const auto& A :
       {test::random_matrix<double>(203, 187, 9), test::band_matrix<double>(90, 90, 20),
        test::power_law_matrix<double>(60, 700, 600)}) {
    const auto there = placed(A);
    EXPECT_EQ(detail::count_column_groups(this->context(), pattern(there), nullptr),
              column_groups(count_blocks(host, pattern_of(A.view()), {16, 1}), kWidth));
  }
  // Eight rows with column 8k + i: one line of eight rows of B per k.
  const auto diagonals = placed(test::matrix_with_pattern<double>(8, 64, [](Index i) {
    return std::vector<Index>{i, 8 + i, 40 + i};
  }));
  EXPECT_EQ(detail::gathered_lines(this->context(), pattern(diagonals)), 3);
  const auto scattered = placed(test::matrix_with_pattern<double>(16, 200, [](Index i) {
    return std::vector<Index>{8 * i, 8 * i + 64};
  }));
  EXPECT_EQ(detail::gathered_lines(this->context(), pattern(scattered)), 32);
}

}  // namespace
}  // namespace heddle
