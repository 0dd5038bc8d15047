#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/data/buffer.hpp>
#include <heddle/spmm/kernels/kernel_table.hpp>
#include <heddle/spmm/spmm.hpp>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "support/matrices.hpp"
#include "support/numbers.hpp"
#include "support/random_block.hpp"
#include "support/tolerance.hpp"

/// The tests that products with an epilogue pass on every backend, by every kernel of its table. A
/// `Backend` has a `Scalar`, a `Context`, a `Fixture` whose `on()` is the context, and `write` and
/// `read`, which copy bytes into and out of the context's memory.
namespace heddle {
namespace {

using test::TestMatrix;

template <class T>
struct Coefficients {
  T alpha, beta, gamma, delta, eta;

  std::string text() const {
    std::string all;
    for (const T value : {alpha, beta, gamma, delta, eta}) all += " " + test::text_of(value);
    return "coefficients" + all;
  }
};

/// α, and pattern & 1, 2, 4, 8 for β, γ, δ, η different from 0.
template <class T>
Coefficients<T> coefficients_of(int pattern, T alpha) {
  const auto one_of = [&](int bit, double re, double im) {
    return (pattern & bit) != 0 ? test::number<T>(re, im) : T{0};
  };
  return {alpha, one_of(1, 1.3, 0.2), one_of(2, -0.6, 1.1), one_of(4, 0.9, -0.4),
          one_of(8, -1.7, 0.5)};
}

/// Columns in front of and behind the blocks in their memory. X and Y have `extra` more behind.
struct Margins {
  Index left;
  Index right;
  Index extra;
};

/// The blocks of a product on the host.
template <class T>
struct ProductBlocks {
  test::RandomBlock<T> B, C, X, Y;

  void take_magnitudes() {
    for (auto* block : {&B, &C, &X, &Y}) test::take_magnitudes(block->data());
  }
};

/// A product on the host and what the reference makes of it. Operands whose coefficient is 0 are
/// NaN. B is an operand of α and γ.
template <class T>
class EpilogueCase {
 public:
  EpilogueCase(const TestMatrix<T>& matrix, Index columns, Margins around,
               const Coefficients<T>& factors)
      : A(matrix),
        N(columns),
        margins(around),
        by(factors),
        before{{A.cols, ld(), ld(), 7},
               {A.rows, ld(), ld(), 8},
               {A.rows, wide_ld(), wide_ld(), 9},
               {A.rows, wide_ld(), wide_ld(), 10}},
        expected_(before),
        size_(before) {
    apply_reference(A, by, expected_);
    TestMatrix<T> magnitude = A;
    test::take_magnitudes(magnitude.values);
    size_.take_magnitudes();
    apply_reference(magnitude,
                    {std::abs(by.alpha), std::abs(by.beta), std::abs(by.gamma), std::abs(by.delta),
                     std::abs(by.eta)},
                    size_);
    clear_unless(by.alpha != T{0} || by.gamma != T{0}, before.B);
    clear_unless(by.beta != T{0}, before.C);
    clear_unless(by.delta != T{0}, before.X);
    clear_unless(by.eta != T{0}, before.Y);
  }

  /// Expects of the memory of C and Y after the product that each entry agrees with the reference,
  /// to rounding in its own sum, and that nothing beside C and Y has changed.
  void expect(const std::vector<T>& C, const std::vector<T>& Y, const std::string& what) {
    compare(C, before.C, expected_.C, size_.C, true, what + ", C");
    compare(Y, before.Y, expected_.Y, size_.Y, by.eta != T{0}, what + ", Y");
  }

  Index ld() const { return margins.left + N + margins.right; }
  Index wide_ld() const { return ld() + margins.extra; }

  const TestMatrix<T>& A;
  const Index N;
  const Margins margins;
  const Coefficients<T> by;
  ProductBlocks<T> before;

 private:
  static void clear_unless(bool read, test::RandomBlock<T>& block) {
    if (read) return;
    std::fill(block.data().begin(), block.data().end(), test::not_a_number<T>());
  }

