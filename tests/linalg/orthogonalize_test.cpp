#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <functional>
#include <heddle/linalg/error.hpp>
#include <heddle/linalg/orthogonalize.hpp>
#include <limits>
#include <vector>

#include "support/allocations.hpp"
#include "support/random_block.hpp"
#include "support/tolerance.hpp"

namespace heddle {
namespace {

using test::RandomBlock;
using test::tolerance;

constexpr Index kRows = 600;

template <class T>
double eps() {
  return static_cast<double>(std::numeric_limits<T>::epsilon());
}

/// A symmetric tridiagonal B: diagonal d(i), `coupling` beside it.
struct Tridiagonal {
  std::function<double(Index)> diagonal;
  double coupling = 0;

  template <class T>
  T row(ConstBlockView<T, HostSpace> X, Index i, Index j) const {
    long double sum = static_cast<long double>(diagonal(i)) * X(i, j);
    if (i > 0) sum += static_cast<long double>(coupling) * X(i - 1, j);
    if (i + 1 < X.rows()) sum += static_cast<long double>(coupling) * X(i + 1, j);
    return static_cast<T>(sum);
  }
};

const Tridiagonal kMass{[](Index) { return 4.0 / 6; }, 1.0 / 6};
const Tridiagonal kGraded{
    [](Index i) { return std::pow(10.0, 8 * static_cast<double>(i) / (kRows - 1)); }};

template <class T>
class Orthogonalize : public ::testing::Test {
 protected:
  /// X and its image BX; B = I if `B` is null.
  struct Blocks {
    RandomBlock<T> X;
    RandomBlock<T> image;
    bool identity;

    BlockView<T, HostSpace> BX() { return identity ? X.view() : image.view(); }
  };

  static Blocks with_image(RandomBlock<T> X, const Tridiagonal* B) {
    Blocks blocks{X, X, B == nullptr};
    if (B != nullptr) refresh_image(blocks, *B);
    return blocks;
  }

  static void refresh_image(Blocks& blocks, const Tridiagonal& B) {
    const auto X = blocks.X.view();
    for (Index i = 0; i < X.rows(); ++i) {
      for (Index j = 0; j < X.cols(); ++j) blocks.image.view()(i, j) = B.row<T>(X, i, j);
    }
  }

  OrthoReport orthonormalize(Blocks& blocks) {
    return orthonormalize(blocks, blocks.X.view().cols());
  }

  /// The first `cols` columns only.
  OrthoReport orthonormalize(Blocks& blocks, Index cols) {
    Orthogonalizer<T, HostContext> orthogonalizer(context_, cols, 1);
    return orthogonalizer.orthonormalize(context_, blocks.X.view().columns(0, cols),
                                         blocks.BX().columns(0, cols));
  }

  /// max |XᵀBX − I| over the first `rank` columns, and everything beyond them zero.
  static void expect_orthonormal(Blocks& blocks, Index rank, double slack = 1) {
    const auto X = blocks.X.view();
    const auto BX = blocks.BX();
    for (Index a = 0; a < rank; ++a) {
      for (Index b = 0; b < rank; ++b) {
        long double sum = 0;
        for (Index i = 0; i < X.rows(); ++i) sum += static_cast<long double>(X(i, a)) * BX(i, b);
        ASSERT_NEAR(static_cast<double>(sum), a == b ? 1 : 0,
                    10 * static_cast<double>(std::max<Index>(rank, 1)) * eps<T>() * slack)
            << "columns " << a << " and " << b;
      }
    }
    for (Index i = 0; i < X.rows(); ++i) {
      for (Index j = rank; j < X.cols(); ++j) {
        ASSERT_EQ(X(i, j), 0);
        ASSERT_EQ(BX(i, j), 0);
      }
    }
  }

