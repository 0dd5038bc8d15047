#include <gtest/gtest.h>

#include <Eigen/Core>
#include <heddle/solvers/iteration/eigen_verifier.hpp>
#include <limits>
#include <string>
#include <vector>

#include "solvers/eigen_test_support.hpp"
#include "support/decompositions.hpp"
#include "support/dense.hpp"

namespace heddle {
namespace detail {}
using namespace detail;
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using test::to_dense;
using test::tolerance;

constexpr Index kPairs = 7;

/// The pencil of a small elastic body and what the verifier finds of n×k blocks V.
template <class T>
class EigenVerifierTest : public testing::Test {
 protected:
  EigenVerifierTest()
      : V(context_, n(), kPairs),
        problem{.A = &stiffness_, .B = &mass_},
        verifier_(context_, n(), n(), true) {
    fill_random<T>(context_, 5, 0, V.view());
  }

  Index n() const { return stiffness_.rows(); }
  MatrixXd A() const { return to_dense(stiffness_.matrix()); }
  MatrixXd B() const {
    return problem.B == nullptr ? MatrixXd::Identity(n(), n()) : to_dense(mass_.matrix());
  }
  MatrixXd dense_V() { return to_dense<T>(V.view()); }

  /// A Rayleigh–Ritz step over V by slabs of that width.
  DenseFailure rayleigh_ritz(Which which = Which::smallest, Index slab = 3) {
    make_scratch(slab);
    return verifier_.rayleigh_ritz(context_, problem, which, V.view(), AV_.view(), BV_.view());
  }

  void measure(Index slab = 3) {
    make_scratch(slab);
    verifier_.norms().prepare(context_, problem);
    verifier_.measure(context_, problem, V.view(), AV_.view(), BV_.view());
  }

  bool report(double tolerance, EigenResult<T, HostSpace>& result) {
    const EigenConvergence limits = convergence(Criterion::norm, tolerance);
    const Verdict verdict = verifier_.judge(limits, {});
    verifier_.report(limits, result);
    return verdict.confirmed();
  }

  EigenConvergence convergence(Criterion criterion, double tolerance) const {
    const double epsilon = static_cast<double>(std::numeric_limits<T>::epsilon());
    return {criterion, tolerance, norm1(A()), norm1(B()), epsilon};
  }

  /// V ← I.
  void take_whole_space() {
    V = {context_, n(), n()};
    set_identity<T>(context_, V.view());
  }

  static double norm1(const MatrixXd& M) { return M.cwiseAbs().colwise().sum().maxCoeff(); }

  HostContext context_{2};
  SparseOperator<T, HostContext> stiffness_ =
      test::make_operator<T>(context_, {"elasticity3d", {3, 2, 2}});
  SparseOperator<T, HostContext> mass_ =
      test::make_operator<T>(context_, {"elasticity3d_mass", {3, 2, 2}});
  MultiVector<T, HostSpace> V;
  EigenProblem<T, HostContext> problem;
  EigenVerifier<T, HostContext> verifier_;

 private:
  void make_scratch(Index slab) {
    AV_ = {context_, n(), slab};
    if (problem.B != nullptr) BV_ = {context_, n(), slab};
  }

