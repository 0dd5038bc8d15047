#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <drivers/chain.hpp>
#include <heddle/drivers/problem/problem.hpp>
#include <heddle/drivers/solve/factorized.hpp>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/blocks/complex_ops.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <limits>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "support/dense.hpp"

/// One factorisation for many solves, against dense solves and spectra.
namespace heddle {
namespace {

using test::Chain;
using test::to_dense;
using Dense = Eigen::MatrixXd;

/// A symmetric matrix of a fixed pattern with random values, which `diagonal` shifts.
HostCsrMatrix<double> random_matrix(HostContext& context, Index n, unsigned seed, double diagonal) {
  std::mt19937 random(seed);
  const auto number = [&] { return 2.0 * static_cast<double>(random()) / 4294967295.0 - 1; };
  std::vector<Triplet<double>> entries;
  for (Index i = 0; i < n; ++i) {
    entries.push_back({i, i, diagonal + number()});
    for (const Index j : {i + 1, i + 7, (5 * i + 3) % n}) {
      if (j >= n || j == i) continue;
      const double value = number();
      entries.push_back({i, j, value});
      entries.push_back({j, i, value});
    }
  }
  return csr_from_triplets<double>(context, n, n, entries);
}

/// max |A x − b|_i/(|A||x| + |b|)_i in units of ε: that entries of A and b change by so much.
double backward_error(const Dense& A, const Dense& X, const Dense& R) {
  const Dense sizes = A.cwiseAbs() * X.cwiseAbs() + R.cwiseAbs();
  return (A * X - R).cwiseAbs().cwiseQuotient(sizes).maxCoeff() /
         std::numeric_limits<double>::epsilon();
}

/// A Hermitian matrix with the pattern of `random_matrix`.
Eigen::MatrixXcd random_hermitian(HostContext& context, Index n, unsigned seed, double diagonal) {
  const Dense re = to_dense(random_matrix(context, n, seed, diagonal).view());
  const Dense im = to_dense(random_matrix(context, n, seed + 100, 0).view());
  Eigen::MatrixXcd A = re.cast<std::complex<double>>();
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < i; ++j) {
      A(i, j) = {re(i, j), im(i, j)};
      A(j, i) = std::conj(A(i, j));
    }
  }
  return A;
}

ComplexMatrix stored(HostContext& context, const Eigen::MatrixXcd& A) {
  std::vector<Triplet<std::complex<double>>> entries;
  for (Index i = 0; i < A.rows(); ++i) {
    for (Index j = 0; j < A.cols(); ++j) {
      if (A(i, j) != 0.0) entries.push_back({i, j, A(i, j)});
    }
  }
  return ComplexMatrix(
      csr_from_triplets<std::complex<double>>(context, A.rows(), A.cols(), entries));
}

class FactorizedTest : public testing::Test {
 protected:
  /// F⁻¹R, whose backward error is checked for A.
  void expect_solves(Factorized& F, const Dense& A, Index columns = 3) {
    std::srand(3);
    const Dense R = Dense::Random(A.rows(), columns);
    const auto block = test::to_block<double>(context_, R);
    MultiVector<double, HostSpace> X(context_, A.rows(), columns);
    F.solve(block.view(), X.view());
    EXPECT_LE(backward_error(A, to_dense<double>(std::as_const(X).view()), R), 20);
  }

  static void expect_inertia(const Factorized& F, const Dense& A) {
    const auto inertia = F.inertia();
    ASSERT_TRUE(inertia);
    const Eigen::VectorXd values = test::eigenvalues(A);
    EXPECT_EQ(inertia->negative, (values.array() < 0).count());
    EXPECT_EQ(inertia->zero, 0);
    EXPECT_EQ(inertia->positive, (values.array() > 0).count());
  }

