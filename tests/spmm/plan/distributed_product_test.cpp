#include <gtest/gtest.h>

#include <heddle/linalg/base/error.hpp>
#include <spmm/plan/distributed_product.hpp>

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
  const HostCsrMatrix<double> D = scatter<double>(together_, A.view(), ranges, ranges);
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

}  // namespace
}  // namespace heddle
