#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/distributed/scatter.hpp>
#include <heddle/linalg/gallery/gallery.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/linalg/sparse/csr_ops.hpp>
#include <heddle/spmm/spmm.hpp>
#include <support/processes.hpp>
#include <support/random_block.hpp>
#include <support/tolerance.hpp>

/// Products with distributed matrices against products with the whole ones, on the host and on
/// GPUs.
namespace heddle::test {

template <class T>
BlockView<T, HostSpace> rows_of(BlockView<T, HostSpace> X, const RowRange& rows) {
  return {X.data() + rows.first * X.ld(), rows.local, X.cols(), X.ld()};
}

/// Rows of a block in host memory, used where they lie.
template <class T>
struct RowsOfHostBlock {
  BlockView<T, HostSpace> rows;

  BlockView<T, HostSpace> view() const { return rows; }
};

/// The rows of X on this process, in memory of the context.
template <class T>
RowsOfHostBlock<T> placed(HostContext&, RandomBlock<T>& X, const RowRange& rows) {
  return {rows_of(X.view(), rows)};
}

template <class T>
MultiVector<T, DeviceSpace> placed(CudaContext& gpu, RandomBlock<T>& X, const RowRange& rows) {
  const ConstBlockView<T, HostSpace> mine = rows_of(X.view(), rows);
  MultiVector<T, DeviceSpace> there(gpu, rows.local, mine.cols());
  send<T>(gpu, mine, there.view());
  return there;
}

/// Rows of X ← `there`.
template <class T>
void take(HostContext&, const RowsOfHostBlock<T>&, RandomBlock<T>&, const RowRange&) {}

template <class T>
void take(CudaContext& gpu, const MultiVector<T, DeviceSpace>& there, RandomBlock<T>& X,
          const RowRange& rows) {
  fetch<T>(gpu, there.view(), rows_of(X.view(), rows));
}

/// The largest difference between blocks in some rows.
template <class T>
double distance(RandomBlock<T>& X, RandomBlock<T>& Y, const RowRange& rows) {
  double worst = 0;
  for (Index i = rows.first; i < rows.first + rows.local; ++i) {
    for (Index j = 0; j < X.view().cols(); ++j) {
      worst = std::max<double>(worst, std::abs(X.view()(i, j) - Y.view()(i, j)));
    }
  }
  return worst;
}

/// What a product in `context`, with all terms, leaves in the rows of this process is what one with
/// the whole matrix leaves there. `padding`: numbers between the rows of blocks in host memory.
template <class T, class Ctx>
void expect_rows_of_whole_product(Ctx& context, HostContext& together, HostContext& alone,
                                  const GallerySpec& spec, Index columns, Index padding = 0) {
  const HostCsrMatrix<T> drawn = generate<T>(alone, spec);
  const HostCsrMatrix<T> A = symmetrize<T>(alone, drawn.view());
  const RowRanges ranges = balanced_rows(A.view(), processes()->size());
  const RowRange rows = ranges.of(processes()->rank());
  const auto D = place(context, scatter<T>(together, A.view(), ranges, ranges));
  const SpmmPlan<T, Ctx> plan(context, D.view());
  const double scale = 4 + 2 * norm_1(alone, A.view());
  const auto random = [&](unsigned seed) {
    const Index ld = columns + padding * static_cast<Index>(seed % 3);
    return RandomBlock<T>(A.rows(), columns, ld, seed);
  };
  for (const T alpha : {T{2}, T{0}}) {
    RandomBlock<T> B = random(1), C = random(2), X = random(3), Y = random(4);
    RandomBlock<T> exact_C = random(2), exact_Y = random(4);
    const auto b = placed(context, B, rows), x = placed(context, X, rows);
    auto c = placed(context, C, rows), y = placed(context, Y, rows);
    const auto terms = []<class Space>(ConstBlockView<T, Space> x_view,
                                       BlockView<T, Space> y_view) {
      return SpmmEpilogue<T, Space>{.beta = T(0.5),
                                    .gamma = T(-1),
                                    .delta = T(0.25),
                                    .X = x_view,
                                    .eta = T(1.5),
                                    .Y = y_view};
    };
    plan.multiply(context, alpha, b.view(), terms(x.view(), y.view()), c.view());
    reference_spmm<T>(alpha, A.view(), B.view(), terms(X.view(), exact_Y.view()), exact_C.view());
    take(context, c, C, rows);
    take(context, y, Y, rows);
    const double worst = std::max(distance(C, exact_C, rows), distance(Y, exact_Y, rows));
    EXPECT_LE(worst, tolerance<T>(scale, 100)) << spec.name << ", alpha " << alpha;
  }
}

}  // namespace heddle::test
