#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <heddle/linalg/data/distributed_csr.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/distributed/scatter.hpp>
#include <heddle/linalg/gallery/gallery.hpp>
#include <heddle/linalg/sparse/accurate_residual.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/linalg/sparse/csr_ops.hpp>
#include <support/gpus.hpp>
#include <support/on_device.hpp>
#include <support/random_block.hpp>
#include <support/tolerance.hpp>

namespace heddle {
namespace {

using test::processes;
using test::RandomBlock;
using test::RandomSmall;
using test::tolerance;

constexpr Index kRows = 20011;

class DistributedOnGpus : public test::OnGpus {
 protected:
  /// Ranges of unequal heights.
  static RowRanges uneven_rows(Index n) {
    RowRanges ranges{{0}};
    const int size = processes()->size();
    for (int k = 1; k < size; ++k) ranges.begins.push_back(n * k * k / (size * size) + k);
    ranges.begins.push_back(n);
    return ranges;
  }

  static RowRange own(const RowRanges& ranges) { return ranges.of(processes()->rank()); }

  /// The rows of this process.
  static BlockView<double, HostSpace> part(const BlockView<double, HostSpace>& X) {
    const RowRange rows = own(uneven_rows(X.rows()));
    return {X.data() + rows.first * X.ld(), rows.local, X.cols(), X.ld()};
  }