  void apply_reference(const TestMatrix<T>& matrix, const Coefficients<T>& factors,
                       ProductBlocks<T>& blocks) const {
    const auto part = [&](test::RandomBlock<T>& block) {
      return block.view().columns(margins.left, N);
    };
    reference_spmm<T>(Wide<T>(factors.alpha), matrix.view(), part(blocks.B),
                      {.beta = factors.beta,
                       .gamma = factors.gamma,
                       .delta = factors.delta,
                       .X = part(blocks.X),
                       .eta = factors.eta,
                       .Y = part(blocks.Y)},
                      part(blocks.C));
  }

  void compare(const std::vector<T>& after, test::RandomBlock<T>& earlier,
               test::RandomBlock<T>& expected, test::RandomBlock<T>& size, bool written,
               const std::string& what) const {
    const Index cols = earlier.view().cols();
    for (Index i = 0; i < A.rows; ++i) {
      const auto row = static_cast<std::size_t>(i);
      const auto length = static_cast<double>(A.offsets[row + 1] - A.offsets[row]);
      for (Index j = 0; j < cols; ++j) {
        const auto at = static_cast<std::size_t>(i * cols + j);
        if (!written || j < margins.left || j >= margins.left + N) {
          ASSERT_EQ(std::memcmp(&after[at], &earlier.data()[at], sizeof(T)), 0)
              << what << " changed in row " << i << ", column " << j - margins.left;
        } else {
          ASSERT_LE(test::distance(after[at], expected.data()[at]),
                    test::tolerance<T>(std::abs(size.data()[at]), length + 4))
              << what << ", entry (" << i << ", " << j - margins.left << "), " << by.text();
        }
      }
    }
  }

  ProductBlocks<T> expected_;
  ProductBlocks<T> size_;
};

/// A matrix in the context's memory and a plan for it.
template <class Backend>
class EpilogueWork {
 public:
  using T = typename Backend::Scalar;
  using Ctx = typename Backend::Context;
  using Space = typename Ctx::Space;

  EpilogueWork(Ctx& context, const TestMatrix<T>& A, const std::string& kernel)
      : context_(context),
        offsets_(placed(A.offsets)),
        columns_(placed(A.columns)),
        values_(placed(A.values)),
        plan(context,
             {A.rows, A.cols, static_cast<Index>(columns_.size()), offsets_.data(), columns_.data(),
              values_.data()},
             {kernel}) {}

  struct Result {
    std::vector<T> C;
    std::vector<T> Y;

    bool same_bits(const Result& other) const { return same(C, other.C) && same(Y, other.Y); }
    static bool same(const std::vector<T>& a, const std::vector<T>& b) {
      return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
    }
  };

  /// All memory of C and Y after the product. Blocks whose coefficient is 0 are not passed if
  /// `omit`.
  Result multiply(EpilogueCase<T>& product, bool omit = false) {
    const Buffer<T, Space> B = placed(product.before.B.data());
    Buffer<T, Space> C = placed(product.before.C.data());
    const Buffer<T, Space> X = placed(product.before.X.data());
    Buffer<T, Space> Y = placed(product.before.Y.data());
    const Index N = product.N;
    const Index left = product.margins.left;
    const Index rows = product.A.rows;
    SpmmEpilogue<T, Space> epilogue{.beta = product.by.beta,
                                    .gamma = product.by.gamma,
                                    .delta = product.by.delta,
                                    .eta = product.by.eta};
    if (!omit || epilogue.delta != T{0}) {
      epilogue.X = {X.data() + left, rows, N, product.wide_ld()};
    }
    if (!omit || epilogue.eta != T{0}) {
      epilogue.Y = {Y.data() + left, rows, N, product.wide_ld()};
    }
    plan.multiply(context_, product.by.alpha, {B.data() + left, product.A.cols, N, product.ld()},
                  epilogue, {C.data() + left, rows, N, product.ld()});
    Result result{product.before.C.data(), product.before.Y.data()};
    Backend::read(context_, result.C.data(), C.data(), result.C.size() * sizeof(T));
    Backend::read(context_, result.Y.data(), Y.data(), result.Y.size() * sizeof(T));
    return result;
  }

 private:
  template <class U>
  Buffer<U, Space> placed(const std::vector<U>& values) {
    Buffer<U, Space> there(context_, values.size());
    Backend::write(context_, there.data(), values.data(), values.size() * sizeof(U));
    return there;
  }

  Ctx& context_;
  Buffer<std::int64_t, Space> offsets_;
  Buffer<std::int32_t, Space> columns_;
  Buffer<T, Space> values_;

