#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/data/buffer.hpp>
#include <heddle/spmm/spmm.hpp>
#include <string>
#include <vector>

#include "spmm/plan/product_case.hpp"
#include "support/matrices.hpp"

/// The tests that products with Aᴴ pass on every backend. A `Backend` has a `Scalar`, a `Context`,
/// a `Fixture` whose `on()` is the context, and `write` and `read`, which copy bytes into and out
/// of the context's memory.
namespace heddle {
namespace {

using test::Layout;
using test::ProductCase;
using test::TestMatrix;

/// Aᴴ, by its definition.
template <class T>
TestMatrix<T> explicit_adjoint(const TestMatrix<T>& A) {
  TestMatrix<T> At;
  At.rows = A.cols;
  At.cols = A.rows;
  for (Index column = 0; column < A.cols; ++column) {
    for (Index row = 0; row < A.rows; ++row) {
      for (auto k = static_cast<std::size_t>(A.offsets[static_cast<std::size_t>(row)]);
           k < static_cast<std::size_t>(A.offsets[static_cast<std::size_t>(row) + 1]); ++k) {
        if (A.columns[k] != column) continue;
        At.columns.push_back(static_cast<std::int32_t>(row));
        At.values.push_back(conjugate(A.values[k]));
      }
    }
    At.offsets.push_back(static_cast<std::int64_t>(At.columns.size()));
  }
  return At;
}

/// Plans of both ways for a matrix in the context's memory, and their products.
template <class Backend>
class TransposedWork {
 public:
  using T = typename Backend::Scalar;
  using Ctx = typename Backend::Context;
  using Space = typename Ctx::Space;
  using Plan = SpmmPlan<T, Ctx>;

  TransposedWork(Ctx& context, const TestMatrix<T>& A)
      : context_(context),
        rows_(A.rows),
        cols_(A.cols),
        offsets_(placed(A.offsets)),
        columns_(placed(A.columns)),
        values_(placed(A.values)),
        indexed(context, view(), {.transpose = SpmmTranspose::indexed}),
        stored(context, view(), {.transpose = SpmmTranspose::stored}) {}

  /// Overwrites the values of A in place.
  void change_values(const std::vector<T>& values) {
    Backend::write(context_, values_.data(), values.data(), values.size() * sizeof(T));
  }

  /// All memory of C after the product.
  std::vector<T> multiply(ProductCase<T>& product, const Plan& plan) {
    const Buffer<T, Space> B = placed(product.B());
    Buffer<T, Space> C = placed(product.C());
    plan.multiply_transposed(context_, product.alpha(), product.B_in(B), product.beta(),
                             product.C_in(C));
    std::vector<T> result(product.C().size());
    Backend::read(context_, result.data(), C.data(), result.size() * sizeof(T));
    return result;
  }

  void expect(ProductCase<T>& product, const std::string& what) {
    product.expect(multiply(product, indexed), what + ", indexed");
    product.expect(multiply(product, stored), what + ", stored");
  }

 private:
  template <class U>
  Buffer<U, Space> placed(const std::vector<U>& values) {
    Buffer<U, Space> there(context_, values.size());
    Backend::write(context_, there.data(), values.data(), values.size() * sizeof(U));
    return there;
  }

  CsrView<T, Space> view() const {
    return {rows_,           cols_,           static_cast<Index>(columns_.size()),
            offsets_.data(), columns_.data(), values_.data()};
  }

  Ctx& context_;
  Index rows_;
  Index cols_;
  Buffer<std::int64_t, Space> offsets_;
  Buffer<std::int32_t, Space> columns_;
  Buffer<T, Space> values_;

 public:
  Plan indexed;
  Plan stored;
};

template <class Backend>
class SpmmTransposed : public Backend::Fixture {
 protected:
  using T = typename Backend::Scalar;

