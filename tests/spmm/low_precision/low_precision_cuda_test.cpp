#include <gtest/gtest.h>

#include <algorithm>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/spmm/low_precision/error_bound.hpp>
#include <heddle/spmm/low_precision/low_precision_cuda.hpp>
#include <limits>
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
    expect_bound(A, N, order, BlockStorage::blocks);
    if (order.rows.empty()) expect_bound(A, N, order, BlockStorage::rows);
  }

  void expect_bound(const TestMatrix<double>& A, Index N, const BlockOrder& order,
                    BlockStorage storage) {
    LowPrecisionPlan<V, CudaContext> plan(context(), host_, A.view(), RangeScaling::powers_of_two,
                                          order, storage);
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

  /// The product with a B that is in V already, its rows `ld` apart. What lies between its rows is
  /// NaN, which must not reach C.
  MultiVector<float, HostSpace> short_product(LowPrecisionPlan<V, CudaContext>& plan,
                                              const TestMatrix<double>& A,
                                              const MultiVector<double, HostSpace>& B, Index ld) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    std::vector<V> values(static_cast<std::size_t>(A.cols * ld), V::round(nan));
    for (Index i = 0; i < A.cols; ++i) {
      for (Index j = 0; j < B.cols(); ++j) {
        values[static_cast<std::size_t>(i * ld + j)] = V::round(B.view()(i, j));
      }
    }
    Buffer<V, DeviceSpace> placed(context(), values.size());
    context().copy_to_device(placed.data(), values.data(), values.size() * sizeof(V));
    MultiVector<float, DeviceSpace> C(context(), A.rows, B.cols());
    plan.multiply(context(), ConstBlockView<V, DeviceSpace>(placed.data(), A.cols, B.cols(), ld),
                  C.view());
    MultiVector<float, HostSpace> result(host_, A.rows, B.cols());
    fetch<float>(context(), C.view(), result.view());
    return result;
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

TYPED_TEST(LowPrecisionCuda, ShortBlocksAreReadWhereTheyLieOrCopied) {
  // Columns that end inside a block, orders of both, and a block row that is cut.
  const auto A = test::power_law_matrix<double>(200, 3001, 2900);
  for (const BlockOrder& order : {BlockOrder{}, BlockOrder{shuffled(200, 3), shuffled(3001, 4)}}) {
    LowPrecisionPlan<TypeParam, CudaContext> plan(this->context(), this->host_, A.view(),
                                                  RangeScaling::powers_of_two, order);
    for (const Index N : {3, 8, 20, 70}) {
      MultiVector<double, HostSpace> B(this->host_, A.cols, N);
      test::RandomBlock<double> entries(A.cols, N, N, 5);
      for (Index i = 0; i < A.cols; ++i) {
        for (Index j = 0; j < N; ++j) B.view()(i, j) = entries.view()(i, j);
      }
      const Index whole = (N + 7) / 8 * 8;
      const auto in_place = this->short_product(plan, A, B, whole);
      const auto copied = this->short_product(plan, A, B, whole + 1);
      for (Index i = 0; i < A.rows; ++i) {
        for (Index j = 0; j < N; ++j) {
          ASSERT_EQ(in_place.view()(i, j), copied.view()(i, j)) << N << ' ' << i << ' ' << j;
        }
      }
      const std::vector<std::int32_t> columns = plan.column_exponents(this->context());
      EXPECT_EQ(columns, std::vector<std::int32_t>(static_cast<std::size_t>(N), 0));
      const ProductError error =
          product_error<float>(this->host_, A.view(), B.view(), in_place.view(), this->precision(),
                               {plan.row_exponents(), columns});
      EXPECT_LE(error.share, 1) << N;
      EXPECT_GT(error.largest, 0);
    }
  }
}

TYPED_TEST(LowPrecisionCuda, BlocksByColumnsGiveTheBitsOfBlocksByRows) {
  const auto A = test::random_matrix<double>(90, 111, 6);
  for (const BlockStorage storage : {BlockStorage::blocks, BlockStorage::rows}) {
    LowPrecisionPlan<TypeParam, CudaContext> plan(this->context(), this->host_, A.view(),
                                                  RangeScaling::powers_of_two, {}, storage);
    for (const Index N : {1, 8, 37}) {
      const MultiVector<double, HostSpace> B = this->random(A.cols, N);
      const Index ld = A.cols + 3;
      std::vector<double> by_columns(static_cast<std::size_t>(ld * N), -1e30);
      for (Index i = 0; i < A.cols; ++i) {
        for (Index j = 0; j < N; ++j)
          by_columns[static_cast<std::size_t>(i + j * ld)] = B.view()(i, j);
      }
      Buffer<double, DeviceSpace> placed(this->context(), by_columns.size());
      this->context().copy_to_device(placed.data(), by_columns.data(),
                                     by_columns.size() * sizeof(double));
      MultiVector<double, DeviceSpace> by_rows(this->context(), A.cols, N);
      send<double>(this->context(), B.view(), by_rows.view());
      MultiVector<float, DeviceSpace> C(this->context(), A.rows, 2 * N);
      plan.multiply(this->context(), ConstBlockView<double, DeviceSpace>(by_rows.view()),
                    C.columns(0, N));
      plan.multiply(this->context(),
                    ColumnMajorBlock<double, DeviceSpace>{placed.data(), A.cols, N, ld},
                    C.columns(N, N));
      MultiVector<float, HostSpace> result(this->host_, A.rows, 2 * N);
      fetch<float>(this->context(), C.view(), result.view());
      for (Index i = 0; i < A.rows; ++i) {
        for (Index j = 0; j < N; ++j) {
          ASSERT_EQ(result.view()(i, j), result.view()(i, N + j)) << N << ' ' << i << ' ' << j;
        }
      }
    }
  }
}

TYPED_TEST(LowPrecisionCuda, MatricesWithScatteredEntriesStayInRows) {
  const auto scattered = test::random_matrix<double>(2000, 2000, 9);
  const auto band = test::band_matrix<double>(500, 500, 40);
  const auto in_rows = [&](const TestMatrix<double>& A) {
    return LowPrecisionPlan<TypeParam, CudaContext>(this->context(), this->host_, A.view())
        .in_rows();
  };
  EXPECT_TRUE(in_rows(scattered));
  EXPECT_FALSE(in_rows(band));
}

TYPED_TEST(LowPrecisionCuda, WithoutScalingNumbersInTheRangeKeepTheirBound) {
  const auto A = test::random_matrix<double>(90, 110, 6);
  LowPrecisionPlan<TypeParam, CudaContext> plan(this->context(), this->host_, A.view(),
                                                RangeScaling::none);
  MultiVector<double, HostSpace> B(this->host_, A.cols, 9);
  test::RandomBlock<double> entries(A.cols, 9, 9, 6);
  for (Index i = 0; i < A.cols; ++i) {
    for (Index j = 0; j < 9; ++j) B.view()(i, j) = entries.view()(i, j);
  }
  MultiVector<double, DeviceSpace> placed(this->context(), A.cols, 9);
  send<double>(this->context(), B.view(), placed.view());
  MultiVector<float, DeviceSpace> C(this->context(), A.rows, 9);
  plan.multiply(this->context(), ConstBlockView<double, DeviceSpace>(placed.view()), C.view());
  MultiVector<float, HostSpace> result(this->host_, A.rows, 9);
  fetch<float>(this->context(), C.view(), result.view());
  const std::vector<std::int32_t> columns = plan.column_exponents(this->context());
  EXPECT_EQ(columns, std::vector<std::int32_t>(9, 0));
  EXPECT_LE(product_error<float>(this->host_, A.view(), B.view(), result.view(), this->precision(),
                                 {plan.row_exponents(), columns})
                .share,
            1);
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
