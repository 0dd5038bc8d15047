#include <gtest/gtest.h>

#include <complex>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/data/multivector.hpp>
#include <heddle/linalg/sparse/accurate_residual.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace heddle {
namespace {

__extension__ using Int128 = __int128;

/// A whole number, or a complex one with whole parts, whose products are exact.
struct Whole {
  Int128 real = 0, imag = 0;

  friend Whole operator*(const Whole& a, const Whole& b) {
    return {a.real * b.real - a.imag * b.imag, a.real * b.imag + a.imag * b.real};
  }
  Whole& operator+=(const Whole& b) {
    real += b.real;
    imag += b.imag;
    return *this;
  }
};

template <class T>
T scalar_of(const Whole& a) {
  if constexpr (kComplex<T>) {
    return {static_cast<double>(a.real), static_cast<double>(a.imag)};
  } else {
    return static_cast<T>(a.real);
  }
}

/// Numbers of up to `bits` bits, so that products and sums of three of them need more than the 53
/// bits of a double and fewer than 127.
template <class T>
class Draw {
 public:
  explicit Draw(int bits) : most_((std::int64_t{1} << bits) - 1) {}

  Whole operator()() {
    std::uniform_int_distribution<std::int64_t> part(-most_, most_);
    return {part(random_), kComplex<T> ? part(random_) : 0};
  }

 private:
  std::int64_t most_;
  std::mt19937_64 random_{7};
};

template <class T>
class AccurateResidual : public testing::Test {
 protected:
  static constexpr Index kRows = 60, kColumns = 11;

  AccurateResidual() {
    std::uniform_int_distribution<Index> column(0, kRows - 1);
    for (std::vector<std::vector<Whole>>* M : {&A_, &B_}) {
      M->assign(kRows, std::vector<Whole>(kRows));
      for (Index i = 0; i < kRows; ++i) {
        for (int entry = 0; entry < 9; ++entry) {
          (*M)[static_cast<std::size_t>(i)][static_cast<std::size_t>(column(random_))] = draw_();
        }
      }
    }
    for (Index i = 0; i < kRows * kColumns; ++i) X_.push_back(draw_());
    for (Index c = 0; c < kColumns; ++c) theta_.push_back(static_cast<std::int64_t>(draw_().real));
  }

  HostCsrMatrix<T> csr(const std::vector<std::vector<Whole>>& M) {
    std::vector<Triplet<T>> entries;
    for (Index i = 0; i < kRows; ++i) {
      for (Index j = 0; j < kRows; ++j) {
        const Whole& a = M[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
        if (a.real != 0 || a.imag != 0) entries.push_back({i, j, scalar_of<T>(a)});
      }
    }
    return csr_from_triplets<T>(context_, kRows, kRows, entries);
  }

  /// Σ_j M(i, j) X(j, c).
  Whole product(const std::vector<std::vector<Whole>>& M, Index i, Index c) const {
    Whole sum;
    for (Index j = 0; j < kRows; ++j) {
      sum += M[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] * x(j, c);
    }
    return sum;
  }
  const Whole& x(Index i, Index c) const { return X_[static_cast<std::size_t>(i * kColumns + c)]; }

  /// Compares with exact arithmetic.
  void expect_exact(bool pencil, int threads) {
    HostContext context(threads);
    const HostCsrMatrix<T> A = csr(A_), B = csr(B_);
    const DistributedCsrView<T, HostSpace> of_B = B.view();
    MultiVector<T, HostSpace> X(context, kRows, kColumns), R(context, kRows, kColumns);
    for (Index i = 0; i < kRows; ++i) {
      for (Index c = 0; c < kColumns; ++c) X.view()(i, c) = scalar_of<T>(x(i, c));
    }
    const std::vector<double> theta(theta_.begin(), theta_.end());
    accurate_residual<T>(context, A.view(), pencil ? &of_B : nullptr, std::as_const(X).view(),
                         theta, R.view());
    const double rounding = std::numeric_limits<RealOf<T>>::epsilon();
    for (Index i = 0; i < kRows; ++i) {
      for (Index c = 0; c < kColumns; ++c) {
        const Whole of_theta{-static_cast<Int128>(theta_[static_cast<std::size_t>(c)])};
        Whole exact = product(A_, i, c);
        exact += of_theta * (pencil ? product(B_, i, c) : x(i, c));
        const auto expected = scalar_of<std::complex<double>>(exact);
        const auto got = std::complex<double>(R.view()(i, c));
        EXPECT_LE(std::abs(got.real() - expected.real()), rounding * std::abs(expected.real()));
        EXPECT_LE(std::abs(got.imag() - expected.imag()), rounding * std::abs(expected.imag()));
      }
    }
  }

  std::mt19937_64 random_{3};
  Draw<T> draw_{std::is_same_v<T, float> ? 20 : 36};
  HostContext context_;
  std::vector<std::vector<Whole>> A_, B_;
  std::vector<Whole> X_;
  std::vector<std::int64_t> theta_;
};

using Scalars = testing::Types<float, double, std::complex<double>>;
TYPED_TEST_SUITE(AccurateResidual, Scalars);

TYPED_TEST(AccurateResidual, IsThatOfExactArithmeticRoundedOnce) {
  for (const int threads : {1, 3}) {
    this->expect_exact(false, threads);
    this->expect_exact(true, threads);
  }
}

/// (2⁵² + 1)² − (2⁵² − 1)(2⁵² + 3) = 4 with products of 105 bits.
TEST(AccurateResidualOfCancellation, KeepsWhatIsLeft) {
  HostContext context;
  constexpr double kLarge = 4503599627370496.0;
  const std::vector<Triplet<double>> entries = {{0, 0, kLarge + 1}, {0, 1, kLarge - 1}};
  const auto A = csr_from_triplets<double>(context, 2, 2, entries);
  MultiVector<double, HostSpace> X(context, 2, 1), R(context, 2, 1);
  X.view()(0, 0) = kLarge + 1;
  X.view()(1, 0) = -(kLarge + 3);
  const std::vector<double> theta = {0};
  accurate_residual<double>(context, A.view(), nullptr, std::as_const(X).view(), theta, R.view());
  EXPECT_EQ(R.view()(0, 0), 4);
}

TEST(AccurateResidualOfShapes, ThatDoNotFitIsRefused) {
  HostContext context;
  const std::vector<Triplet<double>> entries = {{0, 0, 1}};
  const auto A = csr_from_triplets<double>(context, 2, 2, entries);
  MultiVector<double, HostSpace> X(context, 2, 1), R(context, 2, 2), Y(context, 3, 1);
  const std::vector<double> one(1), two(2);
  const auto residual = [&](auto& x, auto& r, const std::vector<double>& theta) {
    accurate_residual<double>(context, A.view(), nullptr, std::as_const(x).view(), theta, r.view());
  };
  EXPECT_THROW(residual(X, R, one), InvalidArgument);
  EXPECT_THROW(residual(Y, Y, one), InvalidArgument);
  EXPECT_THROW(residual(X, X, two), InvalidArgument);
}

}  // namespace
}  // namespace heddle