 public:
  SpmmPlan<T, Ctx> plan;
};

inline const auto& table_of(const HostContext&) { return detail::host_kernel_table(); }
inline const auto& table_of(const CudaContext&) { return detail::cuda_kernel_table(); }

template <class Backend>
class SpmmWithEpilogue : public Backend::Fixture {
 protected:
  using T = typename Backend::Scalar;
  using Work = EpilogueWork<Backend>;

  /// Every kernel of the backend at some widths, in layouts that are aligned and not. Each bit of a
  /// pattern is a coefficient that is not 0, bit 4 an α of 0.
  void expect_products(const TestMatrix<T>& A, const std::vector<Index>& widths,
                       const std::vector<int>& patterns) {
    std::vector<std::unique_ptr<Work>> works;
    for (const std::string& name : kernels()) {
      works.push_back(std::make_unique<Work>(this->on(), A, name));
    }
    const auto width = static_cast<Index>(16 / sizeof(T));
    for (const Index N : widths) {
      const Index padding = (width - N % width) % width;
      const Margins layouts[] = {{0, padding, 0}, {width, padding, width}, {1, 2, 1}};
      for (const int pattern : patterns) {
        if ((pattern & 2) != 0 && A.rows != A.cols) continue;
        const T alpha = pattern < 16 ? test::number<T>(-0.7, 0.3) : T{0};
        EpilogueCase<T> product(A, N, layouts[pattern % 3],
                                coefficients_of<T>(pattern % 16, alpha));
        for (const auto& work : works) {
          const auto result = work->multiply(product, pattern % 2 == 0);
          product.expect(result.C, result.Y,
                         std::string(work->plan.kernel(N)) + ", N " + std::to_string(N));
          if (this->HasFatalFailure()) return;
        }
      }
    }
  }

  /// Those of the backend's kernels that multiply matrices of values of T.
  std::vector<std::string> kernels() {
    std::vector<std::string> names;
    for (const auto& row : table_of(this->on()).rows()) {
      if (row.template takes<T>()) names.emplace_back(row.traits.name);
    }
    return names;
  }

