#pragma once

#include <gtest/gtest.h>

#include <heddle/linalg/base/error.hpp>
#include <heddle/spgemm/band.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "spgemm/spgemm_truth.hpp"
#include "support/matrices.hpp"

/// The tests that every backend's products of band matrices pass. `Backend` names the scalar, the
/// context and a fixture whose `on()` is the context.
namespace heddle {
namespace {

template <class Backend>
class Band : public Backend::Fixture {
 protected:
  using T = typename Backend::Scalar;
  using Context = typename Backend::Context;
  using Space = typename Context::Space;
  using View = CsrView<T, HostSpace>;
  using Matrix = DiaMatrix<T, Space>;

  HostContext host_{2};

  Matrix placed(HostDiaMatrix<T> A) {
    if constexpr (std::same_as<Space, HostSpace>) {
      return A;
    } else {
      return place(this->on(), A);
    }
  }
  HostDiaMatrix<T> fetched(Matrix A) {
    if constexpr (std::same_as<Space, HostSpace>) {
      return A;
    } else {
      return fetch(this->on(), host_, A);
    }
  }
  Matrix banded(const View& A) { return placed(dia_from_csr<T>(host_, A, dia_shape(host_, A))); }

  /// C = A B in CSR, by diagonals.
  HostCsrMatrix<T> csr_of(Matrix C, const View& A, const View& B) {
    const DiaPattern pattern = product_pattern(host_, dia_pattern(host_, A, dia_shape(host_, A)),
                                               dia_pattern(host_, B, dia_shape(host_, B)));
    return csr_from_dia<T>(host_, fetched(std::move(C)), pattern);
  }

  /// Compares C = A B, and the same in three pieces of rows, with the reference.
  void check(const View& A, const View& B) {
    const Matrix left = banded(A);
    const Matrix right = banded(B);
    const BandPlan<T, Context> plan(this->on(), left.shape(), right.shape());
    const HostCsrMatrix<T> C = csr_of(plan.multiply(this->on(), left, right), A, B);
    EXPECT_EQ(fault_of_product(host_, A, B, C.view()), "");
    Matrix pieces(this->on(), plan.product());
    const Index third = A.rows / 3;
    plan.update(this->on(), left, right, pieces, 0, third);
    plan.update(this->on(), left, right, pieces, third, third);
    plan.update(this->on(), left, right, pieces, third, A.rows);
    EXPECT_TRUE(test::same_bits(csr_of(std::move(pieces), A, B).view(), C.view()));
  }

  /// A rows×cols matrix with these diagonals, on which every entry is stored.
  static test::TestMatrix<T> with_diagonals(Index rows, Index cols, std::vector<Index> offsets) {
    return test::matrix_with_pattern<T>(rows, cols, [&](Index i) {
      std::vector<Index> columns;
      for (const Index d : offsets) {
        if (i + d >= 0 && i + d < cols) columns.push_back(i + d);
      }
      return columns;
    });
  }
};

TYPED_TEST_SUITE_P(Band);

TYPED_TEST_P(Band, FullBands) {
  using T = typename TestFixture::T;
  for (const Index order : {1, 2, 31, 64, 65, 300, 1000}) {
    SCOPED_TRACE(order);
    const auto A = test::band_matrix<T>(order, order, 1);
    this->check(A.view(), A.view());
    this->check(A.view(), test::band_matrix<T>(order, order, 5).view());
  }
  const auto wide = test::band_matrix<T>(400, 400, 60);
  this->check(wide.view(), wide.view());
}

TYPED_TEST_P(Band, RectangularOnes) {
  using T = typename TestFixture::T;
  this->check(test::band_matrix<T>(300, 260, 4).view(), test::band_matrix<T>(260, 330, 9).view());
  this->check(test::band_matrix<T>(70, 500, 7).view(), test::band_matrix<T>(500, 90, 3).view());
  this->check(this->with_diagonals(5, 700, {300, 400, 650}).view(),
              this->with_diagonals(700, 40, {-690, -400, -300, 0}).view());
}

/// Entries of C whose terms all lie outside the matrices, and diagonals of C without entries.
TYPED_TEST_P(Band, DiagonalsApart) {
  const auto A = this->with_diagonals(200, 200, {-90, -1, 0, 7, 150});
  this->check(A.view(), A.view());
  this->check(this->with_diagonals(100, 100, {-5}).view(),
              this->with_diagonals(100, 100, {5}).view());
  this->check(this->with_diagonals(100, 100, {99}).view(),
              this->with_diagonals(100, 100, {99}).view());
}

/// Diagonals with gaps: the zeros that fill them are no entries of C.
TYPED_TEST_P(Band, GapsInDiagonals) {
  using T = typename TestFixture::T;
  const auto grid = test::grid_matrix<T>(9, 7, 5);
  this->check(grid.view(), grid.view());
  const auto scattered = test::random_matrix<T>(80, 60, 3);
  this->check(scattered.view(), test::random_matrix<T>(60, 90, 2).view());
}

TYPED_TEST_P(Band, NoEntries) {
  using T = typename TestFixture::T;
  const auto empty = [](Index rows, Index cols) {
    return test::matrix_with_pattern<T>(rows, cols, [](Index) { return std::vector<Index>{}; });
  };
  this->check(empty(0, 0).view(), empty(0, 0).view());
  this->check(empty(0, 4).view(), test::band_matrix<T>(4, 6, 2).view());
  this->check(test::band_matrix<T>(6, 4, 2).view(), empty(4, 0).view());
  this->check(empty(3, 0).view(), empty(0, 5).view());
  this->check(test::band_matrix<T>(6, 4, 2).view(), empty(4, 9).view());
}

TYPED_TEST_P(Band, MisuseIsRefused) {
  using T = typename TestFixture::T;
  using Context = typename TestFixture::Context;
  const auto A = this->banded(test::band_matrix<T>(50, 40, 1).view());
  const auto B = this->banded(test::band_matrix<T>(40, 50, 2).view());
  using Plan = BandPlan<T, Context>;
  try {
    Plan(this->on(), A.shape(), A.shape());
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_NE(std::string(error.what()).find("A is 50x40, B is 50x40"), std::string::npos);
  }
  const Plan plan(this->on(), A.shape(), B.shape());
  auto C = plan.multiply(this->on(), A, B);
  const auto other = this->banded(test::band_matrix<T>(50, 40, 2).view());
  EXPECT_THROW(plan.multiply(this->on(), other, B), InvalidArgument);
  EXPECT_THROW(plan.update(this->on(), A, A, C, 0, 50), InvalidArgument);
  EXPECT_THROW(plan.update(this->on(), A, B, C, 0, 51), InvalidArgument);
  EXPECT_THROW(plan.update(this->on(), A, B, C, -1, 5), InvalidArgument);
  EXPECT_THROW(plan.update(this->on(), A, B, C, 5, 4), InvalidArgument);
}

REGISTER_TYPED_TEST_SUITE_P(Band, FullBands, RectangularOnes, DiagonalsApart, GapsInDiagonals,
                            NoEntries, MisuseIsRefused);

}  // namespace
}  // namespace heddle