  template <class Act>
  static std::string refusal(const Act& act) {
    try {
      act();
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return {};
  }

  HostContext context_;
};

TEST_F(FactorizedTest, SolvesWithDefiniteAndIndefiniteMatrices) {
  for (const double diagonal : {0.0, 8.0, -8.0}) {
    const auto A = random_matrix(context_, 200, 1, diagonal);
    Factorized F{Matrix(A.view())};
    ASSERT_TRUE(F.factor()) << F.trouble();
    EXPECT_EQ(F.order(), 200);
    EXPECT_FALSE(F.library().empty());
    for (const Index columns : {1, 3, 70}) expect_solves(F, to_dense(A.view()), columns);
    expect_inertia(F, to_dense(A.view()));
  }
}

TEST_F(FactorizedTest, FactorsShiftedPencils) {
  const auto A = random_matrix(context_, 150, 2, 0);
  const auto B = random_matrix(context_, 150, 3, 8);
  Factorized F{Matrix(A.view()), Matrix(B.view())};
  for (const double sigma : {0.0, 0.3, -0.2}) {
    ASSERT_TRUE(F.factor(sigma)) << F.trouble();
    EXPECT_EQ(F.sigma(), sigma);
    const Dense shifted = to_dense(A.view()) - sigma * to_dense(B.view());
    expect_solves(F, shifted);
    expect_inertia(F, shifted);
  }
}

TEST_F(FactorizedTest, TakesOtherValuesInThePattern) {
  const auto first = random_matrix(context_, 150, 4, 8);
  const auto second = random_matrix(context_, 150, 5, 0);
  Factorized F{Matrix(first.view())};
  ASSERT_TRUE(F.factor());
  F.set_values(Matrix(second.view()));
  EXPECT_FALSE(F.inertia());
  ASSERT_TRUE(F.factor()) << F.trouble();
  expect_solves(F, to_dense(second.view()));
  expect_inertia(F, to_dense(second.view()));
  // Entries that are not there are 0.
  const Matrix diagonal = test::diagonal(std::vector<double>(150, -2));
  F.set_values(diagonal);
  ASSERT_TRUE(F.factor());
  expect_solves(F, -2 * Dense::Identity(150, 150));
  EXPECT_EQ(F.inertia()->negative, 150);
}

/// Rows of very different sizes, saddle points, and values near the ends of the range of numbers.
TEST_F(FactorizedTest, HardMatrices) {
  const auto A = random_matrix(context_, 120, 6, 0);
  std::vector<Triplet<double>> graded, saddle;
  const auto view = A.view();
  for (Index i = 0; i < 120; ++i) {
    for (std::int64_t k = view.row_offsets[i]; k < view.row_offsets[i + 1]; ++k) {
      const Index j = view.columns[k];
      const double scale = std::exp2(static_cast<double>(i % 40 + j % 40));
      graded.push_back({i, j, scale * view.values[k]});
      if (i < 100 && j < 100) saddle.push_back({i, j, view.values[k] + (i == j ? 8 : 0)});
    }
  }
  for (Index k = 0; k < 20; ++k) {  // x_5k = x_5k+1
    for (const Index i : {5 * k, 5 * k + 1}) {
      saddle.push_back({100 + k, i, i == 5 * k ? 1.0 : -1.0});
      saddle.push_back({i, 100 + k, i == 5 * k ? 1.0 : -1.0});
    }
  }
  const auto of_saddle = csr_from_triplets<double>(context_, 120, 120, saddle);
  const auto of_grades = csr_from_triplets<double>(context_, 120, 120, graded);
  for (const auto* each : {&of_saddle, &of_grades}) {
    Factorized F{Matrix(each->view())};
    if (!F.factor()) {
      // Without pivots of two rows.
      EXPECT_EQ(F.library(), "Eigen") << F.trouble();
      continue;
    }
    expect_solves(F, to_dense(each->view()));
  }
}

/// A chain of 10⁵ rows has a condition of 4·10⁹.
TEST_F(FactorizedTest, IllConditionedMatricesAreNoSingularOnes) {
  const Matrix A = Matrix::generate({.name = "laplace1d", .size = {100000}});
  Factorized F(A);
  ASSERT_TRUE(F.factor());
  // (A x)_i = 1 for x_i = (i + 1)(n − i)/2.
  MultiVector<double, HostSpace> ones(context_, 100000, 1), X(context_, 100000, 1);
  for (Index i = 0; i < 100000; ++i) ones.view()(i, 0) = 1;
  F.solve(ones.view(), X.view());
  for (const Index i : {0, 1, 49999, 99999}) {
    const double exact = 0.5 * static_cast<double>((i + 1) * (100000 - i));
    EXPECT_NEAR(X.view()(i, 0) / exact, 1, 1e-6);
  }
}

TEST_F(FactorizedTest, SingularMatricesHaveNoFactor) {
  const Chain<std::int64_t> chain(60);
  Factorized F(chain.matrix());
  ASSERT_TRUE(F.factor(1e-3));
  EXPECT_FALSE(F.factor(test::chain_eigenvalue(60, 7)));
  EXPECT_EQ(F.trouble().rfind("the matrix is singular to rounding", 0), 0u);
  EXPECT_FALSE(F.inertia());
  MultiVector<double, HostSpace> X(context_, 60, 1);
  EXPECT_EQ(refusal([&] { F.solve(X.view(), X.view()); }),
            "Factorized: there is no factor to solve with");
  ASSERT_TRUE(F.factor(3.1));
  F.set_values(test::diagonal(std::vector<double>(60)));
  EXPECT_FALSE(F.factor());
}

/// Where the smallest eigenvalue has no certain sign, solves are possible all the same.
TEST_F(FactorizedTest, AnInertiaThatIsNotCertainIsNotGiven) {
  std::vector<Triplet<double>> entries;
  const Index n = 20;
  constexpr double kGap = 3e-14;
  for (Index i = 0; i < n; i += 2) {
    for (const Index row : {i, i + 1}) {
      entries.push_back({row, row, 1 + kGap});
      entries.push_back({row, 2 * i + 1 - row, 1});
    }
  }
  const auto A = csr_from_triplets<double>(context_, n, n, entries);
  Factorized F{Matrix(A.view())};
  ASSERT_TRUE(F.factor()) << F.trouble();
  EXPECT_FALSE(F.inertia());
  expect_solves(F, to_dense(A.view()));
}

TEST_F(FactorizedTest, ThreadsShareAFactor) {
  const auto A = random_matrix(context_, 200, 7, 0);
  Factorized F{Matrix(A.view())};
  ASSERT_TRUE(F.factor());
  const Dense R = Dense::Random(200, 2);
  const auto block = test::to_block<double>(context_, R);
  MultiVector<double, HostSpace> expected(context_, 200, 2);
  F.solve(block.view(), expected.view());
  std::vector<MultiVector<double, HostSpace>> results;
  for (int t = 0; t < 4; ++t) results.emplace_back(context_, 200, 2);
  {
    std::vector<std::jthread> threads;
    for (auto& result : results) {
      threads.emplace_back([&] {
        for (int k = 0; k < 20; ++k) F.solve(block.view(), result.view());
      });
    }
  }
  for (const auto& result : results) {
    EXPECT_EQ(to_dense<double>(result.view()), to_dense<double>(std::as_const(expected).view()));
  }
}

TEST_F(FactorizedTest, WhatIsRefused) {
  const Chain<std::int64_t> chain(10);
  const auto other = random_matrix(context_, 12, 8, 8);
  EXPECT_EQ(refusal([&] { Factorized(chain.matrix(), Matrix(other.view())); }),
            "B: the matrix has order 12, A had 10");
  EXPECT_EQ(refusal([&] { Factorized(Matrix(10, 10, [](auto, auto) {})); }),
            "A: a callable cannot be factored");
  EXPECT_EQ(refusal([&] {
              Factorized(Matrix::generate({"random_uniform", {20}, 3}));
            }).substr(0, 31),
            "A: the matrix is not symmetric:");
  Factorized F(chain.matrix());
  EXPECT_EQ(refusal([&] { F.set_values(Matrix(other.view())); }),
            "A: the matrix has order 12, A had 10");
  EXPECT_EQ(
      refusal([&] { F.set_values(Matrix(random_matrix(context_, 10, 9, 8).view())); }),
      "A: the matrix has entries outside of the pattern that was analysed: factorise it anew");
  EXPECT_EQ(refusal([&] { F.factor(std::nan("")); }), "sigma is nan, it must be a number");
  ASSERT_TRUE(F.factor());
  MultiVector<double, HostSpace> R(context_, 10, 2), X(context_, 10, 1);
  EXPECT_EQ(refusal([&] { F.solve(R.view(), X.view()); }),
            "Factorized: R is 10x2, X 10x1, the order is 10");
}

TEST_F(FactorizedTest, OfHermitianMatrices) {
  using Complex = std::complex<double>;
  const Index n = 70;
  const Eigen::MatrixXcd A = random_hermitian(context_, n, 5, 0);
  const Eigen::MatrixXcd B = random_hermitian(context_, n, 6, 9);
  MultiVector<Complex, HostSpace> R(context_, n, 3), X(context_, n, 3);
  fill_random<Complex>(context_, 3, 0, R.view());
  const Eigen::MatrixXcd right = to_dense<Complex>(std::as_const(R).view());
  for (const bool pencil : {false, true}) {
    const Eigen::MatrixXcd mass = pencil ? B : Eigen::MatrixXcd::Identity(n, n);
    Factorized F(stored(context_, A), pencil ? stored(context_, B) : ComplexMatrix());
    EXPECT_TRUE(F.complex());
    for (const double sigma : {0.0, 0.37}) {
      ASSERT_TRUE(F.factor(sigma)) << F.trouble();
      const Eigen::MatrixXcd shifted = A - sigma * mass;
      const Dense form = test::real_form(shifted);
      F.solve(R.view(), X.view());
      const Eigen::MatrixXcd x = to_dense<Complex>(std::as_const(X).view());
      EXPECT_LE((shifted * x - right).norm(), 1e-12 * right.norm());
      const auto below = (test::eigenvalues(form).array() < 0).count() / 2;
      ASSERT_TRUE(F.inertia());
      EXPECT_EQ(F.inertia()->negative, below);
      EXPECT_EQ(F.inertia()->positive, n - below);
    }
    F.set_values(stored(context_, 2.0 * A));
    ASSERT_TRUE(F.factor());
    F.solve(R.view(), X.view());
    const Eigen::MatrixXcd x = to_dense<Complex>(std::as_const(X).view());
    EXPECT_LE((2.0 * A * x - right).norm(), 1e-12 * right.norm());
  }
}

TEST_F(FactorizedTest, RealMatricesTakeComplexBlocks) {
  using Complex = std::complex<double>;
  const HostCsrMatrix<double> A = random_matrix(context_, 60, 4, 1);
  const Dense whole = to_dense(A.view());
  Factorized F(Matrix(random_matrix(context_, 60, 4, 1)));
  ASSERT_TRUE(F.factor());
  MultiVector<Complex, HostSpace> R(context_, 60, 2), X(context_, 60, 2);
  fill_random<Complex>(context_, 3, 0, R.view());
  F.solve(R.view(), X.view());
  const Eigen::MatrixXcd right = to_dense<Complex>(std::as_const(R).view());
  EXPECT_LE((whole * to_dense<Complex>(std::as_const(X).view()) - right).norm(),
            1e-11 * right.norm());
}

TEST_F(FactorizedTest, ScalarsThatDoNotFitAreRefused) {
  const Eigen::MatrixXcd A = random_hermitian(context_, 20, 5, 9);
  Factorized of_complex(stored(context_, A));
  Factorized of_real(Matrix(random_matrix(context_, 20, 5, 9)));
  EXPECT_THROW(of_real.set_values(stored(context_, A)), ProblemError);
  EXPECT_THROW(of_complex.set_values(Matrix(random_matrix(context_, 20, 5, 9))), ProblemError);
  ASSERT_TRUE(of_complex.factor());
  MultiVector<double, HostSpace> R(context_, 20, 1);
  EXPECT_THROW(of_complex.solve(R.view(), R.view()), InvalidArgument);
  Eigen::MatrixXcd skew = A;
  skew(3, 10) += 1.0;
  EXPECT_THROW(Factorized(stored(context_, skew)), ProblemError);
}

}  // namespace
}  // namespace heddle