  static std::vector<int> all_patterns() {
    std::vector<int> patterns(32);
    std::iota(patterns.begin(), patterns.end(), 0);
    return patterns;
  }
};
TYPED_TEST_SUITE_P(SpmmWithEpilogue);

TYPED_TEST_P(SpmmWithEpilogue, RowsOfAllLengths) {
  using T = typename TypeParam::Scalar;
  this->expect_products(test::power_law_matrix<T>(150, 150, 140), {1, 2, 3, 5, 8, 16, 24, 33, 70},
                        this->all_patterns());
}

TYPED_TEST_P(SpmmWithEpilogue, EmptyRows) {
  using T = typename TypeParam::Scalar;
  this->expect_products(test::random_matrix<T>(90, 90, 1), {1, 4, 16, 33}, {0, 5, 10, 15, 23, 26});
  const auto none = [](Index) { return std::vector<Index>{}; };
  this->expect_products(test::matrix_with_pattern<T>(13, 13, none), {3, 8}, this->all_patterns());
}

TYPED_TEST_P(SpmmWithEpilogue, RowsWithEqualColumns) {
  using T = typename TypeParam::Scalar;
  this->expect_products(test::node_block_matrix<T>(13, 3), {1, 7, 16, 64}, {0, 3, 5, 9, 14, 15});
  this->expect_products(test::random_node_matrix<T>(63, 63, 4, 3), {3, 12, 30}, {0, 7, 10, 15});
}

TYPED_TEST_P(SpmmWithEpilogue, RowsOfManyParts) {
  using T = typename TypeParam::Scalar;
  const Index n = 17000;
  const auto A = test::matrix_with_pattern<T>(n, n, [&](Index i) {
    std::vector<Index> columns;
    const bool heavy = i == 1 || i == 16000;
    const Index step = heavy ? 1 : n / 2;
    for (Index j = heavy ? 0 : i % step; j < n; j += step) columns.push_back(j);
    return columns;
  });
  this->expect_products(A, {1, 8}, {0, 7, 8, 15});
}

TYPED_TEST_P(SpmmWithEpilogue, MatricesThatAreNotSquare) {
  using T = typename TypeParam::Scalar;
  this->expect_products(test::random_matrix<T>(61, 23, 6), {1, 8, 17}, this->all_patterns());
  this->expect_products(test::random_matrix<T>(23, 61, 20), {1, 8, 17}, this->all_patterns());
}

TYPED_TEST_P(SpmmWithEpilogue, SameBitsEveryTimeAndOfCWithoutY) {
  using T = typename TypeParam::Scalar;
  const TestMatrix<T> A = test::power_law_matrix<T>(3000, 3000, 2900);
  for (const std::string& name : this->kernels()) {
    EpilogueWork<TypeParam> work(this->on(), A, name);
    for (const Index N : {1, 8, 20}) {
      EpilogueCase<T> all(A, N, {0, 0, 0}, coefficients_of<T>(15, T{2}));
      const auto first = work.multiply(all);
      EXPECT_TRUE(work.multiply(all).same_bits(first)) << name << ", N " << N;
      EpilogueCase<T> without_Y(A, N, {0, 0, 0}, coefficients_of<T>(7, T{2}));
      EXPECT_TRUE(first.same(work.multiply(without_Y).C, first.C)) << name << ", N " << N;
    }
  }
}

TYPED_TEST_P(SpmmWithEpilogue, TheProfileCountsEachOperandOnce) {
  using T = typename TypeParam::Scalar;
  const TestMatrix<T> A = test::random_matrix<T>(50, 50, 5);
  EpilogueWork<TypeParam> work(this->on(), A, "auto");
  const double block = 50.0 * 6 * static_cast<double>(sizeof(T));
  const auto bytes = [&](const Coefficients<T>& by) {
    this->on().profile().reset();
    EpilogueCase<T> product(A, 6, {0, 0, 0}, by);
    work.multiply(product);
    return this->on().profile()[Phase::other].bytes;
  };
  const double plain = work.plan.compulsory_bytes(6);
  EXPECT_EQ(bytes({1, 0, 0, 0, 0}), plain);
  EXPECT_EQ(bytes({1, 1, 0, 0, 0}), plain + block);
  EXPECT_EQ(bytes({1, 0, 1, 0, 0}), plain);
  EXPECT_EQ(bytes({1, 0, 0, 1, 0}), plain + block);
  EXPECT_EQ(bytes({1, 0, 0, 0, 1}), plain + 2 * block);
  EXPECT_EQ(bytes({1, 1, 1, 1, 1}), plain + 4 * block);
  EXPECT_EQ(bytes({0, 1, 1, 1, 1}), 6 * block);
}

TYPED_TEST_P(SpmmWithEpilogue, RefusesTermsThatDoNotFit) {
  using T = typename TypeParam::Scalar;
  using Space = typename TypeParam::Context::Space;
  const auto message = [&](Index rows, const SpmmEpilogue<T, Space>& epilogue) -> std::string {
    EpilogueWork<TypeParam> work(this->on(), test::random_matrix<T>(rows, 6, 2), "auto");
    Buffer<T, Space> memory(this->on(), 64);
    try {
      work.plan.multiply(this->on(), T{1}, {memory.data(), 6, 3, 3}, epilogue,
                         {memory.data() + 32, rows, 3, 3});
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(message(4, {.gamma = T{1}}),
            "C = A B with rows of B added to those of C: A must be square, it is 4x6");
  EXPECT_EQ(message(6, {.delta = T{1}, .X = {nullptr, 6, 2, 2}}),
            "C = A B with X: X is 6x2, but C is 6x3");
  EXPECT_EQ(message(6, {.delta = T{1}}), "C = A B with X: X is 0x0, but C is 6x3");
  EXPECT_EQ(message(6, {.eta = T{1}, .Y = {nullptr, 5, 3, 3}}),
            "C = A B with Y: Y is 5x3, but C is 6x3");
  EXPECT_EQ(message(6, {.X = {nullptr, 5, 3, 3}, .Y = {nullptr, 5, 3, 3}}), "accepted");
}

REGISTER_TYPED_TEST_SUITE_P(SpmmWithEpilogue, RowsOfAllLengths, EmptyRows, RowsWithEqualColumns,
                            RowsOfManyParts, MatricesThatAreNotSquare,
                            SameBitsEveryTimeAndOfCWithoutY, TheProfileCountsEachOperandOnce,
                            RefusesTermsThatDoNotFit);

}  // namespace
}  // namespace heddle
