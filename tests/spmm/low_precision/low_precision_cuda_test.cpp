#include <gtest/gtest.h>

#include <algorithm>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/spmm/low_precision/low_precision.hpp>
#include <heddle/spmm/low_precision/precision.hpp>
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
    for (const std::string_view kernel : low_precision_kernels()) {
      const Index fits = context().device().shared_bytes_per_block > 100'000 ? 3001 : 1000;
      if (kernel != "blocks" && kernel != "panels" && !order.rows.empty()) continue;
      if (kernel == "staged_slices" && A.cols > fits) continue;
      expect_bound(A, N, order, std::string(kernel));
    }
  }

  void expect_bound(const TestMatrix<double>& A, Index N, const BlockOrder& order,
                    const std::string& kernel) {
    LowPrecisionPlan<V, CudaContext> plan(context(), host_, A.view(),
                                          {.kernel = kernel, .order = order});
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
      const ProductError error =
          product_error<float>(host_, A.view(), B.view(), result.view(), precision_of<V>(),
                               {plan.row_exponents(), columns});
      EXPECT_LE(error.share, 1) << kernel << ' ' << A.rows << 'x' << A.cols << ", N = " << N
                                << ", row " << error.row << ", column " << error.column;
      EXPECT_GT(error.largest, 0);
    }
  }

  static std::vector<std::pair<std::string, Index>> kernels_and_widths(
      const std::vector<Index>& widths) {
    std::vector<std::pair<std::string, Index>> all;
    for (const std::string_view kernel : low_precision_kernels()) {
      for (const Index N : widths) all.push_back({std::string(kernel), N});
    }
    return all;
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
    for (const auto& [kernel, N] : this->kernels_and_widths({3, 8, 20, 70})) {
      LowPrecisionPlan<TypeParam, CudaContext> plan(this->context(), this->host_, A.view(),
                                                    {.kernel = kernel, .order = order});
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
          product_error<float>(this->host_, A.view(), B.view(), in_place.view(),
                               precision_of<TypeParam>(), {plan.row_exponents(), columns});
      EXPECT_LE(error.share, 1) << N;
      EXPECT_GT(error.largest, 0);
    }
  }
}

TYPED_TEST(LowPrecisionCuda, TheKernelFollowsThePattern) {
  const auto kernel_of = [&](const TestMatrix<double>& A) {
    return LowPrecisionPlan<TypeParam, CudaContext>(this->context(), this->host_, A.view(),
                                                    {.columns = 8})
        .kernel();
  };
  // Full blocks; half of each block's columns; diagonals.
  EXPECT_EQ(kernel_of(test::band_matrix<double>(5000, 5000, 200)), "blocks");
  const auto every_other = test::matrix_with_pattern<double>(4000, 4000, [](Index i) {
    std::vector<Index> columns;
    for (Index j = std::max<Index>(0, i / 16 * 16 - 96);
         j < std::min<Index>(4000, i / 16 * 16 + 96); j += 2) {
      columns.push_back(j);
    }
    return columns;
  });
  EXPECT_EQ(kernel_of(every_other), "panels");
  const auto diagonals = test::matrix_with_pattern<double>(40'000, 40'000, [](Index i) {
    std::vector<Index> columns;
    for (Index k = 0; k < 5; ++k) columns.push_back((i / 8 * 8 + 7919 * k * k) % 39'900 + i % 8);
    std::sort(columns.begin(), columns.end());
    return columns;
  });
  EXPECT_EQ(kernel_of(diagonals), "rows");
}

TYPED_TEST(LowPrecisionCuda, LongRowsAreCutIntoPieces) {
  // More entries than a piece has, than a thread block's pieces have, and fewer than eight rows.
  this->expect_bound(test::power_law_matrix<double>(2000, 1500, 1400), 8);
  this->expect_bound(test::power_law_matrix<double>(70, 2900, 2900), 12);
  this->expect_bound(test::random_matrix<double>(3, 700, 650), 3);
}

TYPED_TEST(LowPrecisionCuda, AStagedBThatHasNoRoomIsRefused) {
  const auto A = test::random_matrix<double>(20, 60'000, 3);
  EXPECT_THROW((LowPrecisionPlan<TypeParam, CudaContext>(this->context(), this->host_, A.view(),
                                                         {.kernel = "staged_slices"})),
               InvalidArgument);
}

TYPED_TEST(LowPrecisionCuda, WithoutScalingNumbersInTheRangeKeepTheirBound) {
  const auto A = test::random_matrix<double>(90, 110, 6);
  LowPrecisionPlan<TypeParam, CudaContext> plan(this->context(), this->host_, A.view(),
                                                {.scaling = RangeScaling::none});
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
  EXPECT_LE(product_error<float>(this->host_, A.view(), B.view(), result.view(),
                                 precision_of<TypeParam>(), {plan.row_exponents(), columns})
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
