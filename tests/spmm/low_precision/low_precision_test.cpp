#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <heddle/linalg/base/error.hpp>
#include <heddle/spmm/low_precision/low_precision.hpp>
#include <heddle/spmm/low_precision/precision.hpp>
#include <limits>
#include <string>
#include <support/allocations.hpp>
#include <support/matrices.hpp>
#include <support/random_block.hpp>
#include <vector>

namespace heddle {
namespace {

using test::TestMatrix;

/// A one-entry matrix.
TestMatrix<double> single_entry(double value) { return {1, 1, {0, 1}, {0}, {value}}; }

/// Rows of very different magnitudes.
TestMatrix<double> graded_matrix() {
  TestMatrix<double> A = test::random_matrix<double>(60, 50, 6);
  for (std::size_t i = 0; i < 60; ++i) {
    for (auto k = A.offsets[i]; k < A.offsets[i + 1]; ++k) {
      A.values[static_cast<std::size_t>(k)] *= std::pow(10.0, static_cast<double>(i % 13) - 6);
    }
  }
  return A;
}

template <class V>
class LowPrecision : public testing::Test {
 protected:
  static constexpr ProductPrecision kPrecision = precision_of<V>();

  struct Product {
    std::vector<float> C;
    ProductError error;
  };

  Product multiply(const TestMatrix<double>& A, ConstBlockView<double, HostSpace> B,
                   RangeScaling scaling = RangeScaling::powers_of_two, int threads = 2) {
    HostContext context(threads);
    LowPrecisionPlan<V, HostContext> plan(context, A.view(), {.scaling = scaling});
    Product product{std::vector<float>(static_cast<std::size_t>(A.rows * B.cols()), -1), {}};
    const BlockView<float, HostSpace> C(product.C.data(), A.rows, B.cols(), B.cols());
    plan.multiply(context, B, C);
    product.error = product_error<float>(context, A.view(), B, C, kPrecision,
                                         {plan.row_exponents(), plan.column_exponents()});
    return product;
  }

