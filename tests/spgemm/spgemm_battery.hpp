#pragma once

#include <gtest/gtest.h>

#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/gallery/gallery.hpp>
#include <heddle/spgemm/spgemm.hpp>
#include <string>
#include <utility>
#include <vector>

#include "spgemm/spgemm_truth.hpp"
#include "support/matrices.hpp"

/// The tests that every backend's products of sparse matrices pass. `Backend` names the scalar, the
/// context and a fixture whose `on()` is the context.
namespace heddle {
namespace {

template <class Backend>
class Spgemm : public Backend::Fixture {
 protected:
  using T = typename Backend::Scalar;
  using Context = typename Backend::Context;
  using Space = typename Context::Space;
  using HostView = CsrView<T, HostSpace>;

  HostContext host_{2};

  CsrMatrix<T, Space> placed(const HostView& A) { return place(this->on(), convert<T>(host_, A)); }

  HostCsrMatrix<T> fetched(CsrMatrix<T, Space> C) {
    if constexpr (std::same_as<Space, HostSpace>) {
      return C;
    } else {
      return fetch(this->on(), host_, std::as_const(C).view());
    }
  }

  HostCsrMatrix<T> product(const HostView& A, const HostView& B) {
    const CsrMatrix<T, Space> left = placed(A);
    const CsrMatrix<T, Space> right = placed(B);
    return fetched(spgemm<T>(this->on(), left.view(), right.view()));
  }

  /// Checks A B, and the same with so many empty columns behind those of B that a GPU does not take
  /// it for a small product.
  void check(const HostView& A, const HostView& B) {
    check_product(A, B);
    constexpr Index kMany = 100000;
    HostView wide = B;
    wide.cols += kMany;
    SCOPED_TRACE("many columns");
    check_product(A, wide);
  }

  /// Compares C = A B, the same again, and the product after new values, with the reference.
  void check_product(const HostView& A, const HostView& B) {
    const CsrMatrix<T, Space> left = placed(A);
    const CsrMatrix<T, Space> right = placed(B);
    const SpgemmPlan<T, Context> plan(this->on(), left.view(), right.view());
    CsrMatrix<T, Space> C = plan.multiply(this->on(), left.view(), right.view());
    const HostCsrMatrix<T> first = fetched(plan.multiply(this->on(), left.view(), right.view()));
    EXPECT_EQ(fault_of_product(host_, A, B, first.view()), "");
    EXPECT_EQ(plan.counts().nnz, first.nnz());
    Index multiplications = 0;
    for (Index e = 0; e < A.nnz; ++e) {
      multiplications += B.row_offsets[A.columns[e] + 1] - B.row_offsets[A.columns[e]];
    }
    EXPECT_EQ(plan.counts().multiplications, multiplications);

    HostCsrMatrix<T> changed = convert<T>(host_, A);
    for (Index e = 0; e < A.nnz; ++e) changed.values()[e] = T{1} / static_cast<T>(e % 7 + 2);
    const CsrMatrix<T, Space> other = placed(changed.view());
    plan.update(this->on(), other.view(), right.view(), C);
    const HostCsrMatrix<T> second = fetched(std::move(C));
    EXPECT_EQ(fault_of_product(host_, changed.view(), B, second.view()), "");
    const HostCsrMatrix<T> again = product(A, B);
    EXPECT_TRUE(test::same_bits(again.view(), first.view()));
  }

