#include <gtest/gtest.h>

#include <spmm/plan/distributed_product.hpp>
#include <support/gpus.hpp>

namespace heddle {
namespace {

using test::expect_rows_of_whole_product;
using test::placed;
using test::processes;
using test::RandomBlock;

using DistributedProductOnGpus = test::OnGpus;

TEST_F(DistributedProductOnGpus, IsTheRowsOfTheWholeProduct) {
  for (const GallerySpec& spec :
       {GallerySpec{"laplace3d", {19, 18, 17}}, GallerySpec{"random_symmetric", {2700}},
        GallerySpec{"rmat", {10}}, GallerySpec{"band", {3000, 40}}}) {
    for (const Index columns : {16, 1, 7}) {
      expect_rows_of_whole_product<double>(gpu(), together_, alone_, spec, columns);
      expect_rows_of_whole_product<float>(gpu(), together_, alone_, spec, columns);
    }
  }
}

/// Products that follow one another without a wait of the host use the same memory for the halo.
TEST_F(DistributedProductOnGpus, OneAfterAnotherWithoutAllocations) {
  const HostCsrMatrix<double> A = generate<double>(alone_, {"laplace2d", {300, 40}});
  const RowRanges ranges = balanced_rows(A.view(), processes()->size());
  const RowRange rows = ranges.of(processes()->rank());
  const DistributedCsr<double, DeviceSpace> D =
      place(gpu(), scatter<double>(together_, A.view(), ranges, ranges));
  const SpmmPlan<double, CudaContext> plan(gpu(), D.view());
  constexpr Index kColumns = 8;
  constexpr int kProducts = 30;
  RandomBlock<double> B(A.rows(), kColumns, kColumns, 1), C(A.rows(), kColumns, kColumns, 2);
  auto b = placed(gpu(), B, rows), c = placed(gpu(), C, rows);
  plan.prepare(gpu(), kColumns);
  const std::size_t before = gpu().allocation_count().allocations;
  for (int k = 0; k < kProducts; ++k) {
    plan.multiply(gpu(), 0.125, b.view(), 0.0, c.view());
    std::swap(b, c);
    reference_spmm<double>(0.125, A.view(), B.view(), 0.0, C.view());
    std::swap(B, C);
  }
  EXPECT_EQ(gpu().allocation_count().allocations, before);
  RandomBlock<double> result(rows.local, kColumns, kColumns, 3);
  fetch<double>(gpu(), b.view(), result.view());
  for (Index i = 0; i < rows.local; ++i) {
    EXPECT_NEAR(result.view()(i, kColumns - 1), B.view()(rows.first + i, kColumns - 1), 1e-13);
  }
}

}  // namespace
}  // namespace heddle