  std::string refusal(double a, double b, RangeScaling scaling) {
    try {
      multiply(single_entry(a), {&b, 1, 1, 1}, scaling);
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "";
  }
};
using Types = testing::Types<Half, Bfloat16, Tf32>;
TYPED_TEST_SUITE(LowPrecision, Types);

TYPED_TEST(LowPrecision, KeepsItsBound) {
  const TestMatrix<double> matrices[] = {
      test::random_matrix<double>(80, 70, 5), test::band_matrix<double>(90, 90, 20),
      test::power_law_matrix<double>(60, 700, 600), graded_matrix()};
  for (const TestMatrix<double>& A : matrices) {
    test::RandomBlock<double> B(A.cols, 6, 7, 3);
    for (Index i = 0; i < A.cols; ++i) B.view()(i, 2) *= 1e-9;  // a column far from the others
    const auto product = this->multiply(A, B.view());
    EXPECT_LE(product.error.share, 1);
    EXPECT_GT(product.error.largest, 0);
    EXPECT_LE(product.error.largest, product.error.bound);
  }
}

TYPED_TEST(LowPrecision, TheBoundIsReachedByOneWorstProduct) {
  // 1 + u rounds to 1, so that the error is 2u + u².
  const double worst = 1 + TypeParam::kRoundoff;
  const auto product = this->multiply(single_entry(worst), {&worst, 1, 1, 1});
  EXPECT_EQ(product.C[0], 1);
  EXPECT_GT(product.error.share, 0.99);
  EXPECT_LE(product.error.share, 1);
}

TYPED_TEST(LowPrecision, AnEntryBesideItsBoundIsFound) {
  HostContext context(2);
  const auto A = test::random_matrix<double>(300, 40, 5);
  test::RandomBlock<double> B(40, 3, 3, 1);
  auto product = this->multiply(A, B.view());
  product.C[250 * 3 + 1] += 0.5f;
  const LowPrecisionPlan<TypeParam, HostContext> plan(context, A.view());
  const auto error =
      product_error<float>(context, A.view(), B.view(), {product.C.data(), A.rows, 3, 3},
                           this->kPrecision, {plan.row_exponents(), {}});
  EXPECT_GT(error.share, 1);
  EXPECT_EQ(error.row, 250);
  EXPECT_EQ(error.column, 1);
  product.C[299 * 3] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(product_error<float>(context, A.view(), B.view(), {product.C.data(), A.rows, 3, 3},
                                 this->kPrecision, {plan.row_exponents(), {}})
                .share,
            std::numeric_limits<double>::infinity());
}

TYPED_TEST(LowPrecision, ScalingBringsAnyNumberIntoRange) {
  for (const double scale : {1e-300, 1e-40, 1.0, 1e40, 1e300}) {
    TestMatrix<double> A = test::random_matrix<double>(40, 40, 4);
    for (double& value : A.values) value *= scale;
    test::RandomBlock<double> B(40, 2, 2, 1);
    for (double& value : B.data()) value /= scale;
    const auto product = this->multiply(A, B.view());
    EXPECT_LE(product.error.share, 1) << scale;
    EXPECT_GT(*std::max_element(product.C.begin(), product.C.end()), 0) << scale;
  }
}

TYPED_TEST(LowPrecision, RefusalsNameThePlace) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  constexpr auto kScale = RangeScaling::powers_of_two;
  const std::string name(limits_of(this->kPrecision).name);
  EXPECT_NE(this->refusal(kNaN, 1, kScale).find("entry (1, 1) of A is nan"), std::string::npos);
  EXPECT_NE(this->refusal(1, -HUGE_VAL, kScale).find("entry (1, 1) of B is -inf"),
            std::string::npos);
  for (const auto& [a, b, matrix] : {std::tuple{1e39, 1.0, "A"}, std::tuple{1.0, -1e39, "B"}}) {
    const std::string refused = this->refusal(a, b, RangeScaling::none);
    EXPECT_NE(refused.find(std::string(") of ") + matrix + " is"), std::string::npos) << refused;
    EXPECT_NE(refused.find("beyond the largest number of " + name), std::string::npos) << refused;
  }
  const std::string product = this->refusal(1e200, 1e-150, kScale);
  EXPECT_NE(product.find("entry (1, 1) of C = A B is"), std::string::npos) << product;
  EXPECT_NE(product.find("choose double precision"), std::string::npos) << product;
}

TYPED_TEST(LowPrecision, SameBitsForEveryNumberOfThreads) {
  const auto A = test::power_law_matrix<double>(2000, 900, 800);
  test::RandomBlock<double> B(900, 5, 5, 1);
  constexpr auto kScale = RangeScaling::powers_of_two;
  EXPECT_EQ(this->multiply(A, B.view(), kScale, 1).C, this->multiply(A, B.view(), kScale, 3).C);
}

TYPED_TEST(LowPrecision, APlanTakesAnyWidth) {
  HostContext context(1);
  const auto A = test::random_matrix<double>(30, 20, 4);
  LowPrecisionPlan<TypeParam, HostContext> plan(context, A.view());
  test::RandomBlock<double> B(20, 9, 9, 1);
  std::vector<float> wide(30 * 9);
  plan.multiply(context, ConstBlockView<double, HostSpace>(B.view()),
                BlockView<float, HostSpace>(wide.data(), 30, 9, 9));
  for (const Index N : {1, 4, 9}) {
    std::vector<float> C(static_cast<std::size_t>(30 * N));
    plan.multiply(context, ConstBlockView<double, HostSpace>(B.view().columns(0, N)),
                  BlockView<float, HostSpace>(C.data(), 30, N, N));
    for (Index i = 0; i < 30; ++i) {
      for (Index j = 0; j < N; ++j) {
        EXPECT_EQ(C[static_cast<std::size_t>(i * N + j)],
                  wide[static_cast<std::size_t>(i * 9 + j)]);
      }
    }
  }
  const std::size_t before = context.allocation_count().allocations;
  const std::size_t heap = test::heap_allocations();
  plan.multiply(context, ConstBlockView<double, HostSpace>(B.view()),
                BlockView<float, HostSpace>(wide.data(), 30, 9, 9));
  EXPECT_EQ(test::heap_allocations(), heap);
  EXPECT_EQ(context.allocation_count().allocations, before);
  const BlockView<float, HostSpace> flat(wide.data(), 20, 9, 9);
  EXPECT_THROW(plan.multiply(context, ConstBlockView<double, HostSpace>(B.view()), flat),
               InvalidArgument);
}

/// The largest error of products in T, by long double.
template <Scalar T>
void expect_error_of_plain_products(ProductPrecision precision) {
  HostContext context(2);
  const auto A = test::power_law_matrix<double>(50, 300, 250);
  test::RandomBlock<double> B(300, 4, 4, 2);
  std::vector<T> C(50 * 4);
  long double largest = 0;
  for (Index i = 0; i < 50; ++i) {
    for (Index j = 0; j < 4; ++j) {
      long double exact = 0;
      T sum = 0;
      for (auto k = A.offsets[static_cast<std::size_t>(i)];
           k < A.offsets[static_cast<std::size_t>(i + 1)]; ++k) {
        const double a = A.values[static_cast<std::size_t>(k)];
        const double b = B.view()(A.columns[static_cast<std::size_t>(k)], j);
        exact += static_cast<long double>(a) * static_cast<long double>(b);
        sum += static_cast<T>(a) * static_cast<T>(b);
      }
      C[static_cast<std::size_t>(i * 4 + j)] = sum;
      largest = std::max(largest, std::abs(static_cast<long double>(sum) - exact));
    }
  }
  const auto error =
      product_error<T>(context, A.view(), B.view(), {C.data(), 50, 4, 4}, precision, {{}, {}});
  EXPECT_NEAR(error.largest, static_cast<double>(largest), 1e-3 * static_cast<double>(largest));
  EXPECT_LE(error.share, 1);
  EXPECT_GT(error.share, 1e-4);
}

TEST(ProductError, OfPlainProductsInSingleAndDouble) {
  expect_error_of_plain_products<float>(ProductPrecision::single_precision);
  expect_error_of_plain_products<double>(ProductPrecision::double_precision);
}

/// diag(1, 1e-30, 1e-50) times columns of 1, 1e-20 and 0.
TEST(ProductError, CountsEntriesThatUnderflowMayChange) {
  HostContext context(1);
  const std::vector<Index> offsets = {0, 1, 2, 3};
  const std::vector<std::int32_t> columns = {0, 1, 2};
  const std::vector<double> values = {1, 1e-30, 1e-50};
  const CsrView<double, HostSpace> A{3, 3, 3, offsets.data(), columns.data(), values.data()};
  const std::vector<double> B = {1, 1e-20, 0, 1, 1e-20, 0, 1, 1e-20, 0};
  const auto underflows = [&]<class T>(T, ProductPrecision precision) {
    const std::vector<T> C = {1, T(1e-20), 0, T(1e-30), 0, 0, 0, 0, 0};
    return product_error<T>(context, A, {B.data(), 3, 3, 3}, {C.data(), 3, 3, 3}, precision,
                            {{}, {}})
        .underflows;
  };
  EXPECT_EQ(underflows(0.0F, ProductPrecision::single_precision), 3);  // 1e-50, 1e-50 and 1e-70
  EXPECT_EQ(underflows(0.0, ProductPrecision::double_precision), 0);
}

TEST(ProductPrecisions, HaveNames) {
  EXPECT_EQ(product_precisions().size(), 5u);
  for (const ProductPrecision precision : product_precisions()) {
    EXPECT_EQ(find_precision(limits_of(precision).name), precision);
  }
  EXPECT_EQ(find_precision("quarter"), std::nullopt);
}

}  // namespace
}  // namespace heddle