  MultiVector<T, HostSpace> AV_, BV_;
};

using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(EigenVerifierTest, Scalars);

/// The Ritz values of a pencil over the columns of V, ascending.
VectorXd ritz_values(const MatrixXd& A, const MatrixXd& B, const MatrixXd& V) {
  return test::eigenvalues(V.transpose() * A * V, V.transpose() * B * V);
}

TYPED_TEST(EigenVerifierTest, GivesTheRitzPairsOfTheSpan) {
  using T = TypeParam;
  for (const bool pencil : {true, false}) {
    this->problem.B = pencil ? &this->mass_ : nullptr;
    const MatrixXd A = this->A(), B = this->B();
    const double n = static_cast<double>(this->n());
    for (const Index slab : {1, 3, 7, 9}) {  // of one column, uneven, all at once, wider than V
      SCOPED_TRACE("slabs of " + std::to_string(slab) + (pencil ? ", B given" : ", B = I"));
      fill_random<T>(this->context_, 5, 0, this->V.view());
      const MatrixXd before = this->dense_V();
      VectorXd expected = ritz_values(A, B, before);
      const bool largest = slab == 3;
      if (largest) expected.reverseInPlace();
      ASSERT_EQ(this->rayleigh_ritz(largest ? Which::largest : Which::smallest, slab),
                DenseFailure::none);
      const MatrixXd V = this->dense_V();
      const double scale = expected.cwiseAbs().maxCoeff();
      ASSERT_EQ(this->verifier_.values().size(), static_cast<std::size_t>(kPairs));
      for (Index j = 0; j < kPairs; ++j) {
        EXPECT_NEAR(this->verifier_.values()[static_cast<std::size_t>(j)], expected(j),
                    tolerance<T>(scale, n, 64));
      }
      const MatrixXd gram = V.transpose() * B * V;
      EXPECT_LE((gram - MatrixXd::Identity(kPairs, kPairs)).cwiseAbs().maxCoeff(),
                tolerance<T>(1, n, 64));
      const MatrixXd projected = V.transpose() * A * V;
      EXPECT_LE((projected - MatrixXd(expected.asDiagonal())).cwiseAbs().maxCoeff(),
                tolerance<T>(scale, n, 64));
      const MatrixXd outside = V - before * test::least_squares_solution(before, V).solution;
      EXPECT_LE(outside.norm(), tolerance<T>(V.norm(), n, 64)) << "the span has changed";
      EXPECT_NEAR(this->verifier_.projected_norm_A(), this->norm1(before.transpose() * A * before),
                  tolerance<T>(this->norm1(before.transpose() * A * before), n));
      EXPECT_NEAR(this->verifier_.projected_norm_B(), this->norm1(before.transpose() * B * before),
                  tolerance<T>(this->norm1(before.transpose() * B * before), n));
    }
  }
}

TYPED_TEST(EigenVerifierTest, MeasuresResidualsAndOrthogonality) {
  using T = TypeParam;
  for (const bool pencil : {true, false}) {
    this->problem.B = pencil ? &this->mass_ : nullptr;
    const MatrixXd A = this->A(), B = this->B();
    fill_random<T>(this->context_, 5, 0, this->V.view());
    ASSERT_EQ(this->rayleigh_ritz(), DenseFailure::none);
    for (Index i = 0; i < this->n(); ++i) {  // spoils the second pair and its orthogonality
      this->V.view()(i, 1) *= 2;
      this->V.view()(i, 1) += this->V.view()(i, 4);
    }
    const MatrixXd V = this->dense_V();
    const MatrixXd G = V.transpose() * B * V - MatrixXd::Identity(kPairs, kPairs);
    for (const Index slab : {1, 3, 7, 9}) {
      this->measure(slab);
      for (Index j = 0; j < kPairs; ++j) {
        const double value = this->verifier_.values()[static_cast<std::size_t>(j)];
        const double expected = (A * V.col(j) - value * B * V.col(j)).norm() / V.col(j).norm();
        const double size = A.norm() + std::abs(value) * B.norm();
        EXPECT_NEAR(this->verifier_.residuals()[static_cast<std::size_t>(j)], expected,
                    tolerance<T>(size, 1))
            << j;
      }
      EXPECT_NEAR(this->verifier_.orthogonality(), G.cwiseAbs().maxCoeff(), tolerance<T>(5, 81));
    }
  }
}

TYPED_TEST(EigenVerifierTest, AllOfTheSpaceHasTheEigenvaluesOfThePencil) {
  using T = TypeParam;
  const Index n = this->n();
  this->take_whole_space();
  ASSERT_EQ(this->rayleigh_ritz(), DenseFailure::none);
  this->measure();
  const VectorXd expected = ritz_values(this->A(), this->B(), MatrixXd::Identity(n, n));
  const double scale = expected.cwiseAbs().maxCoeff();
  EigenResult<T, HostSpace> result;
  EXPECT_TRUE(this->report(tolerance<T>(1, static_cast<double>(n)), result));
  ASSERT_EQ(result.eigenvalues.size(), static_cast<std::size_t>(n));
  for (std::size_t j = 0; j < result.eigenvalues.size(); ++j) {
    EXPECT_NEAR(result.eigenvalues[j], expected(static_cast<Index>(j)),
                tolerance<T>(scale, static_cast<double>(n)));
    EXPECT_DOUBLE_EQ(
        result.residuals[j],
        this->verifier_.residuals()[j] /
            (this->norm1(this->A()) + std::abs(result.eigenvalues[j]) * this->norm1(this->B())));
  }
  EXPECT_EQ(result.orthogonality, this->verifier_.orthogonality());
  EXPECT_FALSE(this->report(0, result)) << "no residual is zero";
}

/// Exact for a complete space, and the vectors of a random space are far from it.
TYPED_TEST(EigenVerifierTest, BoundsTheErrorsOfTheValues) {
  using T = TypeParam;
  const double epsilon = static_cast<double>(std::numeric_limits<T>::epsilon());
  for (const bool pencil : {true, false}) {
    this->problem.B = pencil ? &this->mass_ : nullptr;
    const MatrixXd A = this->A(), B = this->B();
    const VectorXd exact = ritz_values(A, B, MatrixXd::Identity(this->n(), this->n()));
    const test::DenseEigenpairs pairs = test::eigenpairs(A, B);
    for (const double spread : {0.0, 1e-3}) {
      fill_random<T>(this->context_, 5, 0, this->V.view());
      for (Index i = 0; i < this->n(); ++i) {
        for (Index j = 0; j < kPairs; ++j) {
          T& entry = this->V.view()(i, j);
          entry = static_cast<T>(pairs.vectors(i, j) + spread * static_cast<double>(entry));
        }
      }
      ASSERT_EQ(this->rayleigh_ritz(), DenseFailure::none);
      this->measure();
      const EigenConvergence convergence = this->convergence(Criterion::eigenvalue, 1e-8);
      const std::vector<double> next(exact.data() + kPairs, exact.data() + this->n());
      const std::vector<double> zeros(next.size());
      EigenResult<T, HostSpace> result;
      const Neighbours others{.values = next,
                              .residuals = zeros,
                              .below = ErrorBounds::kNoneBeyond,
                              .above = ErrorBounds::kNoneBeyond};
      const Verdict verdict = this->verifier_.judge(convergence, others);
      this->verifier_.report(convergence, result);
      EXPECT_EQ(verdict.values, spread == 0);
      for (std::size_t j = 0; j < kPairs; ++j) {
        const double error = std::abs(result.eigenvalues[j] - exact(static_cast<Index>(j)));
        EXPECT_LE(error, result.error_bounds[j]) << j << ", spread " << spread;
        EXPECT_LE(result.error_bounds[j], 2000 * error + 1e5 * epsilon * this->norm1(A)) << j;
      }
    }
  }
}

/// A neighbour that is better than a verified value has its place.
TYPED_TEST(EigenVerifierTest, AValueWithoutItsPlaceIsBoundedByTheDistance) {
  using T = TypeParam;
  ASSERT_EQ(this->rayleigh_ritz(), DenseFailure::none);
  this->measure();
  const double norm = this->norm1(this->A());
  const EigenConvergence convergence(Criterion::norm, 10, norm, 1,
                                     static_cast<double>(std::numeric_limits<T>::epsilon()));
  const std::vector<double> zeros{0, 0};
  const std::vector<double> values(this->verifier_.values().begin(),
                                   this->verifier_.values().end());
  const double distance = 3 * norm;
  const auto errors = [&](Which end, const std::vector<double>& others) {
    this->verifier_.judge(convergence, {.values = others, .residuals = zeros, .end = end});
    return this->verifier_.errors();
  };
  const std::vector<double> better{values.front() - distance, values.back() + distance};
  const std::vector<double> worse(2, values.back() + distance);
  const std::vector<double> in_place = errors(Which::smallest, worse);
  const std::vector<double> smallest = errors(Which::smallest, better);
  EXPECT_NEAR(smallest[0] - in_place[0], distance, 1e-6 * distance);
  EXPECT_NEAR(smallest[1] - in_place[1], values[1] - values[0], 1e-6 * distance);
  EXPECT_GE(errors(Which::largest, better)[0], distance);
}

/// A value of which little is known may have any place that its interval reaches. This is part of
/// the bounds of the values there, but no reason to refuse them.
TYPED_TEST(EigenVerifierTest, AWideIntervalLeavesOtherPlacesOpen) {
  this->take_whole_space();
  for (const Which end : {Which::smallest, Which::largest}) {
    ASSERT_EQ(this->rayleigh_ritz(end), DenseFailure::none);
    this->measure();
    const EigenConvergence convergence = this->convergence(Criterion::eigenvalue, 1e-3);
    const std::vector<double> values(this->verifier_.values().begin(),
                                     this->verifier_.values().end());
    const auto last = static_cast<std::size_t>(this->n() - 1);
    std::vector<double> least(values.size());
    const Neighbours others{.below = ErrorBounds::kNoneBeyond,
                            .above = ErrorBounds::kNoneBeyond,
                            .end = end,
                            .least_bounds = least,
                            .dense = true};
    this->verifier_.judge(convergence, others);
    const std::vector<double> before = this->verifier_.errors();
    std::vector<bool> passed = this->verifier_.passed();
    least[last / 2] = std::abs(values[last - 3] - values[last / 2]) + before[last - 3];
    this->verifier_.judge(convergence, others);
    EXPECT_EQ(this->verifier_.errors()[last], before[last]) << "which it does not reach";
    for (std::size_t j = last / 2 + 1; j < last - 3; ++j) {
      const double distance = std::abs(values[j + 1] - values[j]);
      EXPECT_GE(this->verifier_.errors()[j], std::max(distance, before[j])) << j;
      if (distance < 2e-3 * std::abs(values[j])) continue;
      EXPECT_TRUE(this->verifier_.limited()[j]) << j;
    }
    passed[last / 2] = this->verifier_.passed()[last / 2];
    EXPECT_EQ(this->verifier_.passed(), passed);
  }
}

/// The parts of residuals of further vectors along the verified ones.
TYPED_TEST(EigenVerifierTest, MeasuresCouplingsToFurtherVectors) {
  using T = TypeParam;
  MultiVector<T, HostSpace> U(this->context_, this->n(), 3);
  fill_random<T>(this->context_, 6, 0, U.view());
  for (const bool pencil : {true, false}) {
    this->problem.B = pencil ? &this->mass_ : nullptr;
    ASSERT_EQ(this->rayleigh_ritz(), DenseFailure::none);
    const MatrixXd V = this->dense_V(), there = to_dense<T>(U.view());
    const MatrixXd VAU = V.transpose() * this->A() * there;
    const MatrixXd VBU = V.transpose() * this->B() * there;
    MultiVector<T, HostSpace> AU(this->context_, this->n(), 2), BU(this->context_, this->n(), 2);
    const std::span<const double> found = this->verifier_.couplings(
        this->context_, this->problem, this->V.view(), U.view(), AU.view(), BU.view());
    ASSERT_EQ(found.size(), static_cast<std::size_t>(3 * kPairs));
    for (Index i = 0; i < 3; ++i) {
      for (Index j = 0; j < kPairs; ++j) {
        const double value = this->verifier_.values()[static_cast<std::size_t>(j)];
        EXPECT_NEAR(found[static_cast<std::size_t>(i * kPairs + j)], VAU(j, i) - value * VBU(j, i),
                    tolerance<T>(VAU.norm(), static_cast<double>(this->n())));
      }
    }
  }
}

/// At the level of rounding, only a vector beyond the wanted ones shows which eigenvalue is found.
/// The norm of A exceeds the rows of these vectors, as stiff parts make it.
TYPED_TEST(EigenVerifierTest, AloneAtRoundingAValueIsKnownToTheNoiseFloor) {
  using T = TypeParam;
  this->take_whole_space();
  ASSERT_EQ(this->rayleigh_ritz(), DenseFailure::none);
  this->measure();
  const double norm_A = 1e6 * this->norm1(this->A());
  const double norm_B = this->norm1(this->B());
  const double epsilon = static_cast<double>(std::numeric_limits<T>::epsilon());
  const EigenConvergence strict(Criterion::eigenvalue, 1e-8, norm_A, norm_B, epsilon);
  const std::vector<double> beyond{this->verifier_.values().back() + norm_A};
  const std::vector<double> zero{0};
  const auto bounds = [&](const EigenConvergence& convergence, Neighbours neighbours) {
    neighbours.end = Which::smallest;
    this->verifier_.judge(convergence, neighbours);
    return this->verifier_.errors();
  };
  const std::vector<double> before = bounds(strict, {});
  const std::vector<double> alone = bounds(strict.at_rounding(), {});
  const std::vector<double> beside =
      bounds(strict.at_rounding(), {.values = beyond, .residuals = zero});
  for (std::size_t j = 0; j < before.size(); ++j) {
    const double lambda = std::abs(this->verifier_.values()[j]);
    const double noise = 100 * epsilon * (norm_A / norm_B + lambda);
    EXPECT_LT(before[j], noise);
    EXPECT_LT(beside[j], noise);
    EXPECT_NEAR(alone[j], noise, 1e-9 * noise);
  }
}

TYPED_TEST(EigenVerifierTest, ReducesResidualsWhereRoundingIsAskedFor) {
  this->problem.B = nullptr;
  const MatrixXd A = this->A();
  // Eigenvectors with errors that spread over the spectrum, as rounding leaves them.
  const MatrixXd exact = test::eigenpairs(A).vectors;
  const BlockView<TypeParam, HostSpace> start = this->V.view();
  for (Index i = 0; i < this->n(); ++i) {
    for (Index j = 0; j < kPairs; ++j) {
      start(i, j) = static_cast<TypeParam>(exact(i, j)) + start(i, j) / 10000;
    }
  }
  ASSERT_EQ(this->rayleigh_ritz(), DenseFailure::none);
  this->measure();
  const MatrixXd V = this->dense_V();
  const auto list = [](std::span<const double> numbers) {
    return std::vector<double>(numbers.begin(), numbers.end());
  };
  const std::vector<double> values = list(this->verifier_.values());
  const std::vector<double> before = list(this->verifier_.residuals());
  MultiVector<TypeParam, HostSpace> scratch(this->context_, this->n(), 5);
  const double epsilon = static_cast<double>(std::numeric_limits<TypeParam>::epsilon());
  const auto reduce = [&](double tolerance) {
    this->verifier_.reduce_residuals(this->context_, this->problem,
                                     this->convergence(Criterion::norm, tolerance), this->V.view(),
                                     scratch.view(), {});
  };
  reduce(1e4 * epsilon);
  EXPECT_EQ(this->dense_V(), V);
  reduce(10 * epsilon);
  for (std::size_t j = 0; j < before.size(); ++j) {
    const VectorXd v = V.col(static_cast<Index>(j));
    const VectorXd r = A * v - values[j] * v;
    const VectorXd w = A * r - values[j] * r;
    const double best = (r - r.dot(w) / w.squaredNorm() * w).norm();  // of one step
    const double rounding = tolerance<TypeParam>(this->norm1(A), static_cast<double>(this->n()));
    EXPECT_LT(best, 0.9 * before[j]);
    EXPECT_LE(this->verifier_.residuals()[j], 1.01 * best + rounding) << "pair " << j;
  }
}

TYPED_TEST(EigenVerifierTest, NothingPassesThatIsNotOrthonormal) {
  using T = TypeParam;
  ASSERT_EQ(this->rayleigh_ritz(), DenseFailure::none);
  this->measure();
  EigenResult<T, HostSpace> result;
  EXPECT_TRUE(this->report(10, result));  // by residuals everything would pass
  for (Index i = 0; i < this->n(); ++i) this->V.view()(i, 2) *= 2;
  this->measure();
  EXPECT_FALSE(this->report(10, result));
  EXPECT_NEAR(result.orthogonality, 3, tolerance<T>(3, static_cast<double>(this->n())));
}

TYPED_TEST(EigenVerifierTest, NaNPassesNothing) {
  using T = TypeParam;
  ASSERT_EQ(this->rayleigh_ritz(), DenseFailure::none);
  this->V.view()(3, 5) = std::numeric_limits<T>::quiet_NaN();
  this->measure();
  EigenResult<T, HostSpace> result;
  EXPECT_FALSE(this->report(10, result));
  EXPECT_TRUE(std::isnan(result.orthogonality));
  EXPECT_TRUE(std::isnan(result.residuals[5]));
  EXPECT_NE(this->rayleigh_ritz(), DenseFailure::none);
  fill_random<T>(this->context_, 5, 0, this->V.view());
  std::vector<double> diagonal = test::counting(this->n());
  diagonal[3] = std::numeric_limits<double>::quiet_NaN();
  test::DiagonalOperator<T> A(diagonal);
  this->problem.A = &A;
  EXPECT_EQ(this->rayleigh_ritz(), DenseFailure::not_finite);
}

TYPED_TEST(EigenVerifierTest, DependentColumnsAreRefused) {
  for (const bool pencil : {true, false}) {
    this->problem.B = pencil ? &this->mass_ : nullptr;
    fill_random<TypeParam>(this->context_, 5, 0, this->V.view());
    for (Index i = 0; i < this->n(); ++i) this->V.view()(i, 4) = 0;
    const MatrixXd before = this->dense_V();
    EXPECT_EQ(this->rayleigh_ritz(), DenseFailure::indefinite);
    EXPECT_EQ(this->dense_V(), before) << "V was changed";
  }
}

TYPED_TEST(EigenVerifierTest, AnIndefiniteBIsRefused) {
  std::vector<double> diagonal(static_cast<std::size_t>(this->n()), 1.0);
  diagonal[0] = -1e4;
  test::DiagonalOperator<TypeParam> B(diagonal);
  this->problem.B = &B;
  EXPECT_EQ(this->rayleigh_ritz(), DenseFailure::indefinite);
}

}  // namespace
}  // namespace heddle
