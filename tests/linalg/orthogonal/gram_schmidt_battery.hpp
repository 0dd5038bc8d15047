#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <heddle/linalg/orthogonal/orthogonalize.hpp>
#include <initializer_list>
#include <limits>
#include <vector>

#include "linalg/orthogonal/orthogonalize_support.hpp"

/// The tests that `gram_schmidt` passes on every backend; `Backend` as in the battery of
/// `orthonormalize`.
namespace heddle {
namespace {

using test::ImagedBlock;
using test::RandomBlock;
using test::RandomSmall;
using test::tolerance;
using test::Tridiagonal;

const std::vector<const Tridiagonal*> kInnerProducts = {nullptr, &test::kMass};

/// Columns of a block and of the bases that it is made orthogonal to.
struct Widths {
  Index beside;     ///< of the basis directly before the block
  Index elsewhere;  ///< of the other
  Index block;
};

/// A block X and bases Q₁ and Q₂, orthonormal and orthogonal to each other, with their images.
template <class T>
struct GramSchmidtProblem {
  static constexpr Index kRows = 300;

  Widths widths;
  ImagedBlock<T> beside_and_X;  ///< [Q₁ X]
  ImagedBlock<T> elsewhere;     ///< Q₂

  Basis<T, HostSpace> Q1() { return part(beside_and_X, 0, widths.beside); }
  Basis<T, HostSpace> Q2() { return part(elsewhere, 0, widths.elsewhere); }
  BlockView<T, HostSpace> X() { return beside_and_X.X.view().columns(widths.beside, widths.block); }
  BlockView<T, HostSpace> BX() { return beside_and_X.BX().columns(widths.beside, widths.block); }

  static Basis<T, HostSpace> part(ImagedBlock<T>& block, Index first, Index cols) {
    return {block.X.view().columns(first, cols), block.BX().columns(first, cols)};
  }
};

/// Random X, Q₁ and Q₂; B = I if `B` is null.
template <class T>
GramSchmidtProblem<T> random_problem(const Widths& widths, const Tridiagonal* B) {
  const auto& [c1, c2, b] = widths;
  const Index n = GramSchmidtProblem<T>::kRows;
  HostContext host(1);
  auto Q = test::with_image(RandomBlock<T>(n, c1 + c2, c1 + c2, 1), B);
  Orthogonalizer<T, HostContext>(host, c1 + c2, 1).orthonormalize(host, Q.X.view(), Q.BX());
  RandomBlock<T> beside_and_X(n, c1 + b, c1 + b + 2, 2);
  RandomBlock<T> elsewhere(n, c2, c2 + 1, 3);
  copy<T>(host, Q.X.view().columns(0, c1), beside_and_X.view().columns(0, c1));
  copy<T>(host, Q.X.view().columns(c1, c2), elsewhere.view());
  return {widths, test::with_image(beside_and_X, B), test::with_image(elsewhere, B)};
}

template <class T>
bool same_bits(const std::vector<T>& x, const std::vector<T>& y) {
  return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof(T)) == 0;
}

/// XᵀBX = I, QᵀBX = 0, and [Q X] spans what it did, for `problem` with an image of its X.
template <class T>
void expect_orthonormalized(GramSchmidtProblem<T>& problem, GramSchmidtProblem<T>& before) {
  const auto X = problem.X();
  const auto BX = problem.BX();
  test::expect_orthonormal_columns<T>(X, BX);
  for (const auto& basis : {problem.Q1(), problem.Q2()}) {
    for (Index q = 0; q < basis.Q.cols(); ++q) {
      for (Index j = 0; j < X.cols(); ++j) {
        ASSERT_NEAR(static_cast<double>(test::dot<T>(basis.Q, q, BX, j)), 0,
                    tolerance<T>(1, static_cast<double>(X.rows())))
            << "columns " << q << " and " << j;
      }
    }
  }
  for (const Index j : {Index{0}, X.cols() / 2, X.cols() - 1}) {
    test::expect_in_span<T>(before.X(), j, {problem.Q1(), problem.Q2(), {X, BX}});
  }
}

/// Only X may differ from `before`.
template <class T>
void expect_bases_untouched(GramSchmidtProblem<T> problem, GramSchmidtProblem<T>& before) {
  HostContext host(1);
  copy<T>(host, before.X(), problem.X());
  EXPECT_TRUE(same_bits(problem.beside_and_X.X.data(), before.beside_and_X.X.data()));
  EXPECT_TRUE(same_bits(problem.elsewhere.X.data(), before.elsewhere.X.data()));
}

template <class Backend>
class GramSchmidt : public Backend::Fixture {
 protected:
  using T = typename Backend::Scalar;