  /// Every column of `before`, scaled to norm 1, lies in the span of the first `rank` columns.
  static void expect_span(RandomBlock<T>& before, Blocks& blocks, Index rank, double slack = 1) {
    const auto X = blocks.X.view();
    const auto BX = blocks.BX();
    const Index n = X.rows();
    using Vector = Eigen::Matrix<long double, Eigen::Dynamic, 1>;
    for (Index j = 0; j < X.cols(); ++j) {
      Vector x(n);
      for (Index i = 0; i < n; ++i) x(i) = before.view()(i, j);
      const long double norm = x.stableNorm();
      if (norm == 0) continue;
      x /= norm;
      for (Index q = 0; q < rank; ++q) {
        Vector basis(n);
        Vector image(n);
        for (Index i = 0; i < n; ++i) {
          basis(i) = X(i, q);
          image(i) = BX(i, q);
        }
        x -= basis * image.dot(x);
      }
      ASSERT_LE(static_cast<double>(x.norm()),
                slack * tolerance<T>(static_cast<double>(X.cols()), static_cast<double>(n)))
          << "column " << j;
    }
  }

  /// n×m with singular values from 1 down to 1/condition, evenly in the logarithm.
  static RandomBlock<T> conditioned(Index n, Index m, double condition) {
    using Matrix = Eigen::MatrixXd;
    std::srand(7);
    const Matrix U =
        Eigen::HouseholderQR<Matrix>(Matrix::Random(n, m)).householderQ() * Matrix::Identity(n, m);
    const Matrix V = Eigen::HouseholderQR<Matrix>(Matrix::Random(m, m)).householderQ();
    Eigen::VectorXd sigma(m);
    for (Index j = 0; j < m; ++j) {
      sigma(j) = std::pow(condition, -static_cast<double>(j) / static_cast<double>(m - 1));
    }
    const Matrix A = U * sigma.asDiagonal() * V.transpose();
    RandomBlock<T> X(n, m, m + 2, 1);
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < m; ++j) X.view()(i, j) = static_cast<T>(A(i, j));
    }
    return X;
  }

  HostContext context_{2};
};

using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Orthogonalize, Scalars);

/// Largest condition number at which no column may be given up: what is left of one after taking
/// out the others must stand well above rounding.
template <class T>
bool must_keep_full_rank(double condition) {
  return condition * eps<T>() < 1e-3;
}

TYPED_TEST(Orthogonalize, EveryConditionNumber) {
  for (const Index m : {2, 12, 40}) {
    for (const double condition : {1.0, 3.0, 1e2, 1e4, 1e8, 1e12, 1e15}) {
      SCOPED_TRACE(::testing::Message() << m << " columns, condition " << condition);
      auto blocks = this->with_image(this->conditioned(kRows, m, condition), nullptr);
      RandomBlock<TypeParam> before = blocks.X;
      const OrthoReport report = this->orthonormalize(blocks);
      EXPECT_TRUE(report.finite);
      EXPECT_FALSE(report.indefinite);
      if (must_keep_full_rank<TypeParam>(condition)) {
        EXPECT_EQ(report.rank, m);
      }
      this->expect_orthonormal(blocks, report.rank);
      this->expect_span(before, blocks, report.rank);
    }
  }
}

TYPED_TEST(Orthogonalize, TheLadderIsClimbedAsFarAsNeeded) {
  constexpr bool kIsDouble = std::same_as<TypeParam, double>;
  const auto method = [&](double condition) {
    auto blocks = this->with_image(this->conditioned(kRows, 12, condition), nullptr);
    return this->orthonormalize(blocks).method;
  };
  EXPECT_EQ(method(1), OrthoMethod::cholqr);
  EXPECT_EQ(method(1e3), OrthoMethod::cholqr2);
  // In float, rounding of X drowns what a shift would bring up.
  EXPECT_EQ(method(1e9), kIsDouble ? OrthoMethod::shifted_cholqr3 : OrthoMethod::svqb);
  EXPECT_EQ(method(1e15), OrthoMethod::svqb);
}