  /// The numbers have the same bits on all processes and are near those of `exact`.
  static void expect_sums(SmallView<double, HostSpace> sums, SmallView<double, HostSpace> exact,
                          double scale) {
    for (Index j = 0; j < sums.cols; ++j) {
      for (Index i = 0; i < sums.rows; ++i) {
        EXPECT_NEAR(sums(i, j), exact(i, j), tolerance<double>(scale, kRows)) << i << ", " << j;
        EXPECT_TRUE(processes()->same(std::bit_cast<std::uint64_t>(sums(i, j))));
      }
    }
  }
};

TEST_F(DistributedOnGpus, Decisions) {
  const int last = processes()->size() - 1;
  EXPECT_EQ(gpu().processes(), processes().get());
  EXPECT_TRUE(gpu().agree(processes()->rank() == last));
  EXPECT_FALSE(gpu().agree(false));
  EXPECT_TRUE(gpu().same(7));
  EXPECT_FALSE(gpu().same(static_cast<std::uint64_t>(processes()->rank())));
}

TEST_F(DistributedOnGpus, SumsOverRows) {
  const test::OnDevice on{gpu()};
  for (const Index b : {6, 5, 40}) {  // of the staged kernel, the plain one and cuBLAS
    RandomBlock<double> x(kRows, b, b, 1), y(kRows, 4, 4, 2), z(kRows, b, b, 3);
    RandomSmall G(b, 4, 1), H(b, b, 2), exact_G(b, 4, 3), exact_H(b, b, 4);
    test::gram<double>(on, part(x.view()), part(y.view()), G.view(), part(z.view()), H.view());
    gram<double>(alone_, x.view(), y.view(), exact_G.view(), z.view(), exact_H.view());
    expect_sums(G.view(), exact_G.view(), kRows);
    expect_sums(H.view(), exact_H.view(), kRows);
    test::gram<double>(on, part(x.view()), part(x.view()), H.view());
    gram<double>(alone_, x.view(), x.view(), exact_H.view());
    expect_sums(H.view(), exact_H.view(), kRows);

    RandomSmall sums(b, 1, 5), exact(b, 1, 6);
    test::column_dots<double>(on, part(x.view()), part(z.view()), sums.view());
    column_dots<double>(alone_, x.view(), z.view(), exact.view());
    expect_sums(sums.view(), exact.view(), kRows);
    test::weighted_squares<double>(on, part(y.view().columns(0, 1)), part(x.view()), sums.view());
    weighted_squares<double>(alone_, y.view().columns(0, 1), x.view(), exact.view());
    expect_sums(sums.view(), exact.view(), kRows);
    RandomBlock<double> r(kRows, b, b, 7), whole_r(kRows, b, b, 8);
    RandomSmall theta(b, 1, 9);
    test::residual<double>(on, part(x.view()), part(z.view()), theta.view(), part(r.view()),
                           sums.view());
    residual<double>(alone_, x.view(), z.view(), theta.view(), whole_r.view(), exact.view());
    expect_sums(sums.view(), exact.view(), kRows);
  }
}

TEST_F(DistributedOnGpus, NormsBeyondTheRangeOfSquares) {
  RandomBlock<double> x(kRows, 4, 4, 1);
  for (Index i = 0; i < kRows; ++i) {
    x.view()(i, 0) *= 1e200;
    x.view()(i, 1) *= 1e-200;
    x.view()(i, 2) *= i < 2 ? 1e180 : 1e-180;  // process 0 alone has large entries
    x.view()(i, 3) = 0;
  }
  RandomSmall norms(4, 1, 2), exact(4, 1, 3);
  test::column_norms<double>(test::OnDevice{gpu()}, part(x.view()), norms.view());
  column_norms<double>(alone_, x.view(), exact.view());
  for (Index j = 0; j < 4; ++j) {
    const double norm = exact.view()(j, 0);
    EXPECT_NEAR(norms.view()(j, 0), norm, tolerance<double>(norm, kRows));
    EXPECT_TRUE(processes()->same(std::bit_cast<std::uint64_t>(norms.view()(j, 0))));
  }
}

TEST_F(DistributedOnGpus, RandomRowsByNumber) {
  const RowRange rows = own(uneven_rows(kRows));
  RandomBlock<double> whole(kRows, 3, 3, 1), mine(rows.local, 3, 3, 2);
  Buffer<std::int32_t, HostSpace> numbers(alone_, static_cast<std::size_t>(rows.local));
  for (Index i = 0; i < rows.local; ++i) {
    numbers[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(kRows - 1 - rows.first - i);
  }
  const Buffer<std::int32_t, DeviceSpace> there = place(gpu(), std::move(numbers));
  fill_random<double>(alone_, 5, 6, whole.view());
  gpu().set_row_numbers(there.data());
  test::fill_random<double>(test::OnDevice{gpu()}, 5, 6, mine.view(), rows.first);
  gpu().set_row_numbers(nullptr);
  EXPECT_EQ(mine.view()(0, 2), whole.view()(kRows - 1 - rows.first, 2));
  EXPECT_EQ(mine.view()(rows.local - 1, 0), whole.view()(kRows - rows.first - rows.local, 0));
}

/// Residuals in twice the precision are those of the rows on the host.
TEST_F(DistributedOnGpus, AccurateResiduals) {
  constexpr Index kColumns = 9;
  const HostCsrMatrix<double> A = generate<double>(alone_, {"random_symmetric", {1003}});
  const RowRanges ranges = uneven_rows(A.rows());
  const RowRange rows = own(ranges);
  auto D = scatter<double>(together_, A.view(), ranges, ranges);
  RandomBlock<double> X(A.rows(), kColumns, kColumns, 1), R(A.rows(), kColumns, kColumns, 2);
  const DistributedCsrView<double, HostSpace> of_A = A.view();
  const std::vector<double> theta(kColumns, 3.7);
  accurate_residual<double>(alone_, of_A, &of_A, X.view(), theta, R.view());
  RandomBlock<double> mine(rows.local, kColumns, kColumns, 3);
  const auto on_gpu = place(gpu(), std::move(D));
  const DistributedCsrView<double, DeviceSpace> of_D = on_gpu.view();
  MultiVector<double, DeviceSpace> part_of_X(gpu(), rows.local, kColumns);
  MultiVector<double, DeviceSpace> there(gpu(), rows.local, kColumns);
  send<double>(gpu(), part(X.view()), part_of_X.view());
  accurate_residual<double>(gpu(), of_D, &of_D, std::as_const(part_of_X).view(), theta,
                            there.view());
  fetch<double>(gpu(), std::as_const(there).view(), mine.view());
  for (Index i = 0; i < rows.local; ++i) {
    for (Index j = 0; j < kColumns; ++j) {
      EXPECT_DOUBLE_EQ(mine.view()(i, j), R.view()(rows.first + i, j)) << i << ", " << j;
    }
  }
}

/// Operations on a distributed matrix are those on the whole matrix.
TEST_F(DistributedOnGpus, Matrices) {
  for (const GallerySpec& spec :
       {GallerySpec{"laplace2d", {60, 61}}, GallerySpec{"random_symmetric", {1003}},
        GallerySpec{"rmat", {9}}}) {
    const HostCsrMatrix<double> source = generate<double>(alone_, spec);
    HostCsrMatrix<double> A = symmetrize<double>(alone_, source.view());
    const RowRanges ranges = uneven_rows(A.rows());
    const RowRange rows = own(ranges);
    DistributedCsr<double, DeviceSpace> D =
        place(gpu(), scatter<double>(together_, A.view(), ranges, ranges));
    EXPECT_EQ(row_range(D.view()), rows);

    const double norm = norm_1(alone_, A.view());
    EXPECT_NEAR(norm_1(gpu(), D.view()), norm, tolerance<double>(norm, 100));
    RandomBlock<double> sums(A.rows(), 1, 1, 1), mine(rows.local, 1, 1, 2);
    MultiVector<double, DeviceSpace> there(gpu(), rows.local, 1);
    for (const Index terms : {0, 4}) {
      absolute_row_sums<double>(alone_, A.view(), sums.view(), terms);
      absolute_row_sums<double>(gpu(), D.view(), there.view(), terms);
      fetch<double>(gpu(), there.view(), mine.view());
      for (Index i = 0; i < rows.local; ++i) {
        const double sum = sums.view()(rows.first + i, 0);
        EXPECT_NEAR(mine.view()(i, 0), sum, tolerance<double>(sum, 100));
      }
    }

    Buffer<double, HostSpace> d(alone_, static_cast<std::size_t>(A.rows()));
    std::copy_n(sums.view().data(), A.rows(), d.data());
    Buffer<double, HostSpace> own_d(alone_, static_cast<std::size_t>(rows.local));
    std::copy_n(d.data() + rows.first, rows.local, own_d.data());
    A = with_stored_diagonal<double>(alone_, A.view());
    D = with_stored_diagonal<double>(gpu(), D.view());
    scale_symmetrically(alone_, d, A);
    scale_symmetrically(gpu(), place(gpu(), std::move(own_d)), D);
    const double scaled = norm_1(alone_, convert<float>(alone_, A.view()).view());
    EXPECT_NEAR(norm_1(gpu(), convert<float>(gpu(), D.view()).view()), scaled,
                tolerance<double>(scaled, 100));
  }
}

}  // namespace
}  // namespace heddle
