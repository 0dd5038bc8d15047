#include <gtest/gtest.h>

#include <algorithm>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/spmm/low_precision/error_bound.hpp>
#include <heddle/spmm/low_precision/low_precision_cuda.hpp>
#include <numeric>
#include <random>
#include <support/cuda_test.hpp>
#include <support/matrices.hpp>
#include <support/random_block.hpp>
#include <vector>

namespace heddle {
namespace {

using test::TestMatrix;

std::vector<std::int32_t> shuffled(Index size, unsigned seed) {
  std::vector<std::int32_t> order(static_cast<std::size_t>(size));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937(seed));
  return order;
}

template <class V>
class LowPrecisionCuda : public test::CudaTest {
 protected:
  static constexpr ProductPrecision precision() {
    if constexpr (std::is_same_v<V, Half>) return ProductPrecision::half;
    if constexpr (std::is_same_v<V, Bfloat16>) return ProductPrecision::bf16;
    return ProductPrecision::tf32;
  }

  MultiVector<double, HostSpace> random(Index rows, Index N) {
    MultiVector<double, HostSpace> B(host_, rows, N);
    test::RandomBlock<double> entries(rows, N, N, 3);
    for (Index i = 0; i < rows; ++i) {
      for (Index j = 0; j < N; ++j) B.view()(i, j) = entries.view()(i, j) * (j % 3 == 1 ? 1e9 : 1);
    }
    return B;
  }

  /// Multiplies twice, compares the bits, and compares with the exact product.
  void expect_bound(const TestMatrix<double>& A, Index N, const BlockOrder& order = {}) {
    LowPrecisionPlan<V, CudaContext> plan(context(), host_, A.view(), RangeScaling::powers_of_two,
                                          order);
    const MultiVector<double, HostSpace> B = random(A.cols, N);
    MultiVector<double, DeviceSpace> on_device(context(), A.cols, N);
    send<double>(context(), B.view(), on_device.view());
    std::vector<float> first;
    for (int run = 0; run < 2; ++run) {
      MultiVector<float, DeviceSpace> C(context(), A.rows, N);
      plan.multiply(context(), ConstBlockView<double, DeviceSpace>(on_device.view()), C.view());
      MultiVector<float, HostSpace> result(host_, A.rows, N);
      fetch<float>(context(), C.view(), result.view());
      std::vector<float> bits;
      for (Index i = 0; i < A.rows; ++i) {
        for (Index j = 0; j < N; ++j) bits.push_back(result.view()(i, j));
      }
      if (run == 1) {
        EXPECT_EQ(bits, first);
        continue;
      }
      first = bits;
      const std::vector<std::int32_t> columns = plan.column_exponents(context());
      const ProductError error = product_error<float>(host_, A.view(), B.view(), result.view(),
                                                      precision(), {plan.row_exponents(), columns});
      EXPECT_LE(error.share, 1) << A.rows << 'x' << A.cols << ", N = " << N << ", row " << error.row
                                << ", column " << error.column;
      EXPECT_GT(error.largest, 0);
    }
  }

  HostContext host_{2};
};
using Types = testing::Types<Half, Bfloat16, Tf32>;
TYPED_TEST_SUITE(LowPrecisionCuda, Types);

TYPED_TEST(LowPrecisionCuda, KeepsItsBoundForAllWidths) {
  const auto A = test::random_matrix<double>(203, 187, 9);
  for (const Index N : {1, 7, 8, 9, 16, 31, 32, 48, 64, 65, 130}) this->expect_bound(A, N);
}

TYPED_TEST(LowPrecisionCuda, KeepsItsBoundForAllPatterns) {
  this->expect_bound(test::band_matrix<double>(500, 500, 40), 8);
  this->expect_bound(test::grid_matrix<double>(9, 8, 7), 16);
  this->expect_bound(test::random_matrix<double>(5, 3000, 400), 8);
  this->expect_bound(test::random_matrix<double>(3000, 5, 2), 24);
}

TYPED_TEST(LowPrecisionCuda, LongBlockRowsAreCut) {
  // One row with an entry in every block column, beside short ones.
  this->expect_bound(test::power_law_matrix<double>(300, 30000, 29000), 8);
  this->expect_bound(test::power_law_matrix<double>(300, 30000, 29000), 72);
}

TYPED_TEST(LowPrecisionCuda, OrdersChangeNothingButTheSums) {
  const auto A = test::random_matrix<double>(120, 150, 7);
  this->expect_bound(A, 8, {shuffled(A.rows, 1), {}});
  this->expect_bound(A, 8, {shuffled(A.rows, 1), shuffled(A.cols, 2)});
}

TYPED_TEST(LowPrecisionCuda, EmptyRowsBecomeZero) {
  const auto A = test::matrix_with_pattern<double>(
      70, 40, [](Index i) { return i == 33 ? std::vector<Index>{3} : std::vector<Index>{}; });
  this->expect_bound(A, 5);
}

TYPED_TEST(LowPrecisionCuda, RefusesShapesThatDoNotFit) {
  const auto A = test::random_matrix<double>(20, 30, 3);
  LowPrecisionPlan<TypeParam, CudaContext> plan(this->context(), this->host_, A.view());
  MultiVector<double, DeviceSpace> B(this->context(), 20, 4);
  MultiVector<float, DeviceSpace> C(this->context(), 20, 4);
  EXPECT_THROW(
      plan.multiply(this->context(), ConstBlockView<double, DeviceSpace>(B.view()), C.view()),
      InvalidArgument);
}

}  // namespace
}  // namespace heddle