TYPED_TEST(Orthogonalize, EveryConditionNumberInTheInnerProductOfB) {
  for (const Tridiagonal* B : {&kMass, &kGraded}) {
    for (const double condition : {1.0, 1e4, 1e8, 1e12, 1e15}) {
      SCOPED_TRACE(::testing::Message() << "condition " << condition);
      auto blocks = this->with_image(this->conditioned(kRows, 12, condition), B);
      RandomBlock<TypeParam> before = blocks.X;
      const OrthoReport report = this->orthonormalize(blocks);
      EXPECT_TRUE(report.finite);
      EXPECT_FALSE(report.indefinite);
      if (must_keep_full_rank<TypeParam>(condition)) {
        EXPECT_EQ(report.rank, 12);
      }
      // The image followed X through ill-conditioned coefficients: as in the solvers, once more
      // with a fresh one.
      this->refresh_image(blocks, *B);
      const OrthoReport again = this->orthonormalize(blocks, report.rank);
      EXPECT_EQ(again.rank, report.rank);
      EXPECT_LE(again.method, OrthoMethod::cholqr2);
      this->expect_orthonormal(blocks, report.rank);
      this->expect_span(before, blocks, report.rank);
    }
  }
}

TYPED_TEST(Orthogonalize, TheImageStaysTheImage) {
  auto blocks = this->with_image(this->conditioned(kRows, 8, 10), &kMass);
  this->orthonormalize(blocks);
  for (Index i = 0; i < kRows; ++i) {
    for (Index j = 0; j < 8; ++j) {
      ASSERT_NEAR(blocks.BX()(i, j), kMass.row<TypeParam>(blocks.X.view(), i, j),
                  tolerance<TypeParam>(1, 8));
    }
  }
}

TYPED_TEST(Orthogonalize, ExactRankLoss) {
  using T = TypeParam;
  // Columns 3 and 7 copy others, 5 is zero, 9 is a sum: 8 of 12 are independent.
  RandomBlock<T> X(kRows, 12, 12, 3);
  for (Index i = 0; i < kRows; ++i) {
    X.view()(i, 3) = X.view()(i, 0);
    X.view()(i, 5) = 0;
    X.view()(i, 7) = 4 * X.view()(i, 2);
    X.view()(i, 9) = X.view()(i, 1) + X.view()(i, 8);
  }
  for (const Tridiagonal* B : {static_cast<const Tridiagonal*>(nullptr), &kMass}) {
    auto blocks = this->with_image(X, B);
    const OrthoReport report = this->orthonormalize(blocks);
    EXPECT_EQ(report.rank, 8);
    if (B == nullptr) this->expect_orthonormal(blocks, 8);
    this->expect_span(X, blocks, 8, 4);
  }
}

TYPED_TEST(Orthogonalize, LowRankFactors) {
  using T = TypeParam;
  RandomBlock<T> Y(kRows, 5, 5, 1);
  test::RandomSmall C(5, 20, 2);
  RandomBlock<T> X(kRows, 20, 20, 3);
  multiply<T>(this->context_, 1, Y.view(), C.view(), 0, X.view());
  auto blocks = this->with_image(X, nullptr);
  const OrthoReport report = this->orthonormalize(blocks);
  EXPECT_EQ(report.rank, 5);
  this->expect_orthonormal(blocks, 5);
  this->expect_span(X, blocks, 5, 4);
}

TYPED_TEST(Orthogonalize, MoreColumnsThanRows) {
  auto blocks = this->with_image(RandomBlock<TypeParam>(7, 10, 10, 1), nullptr);
  const OrthoReport report = this->orthonormalize(blocks);
  EXPECT_EQ(report.rank, 7);
  this->expect_orthonormal(blocks, 7);
}

TYPED_TEST(Orthogonalize, ZeroBlocksAndEmptyOnes) {
  using T = TypeParam;
  for (const auto& [n, m] : std::vector<std::pair<Index, Index>>{{50, 6}, {50, 0}, {0, 6}}) {
    RandomBlock<T> X(n, m, m + 1, 1);
    set_zero<T>(this->context_, X.view());
    auto blocks = this->with_image(X, nullptr);
    const OrthoReport report = this->orthonormalize(blocks);
    EXPECT_EQ(report.rank, 0);
    EXPECT_TRUE(report.finite);
    this->expect_orthonormal(blocks, 0);
  }
}