  void check_square(const HostView& A) { check(A, A); }
};

TYPED_TEST_SUITE_P(Spgemm);

/// Runs of rows of all lengths around those of a chunk, and rows of B of odd and even lengths.
TYPED_TEST_P(Spgemm, GridsAndBands) {
  using T = typename TestFixture::T;
  for (const Index nx : {1, 2, 5, 11, 12, 13, 14, 15, 16, 31, 33, 40, 70}) {
    SCOPED_TRACE(nx);
    this->check_square(test::grid_matrix<T>(nx, 5, 3).view());
    this->check_square(test::band_matrix<T>(nx, nx, 1).view());
  }
  for (const Index half_width : {0, 2, 20, 40, 100}) {
    SCOPED_TRACE(half_width);
    const Index order = half_width + 150;
    this->check_square(test::band_matrix<T>(order, order, half_width).view());
  }
  for (const Index width : {2, 4, 8, 16}) {
    SCOPED_TRACE(width);
    const auto rows = test::matrix_with_pattern<T>(200, 200 + 16 * width, [&](Index i) {
      std::vector<Index> columns;
      for (Index j = 0; j < width; ++j) columns.push_back(i + j * j);
      return columns;
    });
    this->check(test::band_matrix<T>(200, 200, 3).view(), rows.view());
  }
}

TYPED_TEST_P(Spgemm, Stencil) {
  using T = typename TestFixture::T;
  const auto A = generate<T>(this->host_, {"stencil27", {40, 6, 5}});
  this->check_square(A.view());
}

TYPED_TEST_P(Spgemm, IrregularMatrices) {
  using T = typename TestFixture::T;
  this->check_square(test::random_matrix<T>(300, 300, 3).view());
  this->check_square(test::random_matrix<T>(400, 400, 30).view());
  this->check_square(test::node_block_matrix<T>(50, 6).view());
  this->check_square(test::random_node_matrix<T>(400, 400, 3, 6).view());
  this->check_square(test::power_law_matrix<T>(500, 500, 300).view());
  this->check(test::random_matrix<T>(90, 400, 9).view(), test::random_matrix<T>(400, 33, 2).view());
  this->check(test::random_matrix<T>(10, 3, 1).view(), test::random_matrix<T>(3, 5000, 70).view());
  // Rows of 120 to 2400 entries among many columns and among few.
  for (const Index length : {2, 12, 40}) {
    this->check(test::random_matrix<T>(12, 200, 60).view(),
                test::random_matrix<T>(200, 600000, length).view());
    this->check(test::random_matrix<T>(12, 200, 60).view(),
                test::random_matrix<T>(200, 20000, length).view());
  }
  const auto graph = generate<T>(this->host_, {"rmat", {9}, 8});
  this->check_square(graph.view());
}

TYPED_TEST_P(Spgemm, MatrixTimesItsTranspose) {
  using T = typename TestFixture::T;
  const auto A = test::random_matrix<T>(80, 300, 6);
  const HostCsrMatrix<T> At = transpose<T>(this->host_, A.view());
  this->check(A.view(), At.view());
  this->check(At.view(), A.view());
}

/// Columns 0 … n − 1 in row `dense`, or in every row the column `dense`.
TYPED_TEST_P(Spgemm, ADenseRowOrColumn) {
  using T = typename TestFixture::T;
  constexpr Index kOrder = 900;
  const auto row = test::matrix_with_pattern<T>(kOrder, kOrder, [](Index i) {
    std::vector<Index> columns;
    for (Index j = 0; j < kOrder; ++j) {
      if (i == 77 || j == i) columns.push_back(j);
    }
    return columns;
  });
  this->check_square(row.view());
  const auto column = test::matrix_with_pattern<T>(kOrder, kOrder, [](Index i) {
    return std::set<Index>{Index{5}, i};
  });
  this->check_square(column.view());
}

/// More entries, in more blocks of columns, than any hash table holds.
TYPED_TEST_P(Spgemm, VeryLongRows) {
  using T = typename TestFixture::T;
  constexpr Index kInner = 20000;
  constexpr Index kCols = 700000;
  const auto A = test::matrix_with_pattern<T>(4, kInner, [](Index i) {
    std::vector<Index> columns;
    for (Index k = 0; i != 1 && k < kInner; k += 1 + i) columns.push_back(k);
    return columns;
  });
  const auto B = test::matrix_with_pattern<T>(kInner, kCols, [](Index k) {
    return std::set<Index>{k * 7919 % kCols, (k * 104729 + 3) % kCols, k % 50};
  });
  this->check(A.view(), B.view());
}

TYPED_TEST_P(Spgemm, NoEntries) {
  using T = typename TestFixture::T;
  const auto empty = [](Index rows, Index cols) {
    return test::matrix_with_pattern<T>(rows, cols, [](Index) { return std::vector<Index>{}; });
  };
  this->check(empty(0, 0).view(), empty(0, 0).view());
  this->check(empty(0, 4).view(), test::random_matrix<T>(4, 6, 2).view());
  this->check(test::random_matrix<T>(6, 4, 2).view(), empty(4, 0).view());
  this->check(empty(3, 0).view(), empty(0, 5).view());
  this->check(test::random_matrix<T>(6, 4, 2).view(), empty(4, 9).view());
  this->check(empty(5, 4).view(), test::random_matrix<T>(4, 3, 2).view());
  const auto sparse = test::matrix_with_pattern<T>(100, 100, [](Index i) {
    return i % 10 == 3 ? std::vector<Index>{(i * 37) % 100} : std::vector<Index>{};
  });
  this->check_square(sparse.view());
}

TYPED_TEST_P(Spgemm, GalerkinProductIsThatOfThreeMatrices) {
  using T = typename TestFixture::T;
  const auto A = test::grid_matrix<T>(9, 7, 5);
  const auto P = test::random_matrix<T>(9 * 7 * 5, 40, 2);
  const auto Pt = transpose<T>(this->host_, P.view());
  const auto left = this->placed(A.view());
  const auto right = this->placed(P.view());
  const HostCsrMatrix<T> C =
      this->fetched(galerkin_product<T>(this->on(), left.view(), right.view()));
  const HostCsrMatrix<T> AP = this->product(A.view(), P.view());
  EXPECT_EQ(fault_of_product<T>(this->host_, Pt.view(), AP.view(), C.view()), "");
}

TYPED_TEST_P(Spgemm, MisuseIsRefused) {
  using T = typename TestFixture::T;
  using Context = typename TestFixture::Context;
  const auto A = this->placed(test::random_matrix<T>(5, 4, 2).view());
  const auto B = this->placed(test::random_matrix<T>(4, 6, 2).view());
  try {
    spgemm<T>(this->on(), A.view(), A.view());
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_NE(std::string(error.what()).find("A is 5x4, B is 5x4"), std::string::npos);
  }
  const SpgemmPlan<T, Context> plan(this->on(), A.view(), B.view());
  auto C = plan.multiply(this->on(), A.view(), B.view());
  const auto fewer = this->placed(test::random_matrix<T>(5, 4, 1, 9).view());
  ASSERT_NE(fewer.nnz(), A.nnz());
  EXPECT_THROW(plan.multiply(this->on(), fewer.view(), B.view()), InvalidArgument);
  EXPECT_THROW(plan.update(this->on(), fewer.view(), B.view(), C), InvalidArgument);
  auto other = this->placed(test::random_matrix<T>(5, 6, 1).view());
  ASSERT_NE(other.nnz(), C.nnz());
  EXPECT_THROW(plan.update(this->on(), A.view(), B.view(), other), InvalidArgument);
}

REGISTER_TYPED_TEST_SUITE_P(Spgemm, GridsAndBands, Stencil, IrregularMatrices,
                            MatrixTimesItsTranspose, ADenseRowOrColumn, VeryLongRows, NoEntries,
                            GalerkinProductIsThatOfThreeMatrices, MisuseIsRefused);

}  // namespace
}  // namespace heddle