  /// One round; its status.
  RandomSmall round(GramSchmidtProblem<T>& problem) {
    const auto& [c1, c2, b] = problem.widths;
    if (c1 + c2 == 0) return round(problem, {}, problem.BX());
    if (c2 == 0) return round(problem, {problem.Q1()}, problem.BX());
    return round(problem, {problem.Q1(), problem.Q2()}, problem.BX());
  }

  RandomSmall round(GramSchmidtProblem<T>& problem,
                    std::initializer_list<Basis<T, HostSpace>> bases, BlockView<T, HostSpace> BX) {
    auto&& context = this->on();
    const auto& [c1, c2, b] = problem.widths;
    Orthogonalizer<T, typename Backend::Context> orthogonalizer(context, b, c1 + c2);
    RandomSmall status(CholeskyQrStatus::rows, 1, 1);
    orthogonalizer.gram_schmidt(context, bases, problem.X(), BX, status.view());
    return status;
  }
};

TYPED_TEST_SUITE_P(GramSchmidt);

const std::vector<Widths> kWidths = {
    {0, 0, 1},   {5, 0, 1},   {40, 5, 1},  {0, 0, 3},   {0, 40, 3},  {5, 40, 3},  {0, 0, 20},
    {40, 0, 20}, {5, 40, 20}, {0, 0, 130}, {5, 0, 130}, {0, 5, 130}, {40, 5, 130}};

TYPED_TEST_P(GramSchmidt, TwoRoundsMakeABlockOrthonormal) {
  using T = typename TypeParam::Scalar;
  for (const Tridiagonal* B : kInnerProducts) {
    for (const auto& widths : kWidths) {
      SCOPED_TRACE(::testing::Message() << widths.block << " columns against " << widths.beside
                                        << " and " << widths.elsewhere);
      auto problem = random_problem<T>(widths, B);
      auto before = problem;
      for (int round = 0; round < 2; ++round) {
        const std::vector<T> image = problem.beside_and_X.image.data();
        this->round(problem);
        EXPECT_TRUE(same_bits(problem.beside_and_X.image.data(), image));
        expect_bases_untouched(problem, before);
        if (B != nullptr) test::refresh_image(problem.beside_and_X, *B);
      }
      expect_orthonormalized(problem, before);
    }
  }
}

TYPED_TEST_P(GramSchmidt, FromOneBlockToAnotherItHasTheSameBits) {
  using T = typename TypeParam::Scalar;
  for (const Tridiagonal* B : kInnerProducts) {
    for (const Index b : {1, 3, 20, 130}) {
      auto problem = random_problem<T>({0, 0, b}, B);
      auto before = problem;
      RandomBlock<T> Y(problem.X().rows(), b, b + 3, 5);
      RandomSmall status(CholeskyQrStatus::rows, 1, 6);
      Orthogonalizer<T, typename TypeParam::Context> orthogonalizer(this->on(), b, 1);
      orthogonalizer.cholesky_qr(this->on(), problem.X(), problem.BX(), Y.view(), status.view());
      EXPECT_TRUE(same_bits(problem.beside_and_X.X.data(), before.beside_and_X.X.data()));
      RandomSmall in_place = this->round(problem);
      EXPECT_EQ(status.data(), in_place.data());
      for (Index i = 0; i < Y.view().rows(); ++i) {
        for (Index j = 0; j < b; ++j) ASSERT_EQ(Y.view()(i, j), problem.X()(i, j));
      }
    }
  }
}

TYPED_TEST_P(GramSchmidt, PartsAlongABasisAreSubtracted) {
  using T = typename TypeParam::Scalar;
  for (const Tridiagonal* B : kInnerProducts) {
    auto problem = random_problem<T>({40, 0, 20}, B);
    auto before = problem;
    Orthogonalizer<T, typename TypeParam::Context> orthogonalizer(this->on(), 20, 40);
    orthogonalizer.subtract(this->on(), problem.Q1(), problem.X());
    expect_bases_untouched(problem, before);
    const double rounding = tolerance<T>(1, static_cast<double>(problem.X().rows()));
    for (Index j = 0; j < 20; ++j) {
      std::vector<double> parts(static_cast<std::size_t>(problem.X().rows()));  // Q (BQ)ᵀx_j
      for (Index q = 0; q < 40; ++q) {
        const auto c = static_cast<double>(test::dot<T>(problem.Q1().BQ, q, before.X(), j));
        for (Index i = 0; i < problem.X().rows(); ++i) {
          parts[static_cast<std::size_t>(i)] += c * static_cast<double>(problem.Q1().Q(i, q));
        }
      }
      for (Index i = 0; i < problem.X().rows(); ++i) {
        ASSERT_NEAR(static_cast<double>(problem.X()(i, j)),
                    static_cast<double>(before.X()(i, j)) - parts[static_cast<std::size_t>(i)],
                    20 * rounding);
      }
    }
  }
}

TYPED_TEST_P(GramSchmidt, TheOrderOfTheBasesDoesNotMatter) {
  using T = typename TypeParam::Scalar;
  auto problem = random_problem<T>({5, 40, 20}, &test::kMass);
  auto reversed = problem;
  this->round(problem, {problem.Q1(), problem.Q2()}, problem.BX());
  this->round(reversed, {reversed.Q2(), reversed.Q1()}, reversed.BX());
  EXPECT_TRUE(same_bits(problem.beside_and_X.X.data(), reversed.beside_and_X.X.data()));
}

TYPED_TEST_P(GramSchmidt, StatusSaysWhatIsNotInTheBases) {
  using T = typename TypeParam::Scalar;
  constexpr double kOutside[] = {1, 0.1, 1e-3};
  for (const Tridiagonal* B : kInnerProducts) {
    auto problem = random_problem<T>({5, 40, 3}, B);
    const auto X = problem.X();
    for (Index i = 0; i < X.rows(); ++i) {
      for (Index j = 0; j < 3; ++j) {
        X(i, j) = static_cast<T>(problem.Q1().Q(i, j) + problem.Q2().Q(i, 2 * j) +
                                 kOutside[j] * static_cast<double>(X(i, j)));
      }
    }
    if (B != nullptr) test::refresh_image(problem.beside_and_X, *B);
    long double remaining = 1;
    long double least = std::numeric_limits<double>::infinity();
    long double largest = 0;
    for (Index j = 0; j < 3; ++j) {
      const long double square = test::dot<T>(X, j, problem.BX(), j);
      long double outside = square;
      for (const auto& basis : {problem.Q1(), problem.Q2()}) {
        for (Index q = 0; q < basis.Q.cols(); ++q) {
          const long double share = test::dot<T>(basis.Q, q, problem.BX(), j);
          outside -= share * share;
        }
      }
      remaining = std::min(remaining, outside / square);
      least = std::min(least, outside);
      largest = std::max(largest, square);
    }
    ASSERT_LT(remaining, 1e-3);
    RandomSmall status = this->round(problem);
    EXPECT_NEAR(status.data()[CholeskyQrStatus::remaining], static_cast<double>(remaining),
                tolerance<double>(1, problem.kRows));
    EXPECT_NEAR(status.data()[CholeskyQrStatus::least_square], static_cast<double>(least),
                tolerance<double>(static_cast<double>(largest), problem.kRows));
  }
}

TYPED_TEST_P(GramSchmidt, OrthogonalColumnsOfAnyLengthAreOnlyScaled) {
  using T = typename TypeParam::Scalar;
  auto problem = random_problem<T>({0, 0, 5}, nullptr);
  const auto X = problem.X();
  for (Index i = 0; i < X.rows(); ++i) {
    for (Index j = 0; j < 5; ++j)
      X(i, j) = i == 3 * j ? std::ldexp(T{1}, 8 - 5 * static_cast<int>(j)) : T{0};
  }
  RandomSmall status = this->round(problem);
  EXPECT_EQ(status.data()[CholeskyQrStatus::diagonal_ratio], 1);
  EXPECT_EQ(status.data()[CholeskyQrStatus::growth], 1);
  EXPECT_EQ(status.data()[CholeskyQrStatus::remaining], 1);
  EXPECT_EQ(status.data()[CholeskyQrStatus::least_square], std::ldexp(1.0, -24));
  for (Index i = 0; i < X.rows(); ++i) {
    for (Index j = 0; j < 5; ++j) ASSERT_EQ(X(i, j), i == 3 * j ? 1 : 0);
  }
}

TYPED_TEST_P(GramSchmidt, StatusTellsADependentColumn) {
  using T = typename TypeParam::Scalar;
  for (const Index b : {3, 20, 130}) {
    auto problem = random_problem<T>({5, 0, b}, nullptr);
    const auto X = problem.X();
    for (Index i = 0; i < X.rows(); ++i) X(i, b - 1) = 2 * X(i, 0);
    RandomSmall status = this->round(problem);
    // The last pivot of the scaled Gram matrix is a difference of equal numbers.
    EXPECT_LE(status.data()[CholeskyQrStatus::diagonal_ratio],
              std::sqrt(tolerance<double>(1, static_cast<double>(b))));
  }
}

TYPED_TEST_P(GramSchmidt, StatusTellsAColumnInsideTheBases) {
  using T = typename TypeParam::Scalar;
  for (const Tridiagonal* B : kInnerProducts) {
    auto problem = random_problem<T>({5, 40, 3}, B);
    const auto X = problem.X();
    for (Index i = 0; i < X.rows(); ++i) {
      X(i, 1) = problem.Q1().Q(i, 2);
      X(i, 2) = problem.Q2().Q(i, 31);
    }
    if (B != nullptr) test::refresh_image(problem.beside_and_X, *B);
    RandomSmall status = this->round(problem);
    EXPECT_NEAR(status.data()[CholeskyQrStatus::remaining], 0, tolerance<T>(1, problem.kRows));
  }
}

TYPED_TEST_P(GramSchmidt, NanAndInfGiveNoCoefficients) {
  using T = typename TypeParam::Scalar;
  for (const Index b : {3, 130}) {
    for (const T bad : {std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::infinity()}) {
      for (const Index column : {Index{0}, Index{6}, 4 + b}) {  // of [Q₁ X]
        auto problem = random_problem<T>({5, 0, b}, nullptr);
        problem.beside_and_X.X.view()(123, column) = bad;
        RandomSmall status = this->round(problem);
        EXPECT_EQ(status.data()[CholeskyQrStatus::diagonal_ratio], 0);
        EXPECT_EQ(status.data()[CholeskyQrStatus::growth], std::numeric_limits<double>::infinity());
      }
    }
  }
}

/// A step of block Lanczos.
TYPED_TEST_P(GramSchmidt, AProductIsSubtractedAndTheRestMadeOrthonormal) {
  using T = typename TypeParam::Scalar;
  constexpr Index kRows = 300;
  auto&& context = this->on();
  for (const auto& [c, a, b] : {std::array<Index, 3>{0, 2, 3}, {7, 4, 4}, {24, 8, 4}, {9, 1, 1}}) {
    SCOPED_TRACE(::testing::Message() << c << " before " << b);
    RandomBlock<T> QY(kRows, c + b, c + b + 1, 1);
    RandomBlock<T> X(kRows, a, a, 2), W(kRows, b, b, 3);
    RandomSmall C(a, b, 4), status(CholeskyQrStatus::rows, 2, 5);
    Orthogonalizer<T, typename TypeParam::Context> orthogonalizer(context, std::max(b, c), c + 1);
    const auto Q = QY.view().columns(0, c);
    const auto Y = QY.view().columns(c, b);
    orthogonalizer.orthonormalize(context, Q, Q);
    const auto rest = [&](Index i, Index j) {  // W − X C
      double sum = static_cast<double>(W.view()(i, j));
      for (Index k = 0; k < X.view().cols(); ++k)
        sum -= static_cast<double>(X.view()(i, k)) * C.view()(k, j);
      return sum;
    };
    std::vector<std::vector<double>> before(static_cast<std::size_t>(b));
    for (Index j = 0; j < b; ++j) {
      for (Index i = 0; i < kRows; ++i) before[static_cast<std::size_t>(j)].push_back(rest(i, j));
    }
    orthogonalizer.subtract_and_orthonormalize(context, X.view(), C.view(), Q, W.view(), Y,
                                               status.view());
    const auto column = [&](Index k, Index i) { return static_cast<double>(QY.view()(i, k)); };
    for (Index k = 0; k < c + b; ++k) {
      for (Index l = 0; l <= k; ++l) {
        double dot = 0;
        for (Index i = 0; i < kRows; ++i) dot += column(k, i) * column(l, i);
        EXPECT_NEAR(dot, k == l ? 1 : 0, tolerance<T>(1, kRows, 64)) << k << " " << l;
      }
    }
    // What W − X C has outside of Q and Y is rounding, and W is Y.
    for (std::vector<double>& left : before) {
      double norm = 0;
      for (const double x : left) norm += x * x;
      for (Index k = 0; k < c + b; ++k) {
        double dot = 0;
        for (Index i = 0; i < kRows; ++i) dot += column(k, i) * left[static_cast<std::size_t>(i)];
        for (Index i = 0; i < kRows; ++i) left[static_cast<std::size_t>(i)] -= dot * column(k, i);
      }
      for (const double x : left) EXPECT_NEAR(x, 0, tolerance<T>(std::sqrt(norm), kRows, 64));
    }
    for (Index i = 0; i < kRows; ++i) {
      for (Index j = 0; j < b; ++j) ASSERT_EQ(W.view()(i, j), Y(i, j));
    }
  }
}

REGISTER_TYPED_TEST_SUITE_P(GramSchmidt, TwoRoundsMakeABlockOrthonormal,
                            AProductIsSubtractedAndTheRestMadeOrthonormal,
                            FromOneBlockToAnotherItHasTheSameBits, PartsAlongABasisAreSubtracted,
                            TheOrderOfTheBasesDoesNotMatter, StatusSaysWhatIsNotInTheBases,
                            OrthogonalColumnsOfAnyLengthAreOnlyScaled, StatusTellsADependentColumn,
                            StatusTellsAColumnInsideTheBases, NanAndInfGiveNoCoefficients);

}  // namespace
}  // namespace heddle