TYPED_TEST(Orthogonalize, OneColumn) {
  for (const Tridiagonal* B : {static_cast<const Tridiagonal*>(nullptr), &kMass, &kGraded}) {
    auto blocks = this->with_image(RandomBlock<TypeParam>(kRows, 1, 1, 1), B);
    EXPECT_EQ(this->orthonormalize(blocks).rank, 1);
    this->expect_orthonormal(blocks, 1);
  }
}

TYPED_TEST(Orthogonalize, ColumnsAtTheEndsOfTheRange) {
  using T = TypeParam;
  const bool is_double = std::same_as<T, double>;
  for (const Tridiagonal* B : {static_cast<const Tridiagonal*>(nullptr), &kMass}) {
    for (const double spread : {1e12, is_double ? 1e150 : 1e18, is_double ? 1e300 : 1e36}) {
      SCOPED_TRACE(spread);
      RandomBlock<T> X = this->conditioned(kRows, 6, 10);
      for (Index i = 0; i < kRows; ++i) {
        X.view()(i, 1) = static_cast<T>(X.view()(i, 1) * spread);
        X.view()(i, 4) = static_cast<T>(X.view()(i, 4) / spread);
      }
      auto blocks = this->with_image(X, B);
      RandomBlock<T> before = blocks.X;
      EXPECT_EQ(this->orthonormalize(blocks).rank, 6);
      this->expect_orthonormal(blocks, 6);
      this->expect_span(before, blocks, 6);
    }
  }
}

TYPED_TEST(Orthogonalize, NanAndInfLeaveTheBlockAlone) {
  using T = TypeParam;
  for (const T bad : {std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::infinity()}) {
    for (const bool in_image : {false, true}) {
      auto blocks = this->with_image(RandomBlock<T>(kRows, 5, 5, 1), &kMass);
      (in_image ? blocks.BX() : blocks.X.view())(123, 2) = bad;
      auto before = blocks;
      const OrthoReport report = this->orthonormalize(blocks);
      EXPECT_FALSE(report.finite);
      EXPECT_EQ(report.rank, 0);
      for (Index i = 0; i < kRows; ++i) {
        for (Index j = 0; j < 5; ++j) {
          if (i == 123 && j == 2) continue;
          ASSERT_EQ(blocks.X.view()(i, j), before.X.view()(i, j));
          ASSERT_EQ(blocks.BX()(i, j), before.BX()(i, j));
        }
      }
    }
  }
}

TYPED_TEST(Orthogonalize, IndefiniteBIsReported) {
  const Tridiagonal negative{[](Index) { return -1.0; }};
  const Tridiagonal mixed{[](Index i) { return i % 2 == 0 ? 1.0 : -0.5; }};
  const Tridiagonal one_negative{[](Index i) { return i == 0 ? -1.0 : 1.0; }};
  for (const Index m : {1, 9}) {
    auto blocks = this->with_image(RandomBlock<TypeParam>(kRows, m, m, 1), &negative);
    const OrthoReport report = this->orthonormalize(blocks);
    EXPECT_TRUE(report.indefinite);
    EXPECT_TRUE(report.finite);
    EXPECT_EQ(report.rank, 0);
  }
  // Every column has xᵀBx > 0, but not every combination of them.
  RandomBlock<TypeParam> X(kRows, 9, 9, 1);
  for (Index j = 0; j < 9; ++j) X.view()(1, j) = 100;
  X.view()(1, 3) = -100;
  for (Index i = 0; i < kRows; i += 2) {
    for (Index j = 0; j < 9; ++j) X.view()(i, j) *= 10;
  }
  auto blocks = this->with_image(X, &mixed);
  const OrthoReport report = this->orthonormalize(blocks);
  EXPECT_TRUE(report.indefinite);
  // A block that never meets the one negative direction is none the wiser.
  RandomBlock<TypeParam> away(kRows, 4, 4, 1);
  for (Index j = 0; j < 4; ++j) away.view()(0, j) = 0;
  auto unaware = this->with_image(away, &one_negative);
  EXPECT_EQ(this->orthonormalize(unaware).rank, 4);
}

