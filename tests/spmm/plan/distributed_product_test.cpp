#include <gtest/gtest.h>

#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/distributed/scatter.hpp>
#include <heddle/linalg/gallery/gallery.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/linalg/sparse/csr_ops.hpp>
#include <heddle/spmm/spmm.hpp>
#include <support/processes.hpp>
#include <support/random_block.hpp>
#include <support/tolerance.hpp>

namespace heddle {
namespace {

using test::processes;
using test::RandomBlock;
using test::tolerance;

using DistributedProduct = test::OnProcesses;

template <class T>
BlockView<T, HostSpace> rows_of(BlockView<T, HostSpace> X, const RowRange& rows) {
  return {X.data() + rows.first * X.ld(), rows.local, X.cols(), X.ld()};
}

template <class T>
void expect_rows_of_whole_product(HostContext& together, HostContext& alone,
                                  const GallerySpec& spec, Index columns) {
  const HostCsrMatrix<T> drawn = generate<T>(alone, spec);
  const HostCsrMatrix<T> A = symmetrize<T>(alone, drawn.view());
  const RowRanges ranges = balanced_rows(A.view(), processes()->size());
  const RowRange rows = ranges.of(processes()->rank());
  const HostCsrMatrix<T> D = scatter<T>(together, A.view(), ranges, ranges);
  const SpmmPlan<T, HostContext> plan(together, D.view());
  const double scale = 4 + 2 * norm_1(alone, A.view());
  for (const T alpha : {T{2}, T{0}}) {
    RandomBlock<T> B(A.rows(), columns, columns + 1, 1), C(A.rows(), columns, columns + 2, 2),
        X(A.rows(), columns, columns, 3), Y(A.rows(), columns, columns + 1, 4);
    const SpmmEpilogue<T, HostSpace> mine{.beta = T(0.5),
                                          .gamma = T(-1),
                                          .delta = T(0.25),
                                          .X = rows_of(X.view(), rows),
                                          .eta = T(1.5),
                                          .Y = rows_of(Y.view(), rows)};
    plan.multiply(together, alpha, rows_of(B.view(), rows), mine, rows_of(C.view(), rows));
    RandomBlock<T> exact_C(A.rows(), columns, columns + 2, 2),
        exact_Y(A.rows(), columns, columns + 1, 4);
    SpmmEpilogue<T, HostSpace> whole = mine;
    whole.X = X.view();
    whole.Y = exact_Y.view();
    reference_spmm<T>(alpha, A.view(), B.view(), whole, exact_C.view());
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

TEST_F(DistributedProduct, IsTheRowsOfTheWholeProduct) {
  for (const GallerySpec& spec :
       {GallerySpec{"laplace3d", {9, 8, 7}}, GallerySpec{"random_symmetric", {700}},
        GallerySpec{"rmat", {8}}, GallerySpec{"band", {300, 40}}}) {
    expect_rows_of_whole_product<double>(together_, alone_, spec, 5);
    expect_rows_of_whole_product<float>(together_, alone_, spec, 1);
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
