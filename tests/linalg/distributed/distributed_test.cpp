#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/blocks/convert.hpp>
#include <heddle/linalg/context/apart.hpp>
#include <heddle/linalg/data/distributed_csr.hpp>
#include <heddle/linalg/distributed/partition.hpp>
#include <heddle/linalg/distributed/scatter.hpp>
#include <heddle/linalg/gallery/gallery.hpp>
#include <heddle/linalg/orthogonal/orthogonalize.hpp>
#include <heddle/linalg/sparse/accurate_residual.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/linalg/sparse/csr_ops.hpp>
#include <support/processes.hpp>
#include <support/random_block.hpp>
#include <support/tolerance.hpp>
#include <vector>

namespace heddle {
namespace {

using test::processes;
using test::RandomBlock;
using test::RandomSmall;
using test::tolerance;

constexpr Index kRows = 1003;

/// Ranges of unequal heights.
RowRanges uneven_rows(Index n) {
  RowRanges ranges{{0}};
  const int size = processes()->size();
  for (int k = 1; k < size; ++k) ranges.begins.push_back(n * k * k / (size * size) + k);
  ranges.begins.push_back(n);
  return ranges;
}

class Distributed : public test::OnProcesses {
 protected:
  RowRange own(const RowRanges& ranges) const { return ranges.of(processes()->rank()); }

  /// The rows of this process.
  template <class T>
  ConstBlockView<T, HostSpace> part(const ConstBlockView<T, HostSpace>& X) const {
    const RowRange rows = own(uneven_rows(X.rows()));
    return {X.data() + rows.first * X.ld(), rows.local, X.cols(), X.ld()};
  }