/// QᵀBX and the norms of X before and after a projection.
TYPED_TEST(Orthogonalize, ProjectionTwiceIsOrthogonalAndSaysSo) {
  using T = TypeParam;
  for (const Tridiagonal* B : {static_cast<const Tridiagonal*>(nullptr), &kMass}) {
    auto basis = this->with_image(RandomBlock<T>(kRows, 20, 21, 1), B);
    ASSERT_EQ(this->orthonormalize(basis).rank, 20);
    // Column 0 lies in the basis but for one part in a thousand, column 1 mostly outside.
    auto blocks = this->with_image(RandomBlock<T>(kRows, 2, 3, 2), B);
    for (Index i = 0; i < kRows; ++i) {
      blocks.X.view()(i, 0) =
          static_cast<T>(blocks.X.view()(i, 0) * 1e-3 * std::sqrt(3.0 / kRows)) +
          basis.X.view()(i, 4);
    }
    if (B != nullptr) this->refresh_image(blocks, *B);
    Orthogonalizer<T, HostContext> orthogonalizer(this->context_, 2, 20);
    const Basis<T, HostSpace> Q{basis.X.view(), basis.BX()};
    const auto norm = [&](Index j) {
      double sum = 0;
      for (Index i = 0; i < kRows; ++i) sum += std::pow(blocks.X.view()(i, j), 2);
      return std::sqrt(sum);
    };
    const double before = norm(0);
    const double first = orthogonalizer.project(this->context_, Q, blocks.X.view(), blocks.BX());
    EXPECT_LT(first, 0.01);
    EXPECT_NEAR(first, norm(0) / before, tolerance<T>(first, kRows));
    const double second = orthogonalizer.project(this->context_, Q, blocks.X.view(), blocks.BX());
    EXPECT_NEAR(second, 1, 1e-3);
    for (Index j = 0; j < 2; ++j) {
      for (Index q = 0; q < 20; ++q) {
        long double with_Q = 0;
        long double with_image = 0;
        for (Index i = 0; i < kRows; ++i) {
          with_Q += static_cast<long double>(basis.BX()(i, q)) * blocks.X.view()(i, j);
          with_image += static_cast<long double>(basis.X.view()(i, q)) * blocks.BX()(i, j);
        }
        EXPECT_NEAR(static_cast<double>(with_Q) / norm(j), 0, tolerance<T>(1, 20));
        // The image was projected along, from what it was before: its rounding stays.
        EXPECT_NEAR(static_cast<double>(with_image), 0, tolerance<T>(1, kRows));
      }
    }
  }
}

TYPED_TEST(Orthogonalize, ProjectionWithoutImageOrBasis) {
  using T = TypeParam;
  auto basis = this->with_image(RandomBlock<T>(kRows, 3, 3, 1), &kMass);
  this->orthonormalize(basis);
  auto with = this->with_image(RandomBlock<T>(kRows, 4, 4, 2), &kMass);
  auto without = with;
  Orthogonalizer<T, HostContext> orthogonalizer(this->context_, 4, 3);
  const Basis<T, HostSpace> Q{basis.X.view(), basis.BX()};
  const Basis<T, HostSpace> nothing{basis.X.view().columns(0, 0), basis.BX().columns(0, 0)};
  orthogonalizer.project(this->context_, Q, with.X.view(), with.BX());
  orthogonalizer.project(this->context_, Q, without.X.view(), {});
  EXPECT_EQ(with.X.data(), without.X.data());
  EXPECT_EQ(orthogonalizer.project(this->context_, nothing, with.X.view(), {}), 1);
  EXPECT_EQ(with.X.data(), without.X.data());
}

TYPED_TEST(Orthogonalize, ProjectionOfNanSaysNothing) {
  using T = TypeParam;
  auto basis = this->with_image(RandomBlock<T>(kRows, 3, 3, 1), nullptr);
  this->orthonormalize(basis);
  RandomBlock<T> X(kRows, 2, 2, 2);
  X.view()(5, 1) = std::numeric_limits<T>::quiet_NaN();
  Orthogonalizer<T, HostContext> orthogonalizer(this->context_, 2, 3);
  EXPECT_EQ(orthogonalizer.project(this->context_, {basis.X.view(), basis.BX()}, X.view(), {}), 0);
}

