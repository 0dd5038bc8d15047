#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/linalg/sparse/csr_ops.hpp>
#include <heddle/linalg/sparse/csr_survey.hpp>
#include <heddle/linalg/sparse/row_contrast.hpp>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "support/csr_invariants.hpp"
#include "support/dense.hpp"
#include "support/matrices.hpp"
#include "support/tolerance.hpp"

/// The tests that every backend's operations on sparse matrices pass. `Backend` names the scalar
/// and a fixture whose `context()` is where the matrices lie.
namespace heddle {
namespace {

using test::csr_fault;
using test::to_dense;

template <class Backend>
class CsrOps : public Backend::Fixture {
 protected:
  using T = typename Backend::Scalar;
  using Space = typename Backend::Context::Space;

  HostContext host_{2};

  CsrMatrix<T, Space> placed(const CsrView<T, HostSpace>& A) {
    return place(this->context(), convert<T>(host_, A));
  }
  CsrMatrix<T, Space> from(Index rows, Index cols, const std::vector<Triplet<T>>& triplets) {
    return place(this->context(), csr_from_triplets<T>(host_, rows, cols, triplets));
  }
  Eigen::MatrixXd dense(const CsrMatrix<T, Space>& A) {
    if constexpr (std::same_as<Space, HostSpace>) {
      EXPECT_EQ(csr_fault(A.view()), "");
      return to_dense(A.view());
    } else {
      const HostCsrMatrix<T> there = fetch(this->context(), host_, A.view());
      EXPECT_EQ(csr_fault(there.view()), "");
      return to_dense(there.view());
    }
  }
  Buffer<T, Space> values(const std::vector<T>& numbers) {
    Buffer<T, HostSpace> buffer(host_, numbers.size());
    std::copy(numbers.begin(), numbers.end(), buffer.data());
    return place(this->context(), std::move(buffer));
  }
  /// Entries of A and of its diagonal.
  static Index stored(const CsrView<T, HostSpace>& A) {
    Index count = A.nnz + A.rows;
    for (Index i = 0; i < A.rows; ++i) {
      for (Index e = A.row_offsets[i]; e < A.row_offsets[i + 1]; ++e) count -= A.columns[e] == i;
    }
    return count;
  }
  std::vector<T> diagonal(const CsrMatrix<T, Space>& A) {
    const Buffer<T, HostSpace> d =
        fetch(this->context(), host_, extract_diagonal(this->context(), A.view()));
    return {d.data(), d.data() + d.size()};
  }
};

TYPED_TEST_SUITE_P(CsrOps);

TYPED_TEST_P(CsrOps, Norm1IsTheLargestColumnSum) {
  using T = typename TypeParam::Scalar;
  for (const double scale : {1.0, 1e-30, 1e30}) {
    for (auto A : {test::random_matrix<T>(300, 40, 5), test::random_matrix<T>(40, 300, 50),
                   test::random_matrix<T>(3000, 2, 1)}) {
      for (T& value : A.values) value = static_cast<T>(value * scale);
      const double expected = to_dense(A.view()).cwiseAbs().colwise().sum().maxCoeff();
      const auto there = this->placed(A.view());
      const double norm = norm_1(this->context(), there.view());
      EXPECT_NEAR(norm, expected, test::tolerance<double>(expected, static_cast<double>(A.rows)));
      EXPECT_EQ(norm_1(this->context(), there.view()), norm);
    }
  }
}

TYPED_TEST_P(CsrOps, AbsoluteRowSumsAreThoseOfTheRows) {
  using T = typename TypeParam::Scalar;
  using Space = typename TestFixture::Space;
  HostContext host(1);
  for (const auto& A : {test::random_matrix<T>(300, 40, 5), test::random_matrix<T>(40, 300, 50)}) {
    const auto expected = to_dense(A.view()).cwiseAbs().rowwise().sum().eval();
    MultiVector<T, Space> sums(this->context(), A.rows, 1);
    absolute_row_sums<T>(this->context(), this->placed(A.view()).view(), sums.view());
    MultiVector<T, HostSpace> here(host, A.rows, 1);
    fetch<T>(this->context(), sums.view(), here.view());
    for (Index i = 0; i < A.rows; ++i) {
      EXPECT_NEAR(static_cast<double>(here.view()(i, 0)), expected(i),
                  test::tolerance<T>(expected(i), 50));
    }
    const Index terms = 5;
    absolute_row_sums<T>(this->context(), this->placed(A.view()).view(), sums.view(), terms);
    fetch<T>(this->context(), sums.view(), here.view());
    for (Index i = 0; i < A.rows; ++i) {
      const auto entries = static_cast<double>(A.offsets[static_cast<std::size_t>(i) + 1] -
                                               A.offsets[static_cast<std::size_t>(i)]);
      const double weighted = expected(i) * std::max(1.0, entries / terms);
      EXPECT_NEAR(static_cast<double>(here.view()(i, 0)), weighted,
                  test::tolerance<T>(weighted, 50));
    }
  }
  MultiVector<T, Space> short_one(this->context(), 3, 1);
  const auto A = this->from(4, 3, {{0, 0, 3}});
  EXPECT_THROW(absolute_row_sums<T>(this->context(), A.view(), short_one.view()), InvalidArgument);
}

TYPED_TEST_P(CsrOps, WeightedRowSquaresAreThoseOfTheRows) {
  using T = typename TypeParam::Scalar;
  using Space = typename TestFixture::Space;
  HostContext host(1);
  for (const auto& A : {test::random_matrix<T>(300, 40, 5), test::random_matrix<T>(40, 300, 50)}) {
    MultiVector<T, HostSpace> weights(host, A.cols, 1), here(host, A.rows, 1);
    Eigen::VectorXd w(A.cols);
    for (Index j = 0; j < A.cols; ++j) {
      weights.view()(j, 0) = static_cast<T>(1 + j % 7);
      w(j) = static_cast<double>(1 + j % 7);
    }
    const Eigen::VectorXd expected = to_dense(A.view()).cwiseAbs2() * w;
    MultiVector<T, Space> there(this->context(), A.cols, 1), sums(this->context(), A.rows, 1);
    send<T>(this->context(), weights.view(), there.view());
    weighted_row_squares<T>(this->context(), this->placed(A.view()).view(), there.view(),
                            sums.view());
    fetch<T>(this->context(), sums.view(), here.view());
    for (Index i = 0; i < A.rows; ++i) {
      EXPECT_NEAR(static_cast<double>(here.view()(i, 0)), expected(i),
                  test::tolerance<T>(expected(i), 50));
    }
  }
  MultiVector<T, Space> three(this->context(), 3, 1), four(this->context(), 4, 1);
  const auto A = this->from(4, 3, {{0, 0, 3}});
  EXPECT_THROW(weighted_row_squares<T>(this->context(), A.view(), four.view(), four.view()),
               InvalidArgument);
  EXPECT_THROW(weighted_row_squares<T>(this->context(), A.view(), three.view(), three.view()),
               InvalidArgument);
}

TYPED_TEST_P(CsrOps, Norm1OfSmallWholeNumbersIsExact) {
  const auto A = this->from(4, 3, {{0, 0, 3}, {1, 0, -5}, {2, 1, 7}, {3, 1, 2}, {3, 2, 1}});
  EXPECT_EQ(norm_1(this->context(), A.view()), 9);
}

TYPED_TEST_P(CsrOps, Norm1ShowsNaNAndInf) {
  using T = typename TypeParam::Scalar;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto inf = static_cast<T>(kInfinity);
  const auto nan = std::numeric_limits<T>::quiet_NaN();
  EXPECT_EQ(norm_1(this->context(), this->from(2, 2, {{0, 0, 1}, {1, 1, -inf}}).view()), kInfinity);
  for (const Index col : {0, 1, 2}) {
    for (const T sign : {T{1}, T{-1}}) {
      const auto A =
          this->from(3, 3, {{0, 0, 1}, {1, 1, 2}, {2, 2, inf}, {1, col, std::copysign(nan, sign)}});
      EXPECT_TRUE(std::isnan(norm_1(this->context(), A.view()))) << col;
    }
  }
}

TYPED_TEST_P(CsrOps, Norm1OfNothingIsZero) {
  for (const auto& [rows, cols] : {std::pair<Index, Index>{0, 0}, {0, 3}, {3, 0}, {4, 4}}) {
    EXPECT_EQ(norm_1(this->context(), this->from(rows, cols, {}).view()), 0);
  }
  EXPECT_EQ(norm_1(this->context(), this->from(2, 2, {{0, 1, 0}}).view()), 0);
}

TYPED_TEST_P(CsrOps, DiagonalIsZeroWhereNotStored) {
  using T = typename TypeParam::Scalar;
  const auto A = this->from(3, 3, {{0, 0, 4}, {0, 1, 5}, {1, 0, 6}, {2, 1, 7}, {2, 2, 8}});
  EXPECT_EQ(this->diagonal(A), (std::vector<T>{4, 0, 8}));
  EXPECT_EQ(this->diagonal(this->from(0, 0, {})), std::vector<T>{});
  EXPECT_THROW(this->diagonal(this->from(3, 2, {})), InvalidArgument);
}

TYPED_TEST_P(CsrOps, StoresTheWholeDiagonalAndNothingElseChanges) {
  for (const auto& [n, mean] : std::vector<std::pair<Index, Index>>{
           {60, 0}, {60, 1}, {60, 3}, {60, 40}, {2500, 1}, {2500, 300}}) {
    const auto A = test::random_matrix<typename TypeParam::Scalar>(n, n, mean);
    const auto there = this->placed(A.view());
    const auto full = with_stored_diagonal(this->context(), there.view());
    EXPECT_EQ(this->dense(full), to_dense(A.view()));
    EXPECT_EQ(full.nnz(), this->stored(A.view()));
    const auto again = with_stored_diagonal(this->context(), full.view());
    EXPECT_EQ(again.nnz(), full.nnz());
    EXPECT_EQ(this->dense(again), to_dense(A.view()));
  }
  EXPECT_THROW(with_stored_diagonal(this->context(), this->from(3, 2, {}).view()), InvalidArgument);
}

TYPED_TEST_P(CsrOps, ScalesRowsAndColumnsAlike) {
  using T = typename TypeParam::Scalar;
  const auto A = test::random_matrix<T>(200, 200, 40);
  std::vector<T> d;
  Eigen::VectorXd expected(200);
  for (int i = 0; i < 200; ++i) {
    d.push_back(static_cast<T>(std::ldexp(1.0, i % 11 - 5)));  // so that products are exact
    expected(i) = static_cast<double>(d.back());
  }
  auto there = this->placed(A.view());
  scale_symmetrically(this->context(), this->values(d), there);
  EXPECT_EQ(this->dense(there), expected.asDiagonal() * to_dense(A.view()) * expected.asDiagonal());
  d.pop_back();
  EXPECT_THROW(scale_symmetrically(this->context(), this->values(d), there), InvalidArgument);
}

TYPED_TEST_P(CsrOps, ShiftsStoredDiagonalEntries) {
  auto A = this->from(3, 3, {{0, 0, 4}, {0, 1, 5}, {1, 0, 6}, {2, 1, 7}, {2, 2, 8}});
  shift_diagonal(this->context(), -2.5, A);
  Eigen::MatrixXd expected(3, 3);
  expected << 1.5, 5, 0, 6, 0, 0, 0, 7, 5.5;
  EXPECT_EQ(this->dense(A), expected);
  auto wide = this->from(2, 3, {});
  EXPECT_THROW(shift_diagonal(this->context(), 1, wide), InvalidArgument);
}

/// Some rows and columns are empty, and one matrix has neither rows nor entries.
TYPED_TEST_P(CsrOps, TransposesOfEveryShapeAreExact) {
  using T = typename TypeParam::Scalar;
  for (const auto& [rows, cols] : std::vector<std::pair<Index, Index>>{
           {300, 300}, {700, 40}, {40, 700}, {1, 500}, {500, 1}, {0, 3}, {3, 0}}) {
    const auto A = test::random_matrix<T>(rows, cols, 5);
    const auto transposed = transpose(this->context(), this->placed(A.view()).view());
    EXPECT_EQ(this->dense(transposed), to_dense(A.view()).transpose()) << rows << "x" << cols;
  }
}

TYPED_TEST_P(CsrOps, SquaredRowNormsAreThoseOfTheRows) {
  using T = typename TypeParam::Scalar;
  for (const auto& A : {test::random_matrix<T>(300, 40, 5), test::random_matrix<T>(40, 300, 50)}) {
    const auto squares = squared_row_norms(this->context(), this->placed(A.view()).view());
    const Eigen::VectorXd expected = to_dense(A.view()).rowwise().squaredNorm();
    const Eigen::MatrixXd found = this->dense(squares);
    EXPECT_TRUE(found.isDiagonal(0));
    for (Index i = 0; i < A.rows; ++i) {
      EXPECT_NEAR(found(i, i), expected(i), test::tolerance<T>(expected(i), 50)) << i;
    }
  }
}

TYPED_TEST_P(CsrOps, SurveyFindsWhatTheEntriesShow) {
  using T = typename TypeParam::Scalar;
  const auto surveyed = [&](const std::vector<Triplet<T>>& entries, Index cols = 3) {
    return survey(this->context(), this->from(3, cols, entries).view());
  };
  const CsrSurvey symmetric = surveyed({{0, 0, 2}, {0, 2, -5}, {2, 0, -5}, {1, 1, 4}, {2, 2, 3}});
  EXPECT_EQ(symmetric.invalid_row, -1);
  EXPECT_EQ(symmetric.largest, 5);
  EXPECT_EQ(symmetric.asymmetry, 0);
  EXPECT_EQ(symmetric.least_diagonal, 2);
  EXPECT_FALSE(symmetric.diagonal);
  const CsrSurvey diagonal = surveyed({{0, 0, 2}, {0, 1, 0}, {1, 1, -4}, {2, 2, 3}});
  EXPECT_TRUE(diagonal.diagonal);
  EXPECT_EQ(diagonal.least_diagonal, -4);
  EXPECT_EQ(diagonal.asymmetry, 0);
  EXPECT_EQ(surveyed({{0, 1, 7}, {1, 0, 4}, {1, 1, 2}}).asymmetry, 3);
  EXPECT_EQ(surveyed({{0, 1, 7}, {2, 2, 2}}).asymmetry, 7);
  EXPECT_EQ(surveyed({{1, 1, 2}}).least_diagonal, 0);
  EXPECT_EQ(surveyed({{0, 3, 7}}, 4).asymmetry, 0);  // not square
  const T nan = std::numeric_limits<T>::quiet_NaN();
  const T inf = std::numeric_limits<T>::infinity();
  EXPECT_EQ(surveyed({{0, 1, nan}, {1, 0, nan}, {2, 2, 1}}).asymmetry, 0);
  EXPECT_EQ(surveyed({{0, 1, nan}, {1, 0, 3}}).asymmetry, std::numeric_limits<double>::infinity());
  EXPECT_EQ(surveyed({{0, 1, inf}, {1, 0, inf}, {2, 2, 6}}).largest, 6);
  EXPECT_EQ(survey(this->context(), this->from(0, 0, {}).view()).largest, 0);
}

/// Rows that are no compressed sparse rows are found before an entry outside of the arrays is read.
TYPED_TEST_P(CsrOps, SurveyFindsInvalidRows) {
  using T = typename TypeParam::Scalar;
  using Offsets = std::vector<std::int64_t>;
  using Columns = std::vector<std::int32_t>;
  const auto invalid_row = [&](const Offsets& offsets, const Columns& columns) {
    HostCsrMatrix<T> A(this->host_, 3, 3, static_cast<Index>(columns.size()));
    std::copy(offsets.begin(), offsets.end(), A.row_offsets());
    std::copy(columns.begin(), columns.end(), A.columns());
    std::fill_n(A.values(), columns.size(), T{1});
    return survey(this->context(), place(this->context(), std::move(A)).view()).invalid_row;
  };
  EXPECT_EQ(invalid_row({0, 1, 2, 3}, {0, 1, 2}), -1);
  EXPECT_EQ(invalid_row({1, 1, 2, 3}, {0, 1, 2}), 0);
  EXPECT_EQ(invalid_row({0, 2, 1, 3}, {0, 1, 2}), 1);
  EXPECT_EQ(invalid_row({0, 1, 1, 2}, {0, 1, 2}), 2);
  EXPECT_EQ(invalid_row({0, 1'000'000'000'000, 2, 3}, {0, 1, 2}), 0);
  EXPECT_EQ(invalid_row({0, 1, 2, 3}, {0, 3, 2}), 1);
  EXPECT_EQ(invalid_row({0, 1, 2, 3}, {0, 1, -1}), 2);
  EXPECT_EQ(invalid_row({0, 1, 3, 3}, {0, 2, 1}), 1);
  EXPECT_EQ(invalid_row({0, 1, 3, 3}, {0, 1, 1}), 1);
}

TYPED_TEST_P(CsrOps, RowSpanIsThatOfTheSizesOfTheRows) {
  using T = typename TypeParam::Scalar;
  using Entries = std::vector<Triplet<T>>;
  const auto span = [&](const Entries& A, const Entries& B = {}) {
    const Index mass_rows = B.empty() ? 0 : 3;
    return row_span<T>(this->context(), this->from(3, 3, A).view(),
                       this->from(mass_rows, mass_rows, B).view());
  };
  EXPECT_EQ(span({}), 1);
  EXPECT_EQ(span({{0, 0, 4}, {2, 2, T(-0.125)}}), 32);  // a row of zeros does not count
  // Sizes 2·2/8, 8 and 16.
  const Entries indefinite = {{0, 1, 2}, {1, 0, 2}, {1, 1, -8}, {2, 2, 16}};
  EXPECT_EQ(span(indefinite), 32);
  EXPECT_EQ(span(indefinite, {{0, 0, 1}, {1, 1, 4}, {2, 2, 16}}), 4);
  EXPECT_EQ(span(indefinite, {{1, 1, 4}, {2, 2, 16}}), 2);  // row 0 has no mass
  // More rows than a warp has lanes, and longer ones.
  Entries wide;
  for (Index j = 0; j < 100; ++j) {
    wide.push_back({j, j, j == 70 ? T(1024) : T(1)});
    if (j != 50) wide.push_back({50, j, T(0.5)});
  }
  EXPECT_EQ(row_span<T>(this->context(), this->from(100, 100, wide).view(), {}), 1024);
}

TYPED_TEST_P(CsrOps, DominantRowsAreMarkedAndLeftOutBesideTheirLike) {
  using T = typename TypeParam::Scalar;
  constexpr Index n = 39;
  // A path with entries −1. Diagonal entries of 2 except for rows 3 and 4, 8 and 9, 20, 30, 38.
  std::map<Index, T> diagonal = {{3, 1e6f}, {4, 1e3f}, {8, 25}, {9, 1e4f}, {20, 19}, {30, 20}};
  std::vector<Triplet<T>> entries;
  for (Index i = 0; i < n; ++i) {
    entries.push_back({i, i, diagonal.count(i) > 0 ? diagonal[i] : T(2)});
    if (i == 37 || i + 1 == n) continue;  // row 38 has no neighbours
    entries.push_back({i, i + 1, -1});
    entries.push_back({i + 1, i, -1});
  }
  const CsrMatrix<T, typename TestFixture::Space> A = this->from(n, n, entries);
  MultiVector<T, typename TestFixture::Space> marks(this->context(), n, 1),
      left(this->context(), n, 1), last(this->context(), n, 1);
  mark_dominant_rows<T>(this->context(), A.view(), 10, marks.view());
  leave_out_like_neighbours<T>(this->context(), A.view(), 10, std::as_const(marks).view(),
                               left.view());
  leave_out_like_neighbours<T>(this->context(), A.view(), 20, std::as_const(left).view(),
                               last.view());
  const auto rows_of = [&](MultiVector<T, typename TestFixture::Space>& X) {
    const MultiVector<T, HostSpace> x = fetch(this->context(), this->host_, std::move(X));
    std::vector<Index> rows;
    for (Index i = 0; i < n; ++i) {
      if (x.view()(i, 0) != 0) rows.push_back(i);
    }
    return rows;
  };
  EXPECT_EQ(rows_of(marks), (std::vector<Index>{3, 4, 8, 9, 30, 38}));
  EXPECT_EQ(rows_of(left), (std::vector<Index>{3, 4, 8, 9, 30, 38}));
  EXPECT_EQ(rows_of(last), (std::vector<Index>{3, 4, 9, 38}));
}

/// What is there for complex matrices does what it does for real ones, with sizes and conjugates of
/// complex numbers.
template <class Context>
void expect_operations_of_complex_matrices(Context& context) {
  using T = std::complex<double>;
  using Space = typename Context::Space;
  HostContext host(2);
  const auto A = test::random_matrix<T>(300, 300, 12);
  const test::WideMatrix<T> dense = to_dense(A.view());
  const auto there = place(context, convert<T>(host, A.view()));
  const auto fetched = [&](const CsrMatrix<T, Space>& B) {
    if constexpr (std::same_as<Space, HostSpace>) {
      return to_dense(B.view());
    } else {
      return to_dense(fetch(context, host, B.view()).view());
    }
  };
  EXPECT_NEAR(norm_1(context, there.view()), dense.cwiseAbs().colwise().sum().maxCoeff(), 1e-12);
  EXPECT_EQ(fetched(transpose(context, there.view())), dense.transpose());
  auto full = with_stored_diagonal(context, there.view());
  EXPECT_EQ(fetched(full), dense);
  const Buffer<T, HostSpace> d = fetch(context, host, extract_diagonal(context, full.view()));
  EXPECT_EQ((Eigen::Map<const Eigen::VectorXcd>(d.data(), 300)), dense.diagonal());

  const CsrSurvey surveyed = survey(context, there.view());
  EXPECT_NEAR(surveyed.largest, dense.cwiseAbs().maxCoeff(), 1e-15);
  EXPECT_NEAR(surveyed.asymmetry, (dense - dense.adjoint()).cwiseAbs().maxCoeff(), 1e-15);
  EXPECT_EQ(surveyed.least_diagonal, dense.diagonal().real().minCoeff());
  const std::vector<Triplet<T>> entries = {
      {0, 0, {-3, 0}}, {0, 1, {1, 2}}, {1, 0, {1, -2}}, {1, 1, {4, 0}}};
  const auto hermitian = place(context, csr_from_triplets<T>(host, 2, 2, entries));
  EXPECT_EQ(survey(context, hermitian.view()).asymmetry, 0);
  EXPECT_EQ(survey(context, hermitian.view()).least_diagonal, -3);
  EXPECT_EQ(row_span<T>(context, hermitian.view(), {}), 4 / std::max(3.0, 5 / 4.0));

  MultiVector<T, Space> sums(context, 300, 1);
  absolute_row_sums<T>(context, full.view(), sums.view());
  const MultiVector<T, HostSpace> found = fetch(context, host, std::move(sums));
  const Eigen::VectorXd expected = dense.cwiseAbs().rowwise().sum();
  EXPECT_LT((to_dense(found.view()) - expected).norm(), 1e-12);

  shift_diagonal(context, -2.5, full);
  const test::WideMatrix<T> shifted = dense - 2.5 * test::WideMatrix<T>::Identity(300, 300);
  EXPECT_LT((fetched(full) - shifted).norm(), 1e-14);
  Buffer<T, HostSpace> factors(host, 300);
  for (Index i = 0; i < 300; ++i)
    factors.data()[i] = {std::ldexp(1.0, static_cast<int>(i % 11)), 0};
  const Eigen::VectorXcd D = Eigen::Map<const Eigen::VectorXcd>(factors.data(), 300);
  scale_symmetrically(context, place(context, std::move(factors)), full);
  EXPECT_LT((fetched(full) - D.asDiagonal() * shifted * D.asDiagonal()).norm(), 1e-8);
}

REGISTER_TYPED_TEST_SUITE_P(CsrOps, SquaredRowNormsAreThoseOfTheRows, SurveyFindsWhatTheEntriesShow,
                            SurveyFindsInvalidRows, RowSpanIsThatOfTheSizesOfTheRows,
                            DominantRowsAreMarkedAndLeftOutBesideTheirLike,
                            TransposesOfEveryShapeAreExact, AbsoluteRowSumsAreThoseOfTheRows,
                            WeightedRowSquaresAreThoseOfTheRows, Norm1IsTheLargestColumnSum,
                            Norm1OfSmallWholeNumbersIsExact, Norm1ShowsNaNAndInf,
                            Norm1OfNothingIsZero, DiagonalIsZeroWhereNotStored,
                            StoresTheWholeDiagonalAndNothingElseChanges, ScalesRowsAndColumnsAlike,
                            ShiftsStoredDiagonalEntries);

}  // namespace
}  // namespace heddle
