#include <gtest/gtest.h>

#include <heddle/linalg/gallery/gallery.hpp>
#include <heddle/spmm/features/row_grid.hpp>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace heddle::detail {
namespace {

constexpr Index kMostRows = 64;

/// The grid of a matrix, from the offsets that at least 0.3 of its rows have.
RowGrid grid_of(const CsrView<double, HostSpace>& A, Index most_rows = kMostRows,
                Index brick_rows = 1) {
  std::map<std::int32_t, Index> frequencies;
  for (Index i = 0; i < A.rows; ++i) {
    for (auto k = A.row_offsets[i]; k < A.row_offsets[i + 1]; ++k) {
      ++frequencies[A.columns[k] - static_cast<std::int32_t>(i)];
    }
  }
  std::vector<std::int32_t> offsets;
  std::vector<Index> counts;
  for (const auto& [offset, count] : frequencies) {
    if (count < 3 * A.rows / 10) continue;
    offsets.push_back(offset);
    counts.push_back(count);
  }
  return grid_of_offsets(A.rows, offsets, counts, most_rows, brick_rows);
}

/// Distinct columns, summed over blocks of rows. Expects that no block is too large.
Index distinct_columns(const CsrView<double, HostSpace>& A, const RowGrid& grid) {
  std::map<std::int32_t, std::set<std::int32_t>> columns;
  std::map<std::int32_t, Index> rows;
  for (Index i = 0; i < A.rows; ++i) {
    const std::int32_t box = grid.box_of(static_cast<std::int32_t>(i));
    EXPECT_GE(box, 0);
    EXPECT_LT(box, grid.count());
    ++rows[box];
    columns[box].insert(A.columns + A.row_offsets[i], A.columns + A.row_offsets[i + 1]);
  }
  Index sum = 0;
  for (const auto& [box, own] : columns) {
    EXPECT_LE(rows[box], kMostRows);
    Index listed = 0;
    for (std::int32_t k = 0; k <= kMostRows; ++k) {
      const std::int32_t row = grid.row_of(box, k);
      if (row < 0) continue;
      EXPECT_EQ(grid.box_of(row), box);
      ++listed;
    }
    EXPECT_EQ(listed, rows[box]);
    sum += static_cast<Index>(own.size());
  }
  return sum;
}

struct Expected {
  GallerySpec spec;
  std::vector<std::int32_t> strides;
  double most_columns;  ///< distinct ones per row
};

TEST(RowGrid, FindsTheStridesOfGridsAndCompactBoxes) {
  // A box of 4³ rows of the 27-point stencil has 6³ columns, 3.4 per row, one of 8×8 of the 5-point
  // stencil has 1.5. In their natural order, 64 rows have 9.3 and 3 per row.
  const Expected cases[] = {
      {{"stencil27", {20, 16, 12}}, {1, 20, 320}, 3.6},
      {{"laplace2d", {40, 32}}, {1, 40}, 1.6},
      {{"laplace3d", {20, 16, 12}}, {1, 20, 320}, 2.6},
      {{"lattice4d", {12, 12, 8, 8}}, {1, 12, 144, 1152}, 11},
      {{"elasticity3d", {16, 12, 10}}, {1, 48, 624}, 6},
  };
  HostContext host;
  for (const Expected& expected : cases) {
    const auto A = generate<double>(host, expected.spec);
    const RowGrid grid = grid_of(A.view());
    EXPECT_EQ(std::vector<std::int32_t>(grid.strides, grid.strides + grid.dimensions),
              expected.strides)
        << expected.spec.name;
    const auto distinct = static_cast<double>(distinct_columns(A.view(), grid));
    EXPECT_LE(distinct, expected.most_columns * static_cast<double>(A.rows()))
        << expected.spec.name;
    EXPECT_NEAR(grid_reuse(A.rows(), A.view().row_offsets, A.view().columns),
                static_cast<double>(A.nnz()) / distinct, 1e-12)
        << expected.spec.name;
  }
}

TEST(RowGrid, AMatrixWithoutAGridIsCutIntoStretches) {
  HostContext host;
  for (const GallerySpec& spec :
       {GallerySpec{"band", {1000, 9}}, GallerySpec{"random_uniform", {1000}}}) {
    const RowGrid grid = grid_of(generate<double>(host, spec).view());
    EXPECT_EQ(grid.dimensions, 1);
    EXPECT_EQ(grid.count(), 16);
    for (std::int32_t row = 1; row < 1000; ++row) {
      EXPECT_LE(grid.box_of(row - 1), grid.box_of(row));
    }
  }
}

/// Distinct columns of the parts into which `key` divides the rows, over the number of rows.
template <class Key>
double columns_per_row(const CsrView<double, HostSpace>& A, Key&& key) {
  std::map<Index, std::set<std::int32_t>> columns;
  for (Index i = 0; i < A.rows; ++i) {
    columns[key(static_cast<std::int32_t>(i))].insert(A.columns + A.row_offsets[i],
                                                      A.columns + A.row_offsets[i + 1]);
  }
  std::size_t sum = 0;
  for (const auto& [part, own] : columns) sum += own.size();
  return static_cast<double>(sum) / static_cast<double>(A.rows);
}

TEST(RowGrid, BricksOfSixteenRowsFillBoxes) {
  // A brick of 4×2×2 rows of the 27-point stencil has 6·4·4 columns, 6 per row, one of 4×4 of the
  // 5-point stencil has 16 + 16, 2 per row; in the natural order, 16 rows have 10.1 and 3.1.
  struct Case {
    GallerySpec spec;
    double most_columns;  ///< distinct ones per row and brick
  };
  const Case cases[] = {{{"stencil27", {24, 16, 12}}, 6.1},     {{"laplace2d", {40, 32}}, 2.1},
                        {{"laplace3d", {20, 18, 14}}, 3.6},     {{"lattice4d", {12, 12, 8, 8}}, 15},
                        {{"elasticity3d", {16, 12, 10}}, 12.5}, {{"band", {1000, 9}}, 2.2}};
  constexpr Index kBoxRows = 128;
  constexpr Index kBrickRows = 16;
  HostContext host;
  for (const Case& own : cases) {
    const auto A = generate<double>(host, own.spec);
    const RowGrid grid = grid_of(A.view(), kBoxRows, kBrickRows);
    std::map<Index, Index> in_box;
    std::map<Index, Index> in_brick;
    const auto brick = [&](std::int32_t row) {
      return Index{grid.box_of(row)} * grid.most_bricks() + grid.brick_of(row);
    };
    for (std::int32_t row = 0; row < A.rows(); ++row) {
      EXPECT_LT(grid.brick_of(row), grid.most_bricks());
      ++in_box[grid.box_of(row)];
      ++in_brick[brick(row)];
    }
    for (const auto& [box, rows] : in_box) {
      EXPECT_LE(rows, kBoxRows) << own.spec.name;
      std::set<std::int32_t> listed;
      for (std::int32_t k = 0; k < kBoxRows; ++k) {
        const std::int32_t row = grid.row_of(static_cast<std::int32_t>(box), k);
        if (row < 0) continue;
        EXPECT_TRUE(listed.insert(row).second) << own.spec.name;
      }
      EXPECT_EQ(static_cast<Index>(listed.size()), rows) << own.spec.name;
    }
    for (const auto& [at, rows] : in_brick) EXPECT_LE(rows, kBrickRows) << own.spec.name;
    EXPECT_LE(columns_per_row(A.view(), brick), own.most_columns) << own.spec.name;
  }
}

TEST(RowGrid, OffsetsNearTheLargestIntegerDoNotOverflow) {
  constexpr std::int32_t kFar = 2'000'000'000;
  const RowGrid grid = grid_of_offsets(2'100'000'000, {-kFar, -1, 0, 1, kFar}, {5, 5, 5, 5, 5}, 64);
  for (const std::int32_t row : {0, 1, kFar - 1, kFar, 2'099'999'999}) {
    EXPECT_GE(grid.box_of(row), 0);
    EXPECT_LT(grid.box_of(row), grid.count());
  }
}

TEST(RowGrid, MisleadingOffsetsGiveSmallBlocksToo) {
  for (const std::vector<std::int32_t>& offsets :
       {std::vector<std::int32_t>{3, 10, 100, 1000, 1007},
        {7},
        {2, 900},
        {-900, 5, 13, 34},
        {3, 7, 17, 42, 104, 259, 1000}}) {
    const RowGrid grid = grid_of_offsets(1009, offsets, std::vector<Index>(offsets.size(), 5), 64);
    std::map<std::int32_t, Index> rows;
    for (std::int32_t row = 0; row < 1009; ++row) ++rows[grid.box_of(row)];
    for (const auto& [box, count] : rows) {
      EXPECT_LE(count, 64) << offsets.front();
      EXPECT_LT(box, grid.count());
    }
    const RowGrid bricks =
        grid_of_offsets(1009, offsets, std::vector<Index>(offsets.size(), 5), 32, 16);
    std::map<std::int32_t, Index> in_box;
    std::map<Index, Index> in_brick;
    for (std::int32_t row = 0; row < 1009; ++row) {
      EXPECT_LT(bricks.brick_of(row), bricks.most_bricks()) << offsets.front();
      ++in_box[bricks.box_of(row)];
      ++in_brick[Index{bricks.box_of(row)} * bricks.most_bricks() + bricks.brick_of(row)];
    }
    for (const auto& [box, count] : in_box) EXPECT_LE(count, 32) << offsets.front();
    for (const auto& [brick, count] : in_brick) EXPECT_LE(count, 16) << offsets.front();
  }
}

}  // namespace
}  // namespace heddle::detail