TYPED_TEST(Orthogonalize, SameBitsForEveryNumberOfThreads) {
  using T = TypeParam;
  const auto result = [&](int threads) {
    HostContext context(threads);
    RandomBlock<T> X = this->conditioned(30000, 10, 1e9);
    Orthogonalizer<T, HostContext> orthogonalizer(context, 10, 1);
    orthogonalizer.orthonormalize(context, X.view().columns(0, 9), X.view().columns(0, 9));
    orthogonalizer.project(context, {X.view().columns(0, 1), X.view().columns(0, 1)},
                           X.view().columns(9, 1), {});
    std::vector<T> values;
    for (Index i = 0; i < 30000; ++i) {
      for (Index j = 0; j < 10; ++j) values.push_back(X.view()(i, j));
    }
    return values;
  };
  const std::vector<T> one = result(1);
  EXPECT_EQ(one, result(2));
  EXPECT_EQ(one, result(3));
}

TYPED_TEST(Orthogonalize, NothingIsAllocatedAfterTheFirstCall) {
  using T = TypeParam;
  Orthogonalizer<T, HostContext> orthogonalizer(this->context_, 30, 10);
  auto basis = this->with_image(this->conditioned(kRows, 10, 1e3), &kMass);
  const auto run = [&](RandomBlock<T>& X, RandomBlock<T>& BX) {
    orthogonalizer.project(this->context_, {basis.X.view(), basis.BX()}, X.view(), BX.view());
    orthogonalizer.orthonormalize(this->context_, X.view(), BX.view());
  };
  auto blocks = this->with_image(this->conditioned(kRows, 30, 1e14), &kMass);
  auto again = blocks;
  run(blocks.X, blocks.image);
  const std::size_t context_before = this->context_.allocation_count().allocations;
  const std::size_t heap_before = test::heap_allocations();
  run(again.X, again.image);
  EXPECT_EQ(test::heap_allocations(), heap_before);
  EXPECT_EQ(this->context_.allocation_count().allocations, context_before);
}

TYPED_TEST(Orthogonalize, BlocksThatDoNotFitThrow) {
  using T = TypeParam;
  Orthogonalizer<T, HostContext> orthogonalizer(this->context_, 3, 2);
  RandomBlock<T> X(10, 4, 4, 1);
  RandomBlock<T> other(11, 3, 3, 1);
  const auto three = X.view().columns(0, 3);
  EXPECT_THROW(orthogonalizer.orthonormalize(this->context_, X.view(), X.view()), InvalidArgument);
  EXPECT_THROW(orthogonalizer.orthonormalize(this->context_, three, other.view()), InvalidArgument);
  EXPECT_THROW(orthogonalizer.orthonormalize(this->context_, three, X.view()), InvalidArgument);
  EXPECT_THROW(orthogonalizer.project(this->context_, {three, three}, three, {}), InvalidArgument);
  EXPECT_THROW(
      orthogonalizer.project(this->context_,
                             {other.view().columns(0, 2), other.view().columns(0, 2)}, three, {}),
      InvalidArgument);
}

TEST(OrthoCounts, AddUpTheRungsAndTheLostColumns) {
  OrthoCounts counts;
  counts.add({5, OrthoMethod::cholqr, false, true}, 5);
  counts.add({5, OrthoMethod::cholqr2, false, true}, 5);
  counts.add({3, OrthoMethod::shifted_cholqr3, false, true}, 5);
  counts.add({4, OrthoMethod::svqb, false, true}, 5);
  EXPECT_EQ(counts.cholqr, 1);
  EXPECT_EQ(counts.cholqr2, 1);
  EXPECT_EQ(counts.shifted, 1);
  EXPECT_EQ(counts.svqb, 1);
  EXPECT_EQ(counts.dropped, 3);
}

}  // namespace
}  // namespace heddle
