#include <gtest/gtest.h>

#include <cmath>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/solvers/cg/column_order.hpp>
#include <limits>
#include <utility>

#include "solvers/linear_test_support.hpp"

namespace heddle::detail {
namespace {

constexpr Index kRows = 7;
constexpr Index kColumns = 6;

/// Random right-hand sides of very different sizes. X and R hold their scaled columns.
template <class T>
class ColumnOrderTest : public testing::Test {
 protected:
  ColumnOrderTest() : B_(test::random_vectors<T>(context_, kRows, kColumns)) {
    for (Index j = 0; j < kColumns; ++j) {
      for (Index i = 0; i < kRows; ++i)
        B_.view()(i, j) *= std::ldexp(T{1}, static_cast<int>(9 * j));
    }
    storage_.reset();
  }

  void begin() {
    ASSERT_FALSE(order_.begin(std::as_const(B_).view(), options_).has_value());
    order_.gather(std::as_const(B_).view(), storage_.R.view());
    copy<T>(context_, storage_.R.view(), storage_.result.solution.view());
    copy<T>(context_, storage_.R.view(), storage_.directions.P.view());
  }

  /// Whether a column j of the block is the scaled column of B that the ledger names.
  bool follows(ConstBlockView<T, HostSpace> block) const {
    for (Index j = 0; j < kColumns; ++j) {
      const LinearColumn& column = storage_.ledger[j];
      for (Index i = 0; i < kRows; ++i) {
        const double expected = column.scale * static_cast<double>(B_.view()(i, column.index));
        if (static_cast<double>(block(i, j)) != expected) return false;
      }
    }
    return true;
  }

  /// Brings the columns with an odd place in B to the front.
  Index odd_ones_first() {
    return order_.bring_forward(kColumns,
                                [](const LinearColumn& column) { return column.index % 2 == 1; });
  }

  HostContext context_{2};
  MultiVector<T, HostSpace> B_;
  LinearOptions options_{.tolerance = 1e-4};
  LinearColumnsStorage<T, HostContext> storage_{context_, kRows, kColumns};
  ColumnOrder<T, HostContext> order_{context_, storage_};
};

using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(ColumnOrderTest, Scalars);

TYPED_TEST(ColumnOrderTest, BeginsWithTheOrderOfB) {
  this->begin();
  for (Index j = 0; j < kColumns; ++j) {
    const LinearColumn& column = this->storage_.ledger[j];
    EXPECT_EQ(column.index, j);
    EXPECT_GE(column.rhs_norm, 1);
    EXPECT_LT(column.rhs_norm, 2);
  }
  EXPECT_TRUE(this->follows(this->storage_.R.view()));
}

TYPED_TEST(ColumnOrderTest, ARightHandSideThatIsNotFiniteStops) {
  using Limits = std::numeric_limits<TypeParam>;
  for (const TypeParam entry : {Limits::quiet_NaN(), Limits::infinity()}) {
    this->B_.view()(2, 3) = entry;
    const auto stop = this->order_.begin(std::as_const(this->B_).view(), this->options_);
    ASSERT_TRUE(stop.has_value());
    EXPECT_EQ(stop->status, SolveStatus::breakdown);
    EXPECT_EQ(stop->reason, "a right-hand side or its norm is not finite");
    this->storage_.ledger[3].norm = this->storage_.ledger[3].rhs_norm;
    EXPECT_FALSE(this->storage_.ledger[3].converged());
  }
}

TYPED_TEST(ColumnOrderTest, BlocksAndLedgerArePermutedTogether) {
  for (const bool follow : {true, false}) {
    this->storage_.reset();
    this->storage_.directions.follow_columns = follow;
    this->begin();
    ASSERT_EQ(this->odd_ones_first(), 3);
    for (Index j = 0; j < kColumns; ++j) {
      EXPECT_EQ(this->storage_.ledger[j].index % 2 == 1, j < 3);
    }
    EXPECT_TRUE(this->follows(this->storage_.R.view()));
    EXPECT_TRUE(this->follows(this->storage_.result.solution.view()));
    EXPECT_EQ(this->follows(this->storage_.directions.P.view()), follow);
  }
}

TYPED_TEST(ColumnOrderTest, GathersTheFirstColumnsInTheOrderOfTheLedger) {
  this->begin();
  this->odd_ones_first();
  MultiVector<TypeParam, HostSpace> target(this->context_, kRows, 4);
  this->order_.gather(std::as_const(this->B_).view(), target.view());
  for (Index j = 0; j < 4; ++j) {
    for (Index i = 0; i < kRows; ++i) {
      EXPECT_EQ(target.view()(i, j), this->storage_.R.view()(i, j));
    }
  }
}

TYPED_TEST(ColumnOrderTest, RestoreBringsBackOrderAndScaleToTheBit) {
  this->begin();
  this->odd_ones_first();
  this->order_.bring_forward(5, [](const LinearColumn& column) { return column.index < 4; });
  this->order_.restore();
  const auto X = this->storage_.result.solution.view();
  for (Index j = 0; j < kColumns; ++j) {
    EXPECT_EQ(this->storage_.ledger[j].index, j);
    for (Index i = 0; i < kRows; ++i) EXPECT_EQ(X(i, j), this->B_.view()(i, j));
  }
}

}  // namespace
}  // namespace heddle::detail
