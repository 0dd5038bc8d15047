#include <heddle/spmm/features/features_cuda.hpp>
#include <heddle/spmm/model/model.hpp>
#include <heddle/spmm/select/pattern_hash.hpp>
#include <utility>

#include "spmm/plan/spmm_cuda_fixture.hpp"

namespace heddle {
namespace {

using test::Case;
using test::DeviceMatrix;
using test::TestMatrix;

template <class T>
class KernelChoiceCuda : public test::SpmmCuda<T> {};
TYPED_TEST_SUITE(KernelChoiceCuda, test::SpmmScalars);

TYPED_TEST(KernelChoiceCuda, NamesItsKernelAndWhy) {
  using T = TypeParam;
  const TestMatrix<T> A = test::power_law_matrix<T>(300, 300, 290);
  const DeviceMatrix<T> device(this->context(), A);
  const SpmmPlan<T, CudaContext> asked(this->context(), device.view(), {"merge"});
  EXPECT_EQ(asked.kernel(8), "merge");
  EXPECT_EQ(asked.reason(8), "asked for");
  const SpmmPlan<T, CudaContext> measured(this->context(), device.view(), {"measure"});
  Case<T> product(A, 8, {0, 0}, T{1}, T{0});
  product.expect(product.multiply(this->context(), measured), "measure");
  EXPECT_NE(measured.reason(8).find("measured: "), std::string::npos) << measured.reason(8);
}

TYPED_TEST(KernelChoiceCuda, TheKernelOfAutoIsTheOneThatTheModelPredictsFastest) {
  using T = TypeParam;
  const TestMatrix<T> A = test::band_matrix<T>(5000, 5000, 9);
  const DeviceMatrix<T> device(this->context(), A);
  const SpmmPlan<T, CudaContext> plan(this->context(), device.view());
  const DeviceSpeed speed = device_speed(this->context());
  EXPECT_GT(speed.clock, 5e8);
  EXPECT_GT(speed.memory_bytes, 1e11);
  EXPECT_GT(speed.l2_bytes, 1e6);
  for (const Index N : {1, 7, 16, 128}) {
    EXPECT_EQ(plan.kernel(N), choose_by_model(plan.features(), N, sizeof(T), speed).kernel);
  }
}

TYPED_TEST(KernelChoiceCuda, AMeasuredChoiceIsKept) {
  using T = TypeParam;
  const TestMatrix<T> A = test::random_matrix<T>(2000, 2000, 11);
  const DeviceMatrix<T> device(this->context(), A);
  EXPECT_EQ(detail::pattern_hash(A.rows, A.offsets.data(), A.columns.data()),
            detail::cuda::pattern_hash(this->context(), A.rows, device.view().nnz,
                                       device.view().row_offsets, device.view().columns));
  const auto measured = [&] {
    const SpmmPlan<T, CudaContext> plan(this->context(), device.view(), {"measure"});
    Case<T> product(A, 9, {0, 0}, T{1}, T{0});
    product.expect(product.multiply(this->context(), plan), "measure");
    return std::pair(std::string(plan.kernel(9)), plan.reason(9));
  };
  const auto first = measured();
  const auto second = measured();
  EXPECT_EQ(first.first, second.first);
  EXPECT_NE(first.second.find("measured: "), std::string::npos) << first.second;
  EXPECT_NE(second.second.find("measured earlier"), std::string::npos) << second.second;
}

TYPED_TEST(KernelChoiceCuda, TheFeaturesOfTheRulesAreThoseOfTheHost) {
  using T = TypeParam;
  HostContext host;
  for (const TestMatrix<T>& A :
       {test::node_block_matrix<T>(40, 3), test::band_matrix<T>(999, 999, 7),
        test::power_law_matrix<T>(300, 300, 290), test::random_matrix<T>(4000, 500, 9)}) {
    const MatrixFeatures expected = matrix_features<T>(host, A.view());
    const DeviceMatrix<T> device(this->context(), A);
    const MatrixFeatures actual = detail::cuda::device_features(this->context(), device.view());
    EXPECT_EQ(actual.row_max, expected.row_max);
    EXPECT_EQ(actual.values_are_floats, expected.values_are_floats);
    EXPECT_DOUBLE_EQ(actual.row_mean, expected.row_mean);
    EXPECT_DOUBLE_EQ(actual.reuse_grid, expected.reuse_grid);
    EXPECT_GE(actual.reuse_grid, 1);
    EXPECT_DOUBLE_EQ(actual.reuse_2048, expected.reuse_2048);
    EXPECT_DOUBLE_EQ(actual.reuse_32768, expected.reuse_32768);
    EXPECT_DOUBLE_EQ(actual.column_run, expected.column_run);
    EXPECT_EQ(actual.rows_within_128, expected.rows_within_128);
    // From as many tiles as there are.
    EXPECT_DOUBLE_EQ(actual.reuse_128, expected.reuse_128);
  }
  // All node rows are among the sampled ones.
  const TestMatrix<T> nodes = test::node_block_matrix<T>(40, 3);
  const DeviceMatrix<T> device(this->context(), nodes);
  const MatrixFeatures features = detail::cuda::device_features(this->context(), device.view());
  EXPECT_EQ(features.node_size, 3);
  EXPECT_DOUBLE_EQ(features.node_fill, matrix_features<T>(host, nodes.view()).node_fill);
}

}  // namespace
}  // namespace heddle
