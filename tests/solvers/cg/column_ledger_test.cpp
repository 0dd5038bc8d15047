#include <gtest/gtest.h>

#include <cmath>
#include <heddle/solvers/cg/column_ledger.hpp>
#include <limits>
#include <vector>

namespace heddle::detail {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Columns 2, 0, 3 and 1 of B. The last one has b = 0, the one before has left the block.
ColumnLedger four_columns() {
  ColumnLedger ledger(4);
  ledger[0] = {.index = 2, .rhs_norm = 2, .limit = 0.25, .norm = 1};
  ledger[1] = {.index = 0, .rhs_norm = 1, .limit = 0.125, .norm = 0.0625};
  ledger[2] = {.index = 3, .rhs_norm = 1, .limit = 0.125, .norm = 0.125};
  ledger[3] = {.index = 1};
  ledger.active = 2;
  ledger.nonzero = 3;
  return ledger;
}

TEST(ColumnLedger, SumsUpTheColumns) {
  const ColumnLedger ledger = four_columns();
  EXPECT_EQ(ledger.active_columns().size(), 2u);
  EXPECT_EQ(ledger.converged(), 3) << "a norm at its limit counts, and so does b = 0";
  EXPECT_EQ(ledger.worst_residual(), 0.5);
  EXPECT_EQ(ledger.worst_excess(), 4);
  std::vector<double> residuals(7, kNaN);
  ledger.list_residuals(residuals);
  EXPECT_EQ(residuals, std::vector<double>({0.0625, 0, 0.5, 0.125})) << "not in the order of B";
}

TEST(ColumnLedger, ExcessIsOfActiveColumnsOnly) {
  ColumnLedger ledger = four_columns();
  ledger[2].norm = 100;
  EXPECT_EQ(ledger.worst_excess(), 4);
  EXPECT_EQ(ledger.worst_residual(), 100);
}

TEST(ColumnLedger, NotANumberIsTheWorst) {
  for (const Index j : {0, 1}) {
    ColumnLedger ledger = four_columns();
    ledger[j].norm = kNaN;
    EXPECT_TRUE(std::isnan(ledger.worst_residual()));
    EXPECT_TRUE(std::isnan(ledger.worst_excess()));
    EXPECT_EQ(ledger.converged(), j == 0 ? 3 : 2);
  }
}

TEST(ColumnLedger, ResetForgetsTheColumnsAndKeepsTheMemory) {
  ColumnLedger ledger = four_columns();
  const LinearColumn* const memory = ledger.columns.data();
  ledger.reset();
  EXPECT_EQ(ledger.columns.data(), memory);
  EXPECT_EQ(ledger.columns.size(), 4u);
  EXPECT_EQ(ledger.active, 0);
  EXPECT_EQ(ledger.nonzero, 0);
  EXPECT_EQ(ledger[0].norm, 0);
  EXPECT_EQ(ledger[0].scale, 1);
}

}  // namespace
}  // namespace heddle::detail
