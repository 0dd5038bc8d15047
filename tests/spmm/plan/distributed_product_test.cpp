#include <gtest/gtest.h>

#include <heddle/linalg/base/error.hpp>
#include <spmm/plan/distributed_product.hpp>
#include <utility>

namespace heddle {
namespace {

using test::expect_rows_of_whole_product;
using test::processes;
using test::RandomBlock;
using test::rows_of;

using DistributedProduct = test::OnProcesses;

TEST_F(DistributedProduct, IsTheRowsOfTheWholeProduct) {
  for (const GallerySpec& spec :
       {GallerySpec{"laplace3d", {9, 8, 7}}, GallerySpec{"random_symmetric", {700}},
        GallerySpec{"rmat", {8}}, GallerySpec{"band", {300, 40}}}) {
    expect_rows_of_whole_product<double>(together_, together_, alone_, spec, 5, 1);
    expect_rows_of_whole_product<float>(together_, together_, alone_, spec, 1, 2);
  }
}

TEST_F(DistributedProduct, OfBlocksOfAnyWidthInAnyOrder) {
  const HostCsrMatrix<double> A = generate<double>(alone_, {"laplace2d", {20, 20}});
  const RowRanges ranges = balanced_rows(A.view(), processes()->size());
  const RowRange rows = ranges.of(processes()->rank());
  const DistributedCsr<double, HostSpace> D = scatter<double>(together_, A.view(), ranges, ranges);
  const SpmmPlan<double, HostContext> plan(together_, D.view());
  for (const Index columns : {1, 16, 3, 16}) {
    RandomBlock<double> B(400, columns, columns, 1), C(400, columns, columns, 2);
    RandomBlock<double> exact(400, columns, columns, 3);
    plan.multiply(together_, 1, rows_of(B.view(), rows), 0.0, rows_of(C.view(), rows));
    reference_spmm<double>(1, A.view(), B.view(), 0.0, exact.view());
    for (Index i = rows.first; i < rows.first + rows.local; ++i) {
      EXPECT_NEAR(C.view()(i, columns - 1), exact.view()(i, columns - 1), 1e-13);
    }
  }
  EXPECT_THROW(plan.multiply_transposed(together_, 1, {nullptr, rows.local, 0, 0}, 0.0,
                                        {nullptr, rows.local, 0, 0}),
               InvalidArgument);
}

/// Rows and columns have ranges of their own. A process that holds no row of C sends its rows of B,
/// and one that holds no row of B has its rows of C.
TEST_F(DistributedProduct, OfMatricesOfAnyShape) {
  for (const auto& [m, n] : {std::pair<Index, Index>{300, 120}, {120, 300}, {2, 90}, {90, 1}}) {
    const HostCsrMatrix<double> A =
        generate<double>(alone_, {.name = "random_uniform", .size = {m, n}, .density = 1});
    const HostCsrMatrix<double> At = transpose<double>(alone_, A.view());
    const RowRanges row_ranges = balanced_rows(A.view(), processes()->size(), 0);
    const RowRanges column_ranges = balanced_rows(At.view(), processes()->size(), 0);
    const RowRange rows = row_ranges.of(processes()->rank());
    const RowRange columns = column_ranges.of(processes()->rank());
    const DistributedCsr<double, HostSpace> D =
        scatter<double>(together_, A.view(), row_ranges, column_ranges);
    const SpmmPlan<double, HostContext> plan(together_, D.view());
    RandomBlock<double> B(n, 4, 5, 1), C(m, 4, 4, 2), exact(m, 4, 4, 2);
    plan.multiply(together_, 2, rows_of(B.view(), columns), 0.5, rows_of(C.view(), rows));
    reference_spmm<double>(2, A.view(), B.view(), 0.5, exact.view());
    EXPECT_LE(test::distance(C, exact, rows),
              test::tolerance<double>(norm_1(alone_, At.view()), 100))
        << m << "x" << n;
  }
}

}  // namespace
}  // namespace heddle
