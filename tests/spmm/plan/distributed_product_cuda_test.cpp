#include <gtest/gtest.h>

#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/distributed/scatter.hpp>
#include <heddle/linalg/gallery/gallery.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/linalg/sparse/csr_ops.hpp>
#include <heddle/spmm/spmm.hpp>
#include <support/gpus.hpp>
#include <support/random_block.hpp>
#include <support/tolerance.hpp>

namespace heddle {
namespace {

using test::processes;
using test::RandomBlock;
using test::tolerance;

class DistributedProductOnGpus : public test::OnGpus {
 protected:
  template <class T>
  static BlockView<T, HostSpace> rows_of(BlockView<T, HostSpace> X, const RowRange& rows) {
    return {X.data() + rows.first * X.ld(), rows.local, X.cols(), X.ld()};
  }

  /// The rows of X on this process, on its GPU.
  template <class T>
  MultiVector<T, DeviceSpace> placed(RandomBlock<T>& X, const RowRange& rows) {
    const ConstBlockView<T, HostSpace> mine = rows_of(X.view(), rows);
    MultiVector<T, DeviceSpace> there(gpu(), rows.local, mine.cols());
    send<T>(gpu(), mine, there.view());
    return there;
  }

  template <class T>
  void expect_rows_of_whole_product(const GallerySpec& spec, Index columns) {
    const HostCsrMatrix<T> drawn = generate<T>(alone_, spec);
    const HostCsrMatrix<T> A = symmetrize<T>(alone_, drawn.view());
    const RowRanges ranges = balanced_rows(A.view(), processes()->size());
    const RowRange rows = ranges.of(processes()->rank());
    const CsrMatrix<T, DeviceSpace> D =
        place(gpu(), scatter<T>(together_, A.view(), ranges, ranges));
    const SpmmPlan<T, CudaContext> plan(gpu(), D.view());
    const double scale = 4 + 2 * norm_1(alone_, A.view());
    for (const T alpha : {T{2}, T{0}}) {
      RandomBlock<T> B(A.rows(), columns, columns, 1), C(A.rows(), columns, columns, 2),
          X(A.rows(), columns, columns, 3), Y(A.rows(), columns, columns, 4);
      const auto b = placed(B, rows), x = placed(X, rows);
      auto c = placed(C, rows), y = placed(Y, rows);
      plan.multiply(gpu(), alpha, b.view(),
                    {.beta = T(0.5),
                     .gamma = T(-1),
                     .delta = T(0.25),
                     .X = x.view(),
                     .eta = T(1.5),
                     .Y = y.view()},
                    c.view());
      RandomBlock<T> exact_C(A.rows(), columns, columns, 2), exact_Y(A.rows(), columns, columns, 4);
      reference_spmm<T>(alpha, A.view(), B.view(),
                        {.beta = T(0.5),
                         .gamma = T(-1),
                         .delta = T(0.25),
                         .X = X.view(),
                         .eta = T(1.5),
                         .Y = exact_Y.view()},
                        exact_C.view());
      fetch<T>(gpu(), c.view(), rows_of(C.view(), rows));
      fetch<T>(gpu(), y.view(), rows_of(Y.view(), rows));
      double worst = 0;
      for (Index i = rows.first; i < rows.first + rows.local; ++i) {
        for (Index j = 0; j < columns; ++j) {
          worst = std::max<double>(worst, std::abs(C.view()(i, j) - exact_C.view()(i, j)));
          worst = std::max<double>(worst, std::abs(Y.view()(i, j) - exact_Y.view()(i, j)));
        }
      }
      EXPECT_LE(worst, tolerance<T>(scale, 100)) << spec.name << ", alpha " << alpha;
    }
  }
};

TEST_F(DistributedProductOnGpus, IsTheRowsOfTheWholeProduct) {
  for (const GallerySpec& spec :
       {GallerySpec{"laplace3d", {19, 18, 17}}, GallerySpec{"random_symmetric", {2700}},
        GallerySpec{"rmat", {10}}, GallerySpec{"band", {3000, 40}}}) {
    for (const Index columns : {16, 1, 7}) {
      expect_rows_of_whole_product<double>(spec, columns);
      expect_rows_of_whole_product<float>(spec, columns);
    }
  }
}

/// Products that follow one another without a wait of the host use the same memory for the halo.
TEST_F(DistributedProductOnGpus, OneAfterAnotherWithoutAllocations) {
  const HostCsrMatrix<double> A = generate<double>(alone_, {"laplace2d", {300, 40}});
  const RowRanges ranges = balanced_rows(A.view(), processes()->size());
  const RowRange rows = ranges.of(processes()->rank());
  const CsrMatrix<double, DeviceSpace> D =
      place(gpu(), scatter<double>(together_, A.view(), ranges, ranges));
  const SpmmPlan<double, CudaContext> plan(gpu(), D.view());
  constexpr Index kColumns = 8;
  constexpr int kProducts = 30;
  RandomBlock<double> B(A.rows(), kColumns, kColumns, 1), C(A.rows(), kColumns, kColumns, 2);
  auto b = placed(B, rows), c = placed(C, rows);
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
