#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <heddle/linalg/gallery/gallery.hpp>
#include <heddle/spmm/features/features.hpp>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "support/matrices.hpp"
#include "support/tolerance.hpp"

namespace heddle {
namespace {

using Matrix = test::TestMatrix<double>;
using Entries = std::set<std::pair<Index, Index>>;

Entries entries_of(const CsrView<double, HostSpace>& A) {
  Entries entries;
  for (Index i = 0; i < A.rows; ++i) {
    for (Index k = A.row_offsets[i]; k < A.row_offsets[i + 1]; ++k) {
      entries.insert({i, A.columns[k]});
    }
  }
  return entries;
}

/// Entries over distinct (row/height, column/width).
double entries_per_group(const Entries& entries, Index height, Index width) {
  std::set<std::pair<Index, Index>> groups;
  for (const auto& [i, j] : entries) groups.insert({i / height, j / width});
  if (groups.empty()) return 0;
  return static_cast<double>(entries.size()) / static_cast<double>(groups.size());
}

/// The definitions, one by one.
MatrixFeatures brute_force(const CsrView<double, HostSpace>& A) {
  const Entries entries = entries_of(A);
  MatrixFeatures f;
  f.rows = A.rows;
  f.cols = A.cols;
  f.nnz = A.nnz;
  std::vector<std::vector<Index>> rows(static_cast<std::size_t>(A.rows));
  bool symmetric = A.rows == A.cols;
  for (const auto& [i, j] : entries) {
    rows[static_cast<std::size_t>(i)].push_back(j);
    f.bandwidth = std::max(f.bandwidth, std::abs(i - j));
    symmetric = symmetric && entries.count({j, i}) == 1;
  }
  f.symmetric_pattern = symmetric;
  const double count = std::max(1.0, static_cast<double>(A.rows));
  f.row_mean = static_cast<double>(entries.size()) / count;
  double squares = 0;
  for (const std::vector<Index>& row : rows) {
    const auto length = static_cast<Index>(row.size());
    squares += std::pow(static_cast<double>(length) - f.row_mean, 2);
    f.row_max = std::max(f.row_max, length);
    f.empty_rows += row.empty() ? 1 : 0;
    if (!row.empty()) f.mean_bandwidth += static_cast<double>(row.back() - row.front()) / count;
  }
  f.row_deviation = std::sqrt(squares / count);
  f.block_fill_2 = entries_per_group(entries, 2, 2) / 4;
  f.block_fill_3 = entries_per_group(entries, 3, 3) / 9;
  f.block_fill_4 = entries_per_group(entries, 4, 4) / 16;
  f.block_fill_8 = entries_per_group(entries, 8, 8) / 64;
  double fewest_bytes = 0;
  for (int b = 2; b <= 8; ++b) {
    const double fill = entries_per_group(entries, b, b) / (b * b);
    const double bytes = fill > 0 ? (8 * b * b + 4) / (fill * b * b) : 0;
    if (fill == 0 || (f.node_size > 0 && bytes > (1 - 1e-12) * fewest_bytes)) continue;
    fewest_bytes = bytes;
    f.node_size = b;
    f.node_fill = fill;
  }
  f.reuse_2048 = entries_per_group(entries, 2048, 1);
  f.reuse_32768 = entries_per_group(entries, 32768, 1);
  Index runs = 0;
  for (Index k = 0; k < A.nnz; ++k) runs += k == 0 || A.columns[k] != A.columns[k - 1] + 1 ? 1 : 0;
  f.column_run = runs > 0 ? static_cast<double>(A.nnz) / static_cast<double>(runs) : 0;
  for (Index i = 0; i < A.rows; i += 16) {
    Index end = i;
    while (end < A.rows && A.row_offsets[end + 1] - A.row_offsets[i] <= 128) ++end;
    f.rows_within_128 = std::max(f.rows_within_128, end - i);
  }
  f.reuse_8 = entries_per_group(entries, 8, 1);
  f.reuse_32 = entries_per_group(entries, 32, 1);
  f.reuse_128 = entries_per_group(entries, 128, 1);
  return f;
}

void expect_equal(const MatrixFeatures& actual, const MatrixFeatures& expected) {
  EXPECT_EQ(actual.rows, expected.rows);
  EXPECT_EQ(actual.cols, expected.cols);
  EXPECT_EQ(actual.nnz, expected.nnz);
  EXPECT_EQ(actual.row_max, expected.row_max);
  EXPECT_EQ(actual.empty_rows, expected.empty_rows);
  EXPECT_EQ(actual.bandwidth, expected.bandwidth);
  EXPECT_EQ(actual.symmetric_pattern, expected.symmetric_pattern);
  const auto rows = static_cast<double>(expected.rows);
  const auto expect_near = [&](double value, double truth, const char* name) {
    EXPECT_NEAR(value, truth, test::tolerance<double>(truth, rows)) << name;
  };
  expect_near(actual.row_mean, expected.row_mean, "row_mean");
  expect_near(actual.row_deviation, expected.row_deviation, "row_deviation");
  expect_near(actual.mean_bandwidth, expected.mean_bandwidth, "mean_bandwidth");
  expect_near(actual.block_fill_2, expected.block_fill_2, "block_fill_2");
  expect_near(actual.block_fill_3, expected.block_fill_3, "block_fill_3");
  expect_near(actual.block_fill_4, expected.block_fill_4, "block_fill_4");
  expect_near(actual.block_fill_8, expected.block_fill_8, "block_fill_8");
  EXPECT_EQ(actual.node_size, expected.node_size);
  expect_near(actual.node_fill, expected.node_fill, "node_fill");
  expect_near(actual.reuse_8, expected.reuse_8, "reuse_8");
  expect_near(actual.reuse_32, expected.reuse_32, "reuse_32");
  expect_near(actual.reuse_128, expected.reuse_128, "reuse_128");
  expect_near(actual.reuse_2048, expected.reuse_2048, "reuse_2048");
  expect_near(actual.reuse_32768, expected.reuse_32768, "reuse_32768");
  expect_near(actual.column_run, expected.column_run, "column_run");
  EXPECT_EQ(actual.rows_within_128, expected.rows_within_128);
}

Matrix with_dense_row(Index n, Index dense) {
  return test::matrix_with_pattern<double>(n, n, [&](Index i) {
    std::vector<Index> columns;
    for (Index j = 0; j < n; ++j) {
      if (i == dense || j == i) columns.push_back(j);
    }
    return columns;
  });
}

/// Matrices of all kinds, by what they are.
std::vector<std::pair<std::string, Matrix>> battery() {
  std::vector<std::pair<std::string, Matrix>> matrices;
  matrices.emplace_back("0x0", Matrix{});
  matrices.emplace_back("0x5", Matrix{0, 5, {0}, {}, {}});
  matrices.emplace_back("5x0", Matrix{5, 0, {0, 0, 0, 0, 0, 0}, {}, {}});
  matrices.emplace_back("3x3 without entries", Matrix{3, 3, {0, 0, 0, 0}, {}, {}});
  matrices.emplace_back("1x1", test::band_matrix<double>(1, 1, 0));
  matrices.emplace_back("empty rows", test::random_matrix<double>(300, 300, 1));
  matrices.emplace_back("wide", test::random_matrix<double>(37, 500, 9));
  matrices.emplace_back("tall", test::random_matrix<double>(500, 37, 4));
  matrices.emplace_back("power law", test::power_law_matrix<double>(400, 400, 300));
  matrices.emplace_back("dense row", with_dense_row(200, 77));
  matrices.emplace_back("band", test::band_matrix<double>(1500, 1500, 5));
  matrices.emplace_back("full", test::band_matrix<double>(30, 30, 30));
  matrices.emplace_back("node blocks", test::node_block_matrix<double>(50, 3));
  return matrices;
}

TEST(Features, AreWhatTheirDefinitionsSay) {
  for (const int threads : {1, 3}) {
    HostContext context(threads);
    for (const auto& [name, matrix] : battery()) {
      SCOPED_TRACE(name);
      expect_equal(matrix_features(context, matrix.view()), brute_force(matrix.view()));
    }
  }
}

TEST(Features, APatternNeedsNoValues) {
  HostContext context;
  const auto A = generate<double>(context, {"laplace2d", {9, 7}});
  CsrView<double, HostSpace> pattern = A.view();
  pattern.values = nullptr;
  const MatrixFeatures features = matrix_features(context, pattern);
  EXPECT_FALSE(features.values_are_floats);
  EXPECT_EQ(features.reuse_8, matrix_features(context, A.view()).reuse_8);
}

TEST(Features, OneValueThatIsNoFloatIsFound) {
  HostContext context(3);
  Matrix A = test::band_matrix<double>(20000, 20000, 4);
  for (std::size_t k = 0; k < A.values.size(); ++k) A.values[k] = 0.25 * static_cast<double>(k % 9);
  EXPECT_TRUE(matrix_features(context, A.view()).values_are_floats);
  for (const double no_float : {0.1, 1e300, std::numeric_limits<double>::quiet_NaN()}) {
    for (const std::size_t k : {std::size_t{0}, A.values.size() / 2, A.values.size() - 1}) {
      Matrix other = A;
      other.values[k] = no_float;
      EXPECT_FALSE(matrix_features(context, other.view()).values_are_floats) << no_float << k;
    }
  }
}

TEST(Features, NodeBlocksFillTheirBlocks) {
  HostContext context(2);
  const Matrix A = test::node_block_matrix<double>(40, 3);
  const MatrixFeatures features = matrix_features(context, A.view());
  EXPECT_EQ(features.block_fill_3, 1);
  EXPECT_LT(features.block_fill_2, 1);
  EXPECT_EQ(features.row_max, 9);
  EXPECT_EQ(features.bandwidth, 5);
}

TEST(Features, NodesHaveTheSizeOfTheDenseBlocks) {
  HostContext context(2);
  for (int b = 2; b <= 8; ++b) {
    const Matrix A = test::node_block_matrix<double>(40, b);
    const MatrixFeatures features = matrix_features(context, A.view());
    EXPECT_EQ(features.node_size, b);
    EXPECT_EQ(features.node_fill, 1);
  }
}

TEST(Features, VariationIsDeviationOverMean) {
  MatrixFeatures features;
  EXPECT_EQ(features.variation(), 0);
  features.row_mean = 4;
  features.row_deviation = 2;
  EXPECT_EQ(features.variation(), 0.5);
}

TEST(Features, OneEntryMakesAPatternUnsymmetric) {
  HostContext context(2);
  const Matrix symmetric = test::band_matrix<double>(60, 60, 2);
  ASSERT_TRUE(matrix_features(context, symmetric.view()).symmetric_pattern);
  for (const auto& extra : {std::pair<Index, Index>{0, 59}, {59, 0}, {30, 20}}) {
    const Matrix A = test::matrix_with_pattern<double>(60, 60, [&](Index i) {
      std::set<Index> columns;
      for (Index j = std::max<Index>(0, i - 2); j <= std::min<Index>(59, i + 2); ++j) {
        columns.insert(j);
      }
      if (i == extra.first) columns.insert(extra.second);
      return columns;
    });
    EXPECT_FALSE(matrix_features(context, A.view()).symmetric_pattern) << extra.first;
  }
  // As many entries above the diagonal as below, but not mirror images.
  const Matrix balanced{3, 3, {0, 1, 2, 3}, {1, 0, 0}, {1, 1, 1}};
  EXPECT_FALSE(matrix_features(context, balanced.view()).symmetric_pattern);
  const Matrix cycle{3, 3, {0, 1, 2, 3}, {1, 2, 0}, {1, 1, 1}};
  EXPECT_FALSE(matrix_features(context, cycle.view()).symmetric_pattern);
}

TEST(Features, StoredZerosCount) {
  HostContext context(1);
  const Matrix A{2, 2, {0, 2, 2}, {0, 1}, {0, 0}};
  const MatrixFeatures features = matrix_features(context, A.view());
  EXPECT_EQ(features.row_max, 2);
  EXPECT_FALSE(features.symmetric_pattern);
}

// More tiles of 8 rows than are looked at: the sample must come close, and be the same for every
// number of threads.
TEST(Features, SampledReuseIsCloseAndDeterministic) {
  HostContext one(1);
  HostContext three(3);
  const auto A = generate<float>(one, {"laplace2d", {256, 256}});
  const MatrixFeatures features = matrix_features(one, A.view());
  const MatrixFeatures again = matrix_features(three, A.view());
  EXPECT_EQ(features.reuse_8, again.reuse_8);
  EXPECT_EQ(features.block_fill_4, again.block_fill_4);
  EXPECT_EQ(features.row_deviation, again.row_deviation);
  // A tile of 8 rows inside a grid row touches 8 columns above, 8 below and 8 + 2 beside; the rim
  // changes that by at most one tile in 32 each.
  EXPECT_NEAR(features.reuse_8, 40.0 / 26, 2.0 / 32);
  EXPECT_TRUE(features.symmetric_pattern);
}

}  // namespace
}  // namespace heddle