  /// The numbers have the same bits on all processes and are near those of `exact`.
  void expect_sums(SmallView<double, HostSpace> sums, SmallView<double, HostSpace> exact,
                   double scale) {
    for (Index j = 0; j < sums.cols; ++j) {
      for (Index i = 0; i < sums.rows; ++i) {
        EXPECT_NEAR(sums(i, j), exact(i, j), tolerance<double>(scale, kRows));
        EXPECT_TRUE(processes()->same(std::bit_cast<std::uint64_t>(sums(i, j))));
      }
    }
  }
};

TEST_F(Distributed, Decisions) {
  const int last = processes()->size() - 1;
  EXPECT_TRUE(together_.agree(processes()->rank() == last));
  EXPECT_FALSE(together_.agree(false));
  EXPECT_TRUE(together_.same(7));
  EXPECT_FALSE(together_.same(static_cast<std::uint64_t>(processes()->rank())));
  std::vector<double> numbers = {static_cast<double>(processes()->rank()), 1};
  processes()->largest(numbers);
  EXPECT_EQ(numbers[0], last);
  numbers[1] = processes()->rank() == last ? std::nan("") : 1;
  processes()->largest(numbers);
  EXPECT_TRUE(std::isnan(numbers[1]));
}

/// Apart from the others, a process decides and adds alone.
TEST_F(Distributed, Apart) {
  const std::int32_t number = 7;
  together_.set_row_numbers(&number);
  {
    const detail::Apart<HostContext> apart(together_);
    EXPECT_EQ(together_.processes(), nullptr);
    EXPECT_EQ(together_.row_numbers(), nullptr);
    EXPECT_EQ(together_.agree(processes()->leads()), processes()->leads());
    EXPECT_TRUE(together_.same(static_cast<std::uint64_t>(processes()->rank())));
    { const detail::Apart<HostContext> again(together_); }
    EXPECT_EQ(together_.processes(), nullptr);
  }
  EXPECT_EQ(together_.processes(), processes().get());
  EXPECT_EQ(together_.row_numbers(), &number);
  together_.set_row_numbers(nullptr);
}

TEST_F(Distributed, SumsOverRows) {
  RandomBlock<double> x(kRows, 5, 6, 1), y(kRows, 3, 4, 2), z(kRows, 5, 5, 3);
  const auto X = part<double>(x.view());
  const auto Y = part<double>(y.view());
  const auto Z = part<double>(z.view());
  RandomSmall G(5, 3, 1), H(5, 5, 2), exact_G(5, 3, 3), exact_H(5, 5, 4);
  gram<double>(together_, X, Y, G.view(), X, H.view());
  gram<double>(alone_, x.view(), y.view(), exact_G.view(), x.view(), exact_H.view());
  expect_sums(G.view(), exact_G.view(), kRows);
  expect_sums(H.view(), exact_H.view(), kRows);
  gram<double>(together_, X, Y, G.view());
  expect_sums(G.view(), exact_G.view(), kRows);

  RandomSmall sums(5, 1, 5), exact(5, 1, 6);
  column_dots<double>(together_, X, Z, sums.view());
  column_dots<double>(alone_, x.view(), z.view(), exact.view());
  expect_sums(sums.view(), exact.view(), kRows);
  weighted_squares<double>(together_, Y.columns(0, 1), X, sums.view());
  weighted_squares<double>(alone_, y.view().columns(0, 1), x.view(), exact.view());
  expect_sums(sums.view(), exact.view(), kRows);
  RandomBlock<double> r(kRows, 5, 5, 7), whole_r(kRows, 5, 5, 8);
  const RowRange rows = own(uneven_rows(kRows));
  const BlockView<double, HostSpace> R(r.view().data(), rows.local, 5, 5);
  residual<double>(together_, X, Z, RandomSmall(5, 1, 9).view(), R, sums.view());
  residual<double>(alone_, x.view(), z.view(), RandomSmall(5, 1, 9).view(), whole_r.view(),
                   exact.view());
  expect_sums(sums.view(), exact.view(), kRows);
  EXPECT_EQ(R(rows.local - 1, 4), whole_r.view()(rows.first + rows.local - 1, 4));
}

TEST_F(Distributed, NormsBeyondTheRangeOfSquares) {
  RandomBlock<double> x(kRows, 4, 4, 1);
  for (Index i = 0; i < kRows; ++i) {
    x.view()(i, 0) *= 1e200;
    x.view()(i, 1) *= 1e-200;
    x.view()(i, 2) *= i < 2 ? 1e180 : 1e-180;  // process 0 alone has large entries
    x.view()(i, 3) = 0;
  }
  RandomSmall norms(4, 1, 2), exact(4, 1, 3), scales(4, 2, 4), exact_scales(4, 2, 5);
  column_norms<double>(together_, part<double>(x.view()), norms.view());
  column_norms<double>(alone_, x.view(), exact.view());
  norm_scales<double>(together_, part<double>(x.view()), scales.view());
  norm_scales<double>(alone_, x.view(), exact_scales.view());
  for (Index j = 0; j < 4; ++j) {
    const double norm = exact.view()(j, 0);
    EXPECT_NEAR(norms.view()(j, 0), norm, tolerance<double>(norm, kRows));
    EXPECT_TRUE(processes()->same(std::bit_cast<std::uint64_t>(norms.view()(j, 0))));
    EXPECT_EQ(scales.view()(j, 0), exact_scales.view()(j, 0));
  }
}

TEST_F(Distributed, BlocksThereAndBack) {
  RandomBlock<float> x(kRows, 3, 7, 1);
  const RowRanges ranges = uneven_rows(kRows);
  const bool leads = processes()->leads();
  const auto source = leads ? x.view() : BlockView<float, HostSpace>();
  const MultiVector<float, HostSpace> X = scatter<float>(together_, source, ranges);
  const RowRange rows = own(ranges);
  EXPECT_EQ(X.rows(), rows.local);
  Index different = 0;
  for (Index i = 0; i < X.rows(); ++i) {
    for (Index j = 0; j < 3; ++j) different += X.view()(i, j) != x.view()(rows.first + i, j);
  }
  EXPECT_EQ(different, 0);
  const MultiVector<float, HostSpace> back = gather(*processes(), X, alone_);
  EXPECT_EQ(back.rows(), leads ? kRows : 0);
  for (Index i = 0; i < back.rows(); ++i) {
    for (Index j = 0; j < 3; ++j) different += back.view()(i, j) != x.view()(i, j);
  }
  EXPECT_EQ(different, 0);
}

/// Process k holds k columns of a block.
TEST_F(Distributed, RowsOfColumns) {
  const Index rank = processes()->rank(), size = processes()->size();
  RandomBlock<double> x(kRows, size * (size - 1) / 2, size * (size - 1) / 2, 1);
  for (const Index padding : {0, 3}) {
    RandomBlock<double> mine(kRows, rank, rank + padding, 2);
    for (Index i = 0; i < kRows; ++i) {
      for (Index j = 0; j < rank; ++j) mine.view()(i, j) = x.view()(i, rank * (rank - 1) / 2 + j);
    }
    const auto rows =
        rows_of_columns<double>(*processes(), together_, mine.view(), uneven_rows(kRows));
    const ConstBlockView<double, HostSpace> exact = part<double>(x.view());
    EXPECT_EQ(rows.rows(), exact.rows());
    EXPECT_EQ(rows.cols(), exact.cols());
    for (Index i = 0; i < exact.rows(); ++i) {
      for (Index j = 0; j < exact.cols(); ++j) EXPECT_EQ(rows.view()(i, j), exact(i, j));
    }
  }
}

TEST_F(Distributed, RandomBlocksAreThoseOfOneProcess) {
  RandomBlock<double> whole(kRows, 3, 4, 1), mine(kRows, 3, 4, 2);
  const RowRange rows = own(uneven_rows(kRows));
  const BlockView<double, HostSpace> X(mine.view().data(), rows.local, 3, 4);
  fill_random<double>(alone_, 5, 6, whole.view());
  fill_random<double>(together_, 5, 6, X, rows.first);
  EXPECT_EQ(X(0, 0), whole.view()(rows.first, 0));
  EXPECT_EQ(X(rows.local - 1, 2), whole.view()(rows.first + rows.local - 1, 2));

  std::vector<std::int32_t> numbers(static_cast<std::size_t>(rows.local));
  for (Index i = 0; i < rows.local; ++i) {
    numbers[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(kRows - 1 - rows.first - i);
  }
  together_.set_row_numbers(numbers.data());
  fill_random<double>(together_, 5, 6, X, rows.first);
  together_.set_row_numbers(nullptr);
  EXPECT_EQ(X(0, 2), whole.view()(kRows - 1 - rows.first, 2));
  EXPECT_EQ(X(rows.local - 1, 0), whole.view()(kRows - rows.first - rows.local, 0));
}

/// All processes shift a nearly singular Gram matrix alike. With shifts for their own numbers of
/// rows, their parts of the result would belong to different bases.
TEST_F(Distributed, OrthonormalBasesOfNearlyDependentColumns) {
  constexpr Index kColumns = 6;
  RandomBlock<double> x(kRows, kColumns, kColumns, 1), q(kRows, kColumns, kColumns, 2);
  for (Index i = 0; i < kRows; ++i) {
    for (Index j = 1; j < kColumns; ++j) {
      x.view()(i, j) = x.view()(i, 0) + 1e-9 * x.view()(i, j);
    }
  }
  const auto X = part<double>(x.view());
  const BlockView<double, HostSpace> Q(q.view().data(), X.rows(), kColumns, kColumns);
  copy<double>(together_, X, Q);
  Orthogonalizer<double, HostContext> orthogonalizer(together_, kColumns, 0);
  const OrthoReport report = orthogonalizer.orthonormalize(together_, Q, Q);
  EXPECT_EQ(report.rank, kColumns);
  EXPECT_EQ(report.method, OrthoMethod::shifted_cholqr3);
  RandomSmall H(kColumns, kColumns, 1), norms(kColumns, 1, 2);
  gram<double>(together_, Q, X, H.view());
  RandomBlock<double> r(kRows, kColumns, kColumns, 3);
  const BlockView<double, HostSpace> R(r.view().data(), X.rows(), kColumns, kColumns);
  multiply<double>(together_, -1, Q, H.view(), 1, X, R);  // what of X is outside the span of Q
  column_norms<double>(together_, R, norms.view());
  for (Index j = 0; j < kColumns; ++j) EXPECT_LE(norms.view()(j, 0), tolerance<double>(1, kRows));
}

TEST_F(Distributed, BalancedRows) {
  const HostCsrMatrix<double> A = generate<double>(alone_, {"laplace1d", {1000}});
  for (const int count : {1, 3, 7, 1000}) {
    const RowRanges ranges = balanced_rows(A.view(), count);
    EXPECT_EQ(ranges.processes(), count);
    EXPECT_EQ(ranges.rows(), 1000);
    for (int k = 0; k < count; ++k) {
      EXPECT_NEAR(static_cast<double>(ranges.of(k).local), 1000.0 / count, 1.5);
      EXPECT_EQ(ranges.owner(ranges.of(k).first), k);
      EXPECT_EQ(ranges.owner(ranges.begins[static_cast<std::size_t>(k) + 1] - 1), k);
    }
  }
  EXPECT_THROW(balanced_rows(A.view(), 1001), InvalidArgument);
  const RowRanges some_empty = balanced_rows(A.view(), 1500, 0);
  EXPECT_EQ(some_empty.processes(), 1500);
  EXPECT_EQ(some_empty.rows(), 1000);
  for (int k = 0; k < 1500; ++k) EXPECT_LE(some_empty.of(k).local, 1);
  for (Index row = 0; row < 1000; ++row) {
    const RowRange range = some_empty.of(some_empty.owner(row));
    EXPECT_EQ(range.first, row);
    EXPECT_EQ(range.local, 1);
  }
}

/// Rows and columns of A have ranges of their own. With three columns, some processes have none.
TEST_F(Distributed, RectangularMatrices) {
  for (const Index cols : {Index{3}, Index{400}}) {
    const HostCsrMatrix<double> A =
        generate<double>(alone_, {.name = "random_uniform", .size = {kRows, cols}, .density = 2});
    const HostCsrMatrix<double> At = transpose<double>(alone_, A.view());
    const RowRanges rows = balanced_rows(A.view(), processes()->size(), 0);
    const RowRanges columns = balanced_rows(At.view(), processes()->size(), 0);
    const DistributedCsr<double, HostSpace> D = scatter<double>(together_, A.view(), rows, columns);
    const DistributedCsr<double, HostSpace> Dt =
        scatter<double>(together_, At.view(), columns, rows);
    EXPECT_EQ(row_range(D.view()), own(rows));
    EXPECT_EQ(column_range(D.view()), own(columns));
    const double norm = norm_1(alone_, A.view());
    const double norm_t = norm_1(alone_, At.view());
    EXPECT_NEAR(norm_1(together_, D.view()), norm_t, tolerance<double>(norm_t, 100));
    EXPECT_NEAR(norm_1(together_, Dt.view()), norm, tolerance<double>(norm, 100));

    const HostCsrMatrix<double> squares = squared_row_norms<double>(alone_, At.view());
    const DistributedCsr<double, HostSpace> mine = squared_row_norms<double>(together_, Dt.view());
    EXPECT_EQ(row_range(mine.view()), own(columns));
    EXPECT_EQ(column_range(mine.view()), own(columns));
    EXPECT_EQ(mine.rows(), own(columns).local);
    for (Index j = 0; j < mine.rows(); ++j) {
      const double square = squares.view().values[own(columns).first + j];
      EXPECT_NEAR(mine.own().view().values[j], square, tolerance<double>(square, 100));
    }
  }
}

/// Operations on a distributed matrix are those on the whole matrix.
TEST_F(Distributed, Matrices) {
  for (const GallerySpec& spec :
       {GallerySpec{"laplace2d", {30, 31}}, GallerySpec{"random_symmetric", {kRows}},
        GallerySpec{"rmat", {9}}}) {
    const HostCsrMatrix<double> source = generate<double>(alone_, spec);
    HostCsrMatrix<double> A = symmetrize<double>(alone_, source.view());
    const RowRanges ranges = uneven_rows(A.rows());
    const RowRange rows = own(ranges);
    const bool leads = processes()->leads();
    DistributedCsr<double, HostSpace> D =
        scatter<double>(together_, leads ? A.view() : CsrView<double, HostSpace>{}, ranges, ranges);
    EXPECT_EQ(row_range(D.view()), rows);
    EXPECT_EQ(D.rows(), rows.local);
    EXPECT_EQ(D.cols(), rows.local);
    EXPECT_FALSE(together_.agree(is_diagonal(D.view())));
    EXPECT_THROW(D.view().whole(), InvalidArgument);
    double entries = static_cast<double>(local_entries(D.view()));
    processes()->sum({&entries, 1});
    EXPECT_EQ(entries, static_cast<double>(A.nnz()));

    const double norm = norm_1(alone_, A.view());
    EXPECT_NEAR(norm_1(together_, D.view()), norm, tolerance<double>(norm, 100));
    RandomBlock<double> sums(A.rows(), 1, 1, 1), part(A.rows(), 1, 1, 2);
    const BlockView<double, HostSpace> mine(part.view().data(), rows.local, 1, 1);
    for (const Index terms : {0, 4}) {
      absolute_row_sums<double>(alone_, A.view(), sums.view(), terms);
      absolute_row_sums<double>(together_, D.view(), mine, terms);
      for (Index i = 0; i < rows.local; ++i) {
        const double sum = sums.view()(rows.first + i, 0);
        EXPECT_NEAR(mine(i, 0), sum, tolerance<double>(sum, 100));
      }
    }

    Buffer<double, HostSpace> d(alone_, static_cast<std::size_t>(A.rows()));
    std::copy_n(sums.view().data(), A.rows(), d.data());
    Buffer<double, HostSpace> own_d(alone_, static_cast<std::size_t>(rows.local));
    std::copy_n(d.data() + rows.first, rows.local, own_d.data());
    A = with_stored_diagonal<double>(alone_, A.view());
    D = with_stored_diagonal<double>(together_, D.view());
    scale_symmetrically(alone_, d, A);
    scale_symmetrically(together_, own_d, D);
    const double scaled = norm_1(alone_, convert<float>(alone_, A.view()).view());
    EXPECT_NEAR(norm_1(together_, convert<float>(together_, D.view()).view()), scaled,
                tolerance<double>(scaled, 100));
  }
}

/// Residuals with cancellation, in twice the precision, as on one process.
TEST_F(Distributed, AccurateResiduals) {
  constexpr Index kColumns = 9;
  for (const GallerySpec& spec :
       {GallerySpec{"laplace2d", {30, 31}}, GallerySpec{"random_symmetric", {kRows}}}) {
    const HostCsrMatrix<double> A = generate<double>(alone_, spec);
    const RowRanges ranges = uneven_rows(A.rows());
    const RowRange rows = own(ranges);
    const auto D = scatter<double>(together_, A.view(), ranges, ranges);
    const DistributedCsrView<double, HostSpace> of_A = A.view(), of_D = D.view();
    RandomBlock<double> X(A.rows(), kColumns, kColumns + 1, 1), R(A.rows(), kColumns, kColumns, 2);
    RandomBlock<double> mine(rows.local, kColumns, kColumns + 2, 3);
    const std::vector<double> theta(kColumns, 3.7);
    for (const bool pencil : {false, true}) {
      accurate_residual<double>(alone_, of_A, pencil ? &of_A : nullptr, X.view(), theta, R.view());
      accurate_residual<double>(together_, of_D, pencil ? &of_D : nullptr, part<double>(X.view()),
                                theta, mine.view());
      for (Index i = 0; i < rows.local; ++i) {
        for (Index j = 0; j < kColumns; ++j) {
          EXPECT_DOUBLE_EQ(mine.view()(i, j), R.view()(rows.first + i, j)) << i << ", " << j;
        }
      }
    }
  }
}

/// Ranges of equal work, and the largest halo, from the rows that each process knows.
TEST_F(Distributed, BalancedRowsOfOwnRows) {
  const int size = processes()->size();
  for (const GallerySpec& spec :
       {GallerySpec{"laplace2d", {30, 31}}, GallerySpec{"random_symmetric", {kRows}},
        GallerySpec{"trefethen", {700}}, GallerySpec{"laplace1d", {4}}}) {
    const HostCsrMatrix<double> A = generate<double>(alone_, spec);
    if (A.rows() < size) continue;
    std::vector<RowRanges> holdings{equal_rows(A.rows(), size)};
    if (A.rows() > 100) holdings.push_back(uneven_rows(A.rows()));
    for (const RowRanges& held : holdings) {
      const RowRange rows = own(held);
      const auto part = generate<double>(alone_, spec, {rows.first, rows.first + rows.local});
      for (const Index least : {0, 1}) {
        EXPECT_EQ(balanced_rows(*processes(), part.view(), held, least).begins,
                  balanced_rows(A.view(), size, least).begins);
      }
    }
    const RowRanges ranges = balanced_rows(A.view(), size);
    const auto D = scatter<double>(together_, A.view(), ranges, ranges);
    EXPECT_EQ(halo_share(*processes(), D.view()), halo_share(A.view(), ranges));
  }
  const RowRanges few = equal_rows(size - 1, size);
  const auto part = generate<double>(alone_, {"laplace1d", {size - 1}},
                                     {own(few).first, own(few).first + own(few).local});
  EXPECT_THROW(balanced_rows(*processes(), part.view(), few), InvalidArgument);
}

/// Parts of a block on process 0, from rows in order and from rows that have another order.
TEST_F(Distributed, PartsOfABlock) {
  constexpr Index kColumns = 5;
  RandomBlock<double> whole(kRows, kColumns, 6, 1);
  const RowRanges ranges = uneven_rows(kRows);
  const RowRange rows = own(ranges);
  const auto size = static_cast<Index>(processes()->size());
  std::vector<std::int32_t> all, numbers;  // row k of the distributed block is row all[k]
  for (Index k = 0; k < size; ++k) {
    std::vector<std::int32_t> some;
    for (Index i = 0; i < kRows; ++i) {
      if (i * 7 % kRows >= ranges.of(static_cast<int>(k)).first &&
          i * 7 % kRows < ranges.begins[static_cast<std::size_t>(k) + 1]) {
        some.push_back(static_cast<std::int32_t>(i));
      }
    }
    all.insert(all.end(), some.begin(), some.end());
    if (k == processes()->rank()) numbers = some;
  }
  ASSERT_EQ(std::ssize(numbers), rows.local);
  RandomBlock<double> shuffled(kRows, kColumns, 7, 2);
  for (Index k = 0; k < kRows; ++k) {
    for (Index j = 0; j < kColumns; ++j) {
      shuffled.view()(k, j) = whole.view()(all[static_cast<std::size_t>(k)], j);
    }
  }
  for (const BlockWindow& window : {BlockWindow{0, kRows, 0, kColumns}, BlockWindow{3, 1, 2, 1},
                                    BlockWindow{100, 700, 1, 3}, BlockWindow{9, 0, 0, 2}}) {
    for (const bool in_order : {true, false}) {
      MultiVector<double, HostSpace> part(alone_, window.rows, window.columns);
      const auto X = this->part<double>((in_order ? whole : shuffled).view());
      gather_part<double>(*processes(), X, ranges, in_order ? std::vector<std::int32_t>() : numbers,
                          window, part.view());
      if (!processes()->leads()) continue;
      for (Index i = 0; i < window.rows; ++i) {
        for (Index j = 0; j < window.columns; ++j) {
          EXPECT_EQ(part.view()(i, j), whole.view()(window.first_row + i, window.first_column + j));
        }
      }
    }
  }
}

}  // namespace
}  // namespace heddle