  /// Widths with kernels of their own, layouts that are aligned, padded and neither, and the
  /// scalings that take different paths.
  void expect_products(const TestMatrix<T>& A) {
    const TestMatrix<T> At = explicit_adjoint(A);
    TransposedWork<Backend> work(this->on(), A);
    const auto expect = [&](Index N, Layout layout, T alpha, T beta) {
      ProductCase<T> product(At, N, layout, alpha, beta);
      work.expect(product, std::to_string(A.rows) + "x" + std::to_string(A.cols) + ", N " +
                               std::to_string(N) + ", left " + std::to_string(layout.left) +
                               ", alpha " + test::text_of(alpha) + ", beta " + test::text_of(beta));
    };
    for (const Index N : {1, 3, 8, 20, 64}) {
      expect(N, {0, 0}, T{1}, T{0});
      expect(N, {4, 4}, test::number<T>(-0.7, 0.6), test::number<T>(1.3, -0.4));
      expect(N, {3, 2}, T{2}, T{1});
      if (this->HasFatalFailure()) return;
    }
  }
};
TYPED_TEST_SUITE_P(SpmmTransposed);

TYPED_TEST_P(SpmmTransposed, Random) {
  this->expect_products(test::random_matrix<typename TypeParam::Scalar>(120, 120, 9));
}

TYPED_TEST_P(SpmmTransposed, Wide) {
  this->expect_products(test::random_matrix<typename TypeParam::Scalar>(23, 211, 20));
}

TYPED_TEST_P(SpmmTransposed, Tall) {
  this->expect_products(test::random_matrix<typename TypeParam::Scalar>(900, 23, 6));
}

TYPED_TEST_P(SpmmTransposed, EmptyRowsAndColumns) {
  using T = typename TypeParam::Scalar;
  this->expect_products(test::random_matrix<T>(90, 110, 1));
  this->expect_products(test::matrix_with_pattern<T>(60, 300, [](Index i) {
    return i % 20 == 3 ? std::vector<Index>{0, 150 + i, 298} : std::vector<Index>{};
  }));
}

TYPED_TEST_P(SpmmTransposed, NoEntriesAtAll) {
  this->expect_products(test::matrix_with_pattern<typename TypeParam::Scalar>(
      17, 11, [](Index) { return std::vector<Index>{}; }));
}

TYPED_TEST_P(SpmmTransposed, NoRowsOrNoColumns) {
  using T = typename TypeParam::Scalar;
  const auto nothing = [](Index) { return std::vector<Index>{}; };
  this->expect_products(test::matrix_with_pattern<T>(0, 5, nothing));
  this->expect_products(test::matrix_with_pattern<T>(5, 0, nothing));
}

TYPED_TEST_P(SpmmTransposed, PowerLaw) {
  using T = typename TypeParam::Scalar;
  const TestMatrix<T> A = test::power_law_matrix<T>(150, 150, 140);
  this->expect_products(A);
  this->expect_products(explicit_adjoint(A));
}

TYPED_TEST_P(SpmmTransposed, ColumnsWithEqualRows) {
  this->expect_products(test::node_block_matrix<typename TypeParam::Scalar>(9, 3));
}

TYPED_TEST_P(SpmmTransposed, HeavyColumn) {
  using T = typename TypeParam::Scalar;
  this->expect_products(test::matrix_with_pattern<T>(10000, 4, [](Index i) {
    return i % 100 == 0 ? std::vector<Index>{1, 2} : std::vector<Index>{2};
  }));
}

TYPED_TEST_P(SpmmTransposed, SameBitsEveryTime) {
  using T = typename TypeParam::Scalar;
  const TestMatrix<T> A = test::power_law_matrix<T>(500, 400, 390);
  const TestMatrix<T> At = explicit_adjoint(A);
  TransposedWork<TypeParam> work(this->on(), A);
  for (const Index N : {1, 7, 32}) {
    ProductCase<T> product(At, N, {0, 0}, T{1}, T{0});
    EXPECT_EQ(work.multiply(product, work.indexed), work.multiply(product, work.indexed));
    EXPECT_EQ(work.multiply(product, work.stored), work.multiply(product, work.stored));
  }
}

TYPED_TEST_P(SpmmTransposed, AllocatesInTheFirstProductOnly) {
  using T = typename TypeParam::Scalar;
  const TestMatrix<T> A = test::power_law_matrix<T>(300, 200, 190);
  const TestMatrix<T> At = explicit_adjoint(A);
  ProductCase<T> product(At, 16, {0, 0}, T{1}, T{0});
  TransposedWork<TypeParam> work(this->on(), A);
  const auto allocations = [&](const auto& plan) {
    const auto before = this->on().allocation_count().allocations;
    work.multiply(product, plan);
    return this->on().allocation_count().allocations - before;
  };
  for (const auto* plan : {&work.indexed, &work.stored}) {
    const auto first = allocations(*plan);
    const auto operands_alone = allocations(*plan);
    EXPECT_GT(first, operands_alone);
    EXPECT_EQ(operands_alone, 2);
    EXPECT_EQ(allocations(*plan), 2);
  }
}

TYPED_TEST_P(SpmmTransposed, IndexedFollowsTheValuesOfA) {
  using T = typename TypeParam::Scalar;
  const TestMatrix<T> A = test::random_matrix<T>(40, 50, 5);
  TestMatrix<T> changed = A;
  std::reverse(changed.values.begin(), changed.values.end());
  const TestMatrix<T> At = explicit_adjoint(A);
  const TestMatrix<T> changed_t = explicit_adjoint(changed);
  ProductCase<T> product(At, 8, {0, 0}, T{1}, T{0});
  ProductCase<T> product_changed(changed_t, 8, {0, 0}, T{1}, T{0});
  TransposedWork<TypeParam> work(this->on(), A);
  work.expect(product, "before the change");
  work.change_values(changed.values);
  product_changed.expect(work.multiply(product_changed, work.indexed), "indexed");
  product.expect(work.multiply(product, work.stored), "stored");
}

TYPED_TEST_P(SpmmTransposed, ZeroAlphaReadsNeitherMatrixNorBlock) {
  using T = typename TypeParam::Scalar;
  TestMatrix<T> A = test::random_matrix<T>(20, 30, 4);
  const TestMatrix<T> At = explicit_adjoint(A);
  std::fill(A.values.begin(), A.values.end(), test::not_a_number<T>());
  ProductCase<T> scaled(At, 9, {1, 0}, T{0}, T{2});
  ProductCase<T> cleared(At, 9, {0, 0}, T{0}, T{0});
  TransposedWork<TypeParam> work(this->on(), A);
  work.expect(scaled, "scaled");
  work.expect(cleared, "cleared");
}

TYPED_TEST_P(SpmmTransposed, RefusesShapesThatDoNotFit) {
  using T = typename TypeParam::Scalar;
  using Space = typename TypeParam::Context::Space;
  TransposedWork<TypeParam> work(this->on(), test::random_matrix<T>(4, 6, 2));
  const auto message = [&](Index b_rows, Index b_cols, Index c_rows, Index c_cols) {
    Buffer<T, Space> B(this->on(), 64);
    Buffer<T, Space> C(this->on(), 64);
    try {
      work.indexed.multiply_transposed(this->on(), T{1},
                                       ConstBlockView<T, Space>(B.data(), b_rows, b_cols, b_cols),
                                       T{0}, BlockView<T, Space>(C.data(), c_rows, c_cols, c_cols));
    } catch (const InvalidArgument& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_EQ(message(6, 3, 4, 3), "C = AᵀB does not fit: A is 4x6, B is 6x3, C is 4x3");
  EXPECT_EQ(message(4, 3, 4, 3), "C = AᵀB does not fit: A is 4x6, B is 4x3, C is 4x3");
  EXPECT_EQ(message(4, 3, 6, 2), "C = AᵀB does not fit: A is 4x6, B is 4x3, C is 6x2");
}

REGISTER_TYPED_TEST_SUITE_P(SpmmTransposed, Random, Wide, Tall, EmptyRowsAndColumns, NoEntriesAtAll,
                            NoRowsOrNoColumns, PowerLaw, ColumnsWithEqualRows, HeavyColumn,
                            SameBitsEveryTime, AllocatesInTheFirstProductOnly,
                            IndexedFollowsTheValuesOfA, ZeroAlphaReadsNeitherMatrixNorBlock,
                            RefusesShapesThatDoNotFit);

}  // namespace
}  // namespace heddle
