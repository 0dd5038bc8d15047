#include <gtest/gtest.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/gallery/gallery.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/lanczos/nearest/nearest_eigenpairs.hpp>
#include <heddle/solvers/operators/sparse_operator.hpp>
#include <optional>
#include <string>
#include <vector>

#include "support/decompositions.hpp"
#include "support/dense.hpp"

/// Pairs on the vectors with YᵀBx = 0, against a dense solve with a basis of these vectors.
namespace heddle {
namespace {

using test::to_dense;

/// The Laplacian of a grid or a pencil, with random or given constraints.
template <class T>
class Constrained {
 public:
  using Result = EigenResult<T, HostSpace>;

  /// `mass`: 0 for B = I, 1 for diag(1.5, 1, 0.5, …) with couplings, 2 with every third mass 0.
  Constrained(std::vector<Index> size, int mass, Eigen::MatrixXd constraints,
              Definite definite = Definite::B)
      : A_(generate<T>(context_, {size.size() == 1 ? "laplace1d" : "laplace2d", size})),
        B_(make_mass(A_.rows(), mass)),
        Y_(test::to_block<T>(context_, constraints)),
        A(context_, A_.view()),
        inverse(A_.view(), B_.view()) {
    if (mass > 0) B.emplace(context_, B_.view());
    const Eigen::MatrixXd K = to_dense(A_.view());
    M_ = mass > 0 ? Eigen::MatrixXd(to_dense(B_.view()))
                  : Eigen::MatrixXd(Eigen::MatrixXd::Identity(A_.rows(), A_.rows()));
    const Eigen::MatrixXd Y = to_dense<T>(std::as_const(Y_).view());
    C_ = (definite == Definite::A ? K : M_) * Y;
    const Eigen::MatrixXd basis = test::orthogonal_complement(C_, 1e-10);
    rank = A_.rows() - basis.cols();
    const Eigen::MatrixXd Kr = basis.transpose() * K * basis, Mr = basis.transpose() * M_ * basis;
    if (definite == Definite::A || mass == 2) {  // 1/λ, and zeros for infinite λ
      const Eigen::VectorXd inverses =
          test::eigenpairs(Eigen::MatrixXd(Mr), Eigen::MatrixXd(Kr)).values;
      for (Index j = inverses.size(); j-- > 0;) {
        if (inverses[j] > 1e-10) values.push_back(1 / inverses[j]);
      }
    } else {
      const Eigen::VectorXd all = test::eigenpairs(Eigen::MatrixXd(Kr), Eigen::MatrixXd(Mr)).values;
      values.assign(all.begin(), all.end());
    }
  }

  Result solve(NearestOptions options) {
    EigenProblem<T, HostContext> problem;
    problem.A = &A;
    problem.B = B ? &*B : nullptr;
    problem.constraints = std::as_const(Y_).view();
    return nearest_eigenpairs<T, HostContext>(context_, problem, inverse, options);
  }

  Result solve(double sigma, Index nev, Side side = Side::both) {
    NearestOptions options;
    options.sigma = sigma;
    options.nev = nev;
    options.limit_to(side);
    return solve(options);
  }

  /// The `nev` values nearest to σ within the limits, ascending.
  std::vector<double> nearest(double sigma, Index nev, Side side = Side::both) const {
    std::vector<double> all;
    for (const double value : values) {
      if (side == Side::both || (side == Side::above ? value >= sigma : value <= sigma)) {
        all.push_back(value);
      }
    }
    std::sort(all.begin(), all.end(),
              [&](double a, double b) { return std::abs(a - sigma) < std::abs(b - sigma); });
    all.resize(std::min(all.size(), static_cast<std::size_t>(nev)));
    std::sort(all.begin(), all.end());
    return all;
  }

  /// Proven pairs with these values, on the vectors of the constraints.
  void expect(const Result& result, const std::vector<double>& wanted) const {
    constexpr double kEpsilon = static_cast<double>(std::numeric_limits<T>::epsilon());
    ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
    EXPECT_TRUE(result.completeness.proven) << result.reason;
    ASSERT_EQ(result.eigenvalues.size(), wanted.size()) << result.reason;
    for (std::size_t j = 0; j < wanted.size(); ++j) {
      EXPECT_NEAR(result.eigenvalues[j], wanted[j], 1e4 * kEpsilon) << j << ", " << result.reason;
      EXPECT_LE(std::abs(result.eigenvalues[j] - wanted[j]),
                result.error_bounds[j] + 1e3 * kEpsilon);
    }
    const auto count = std::ssize(wanted);
    if (count == 0) return;
    const Eigen::MatrixXd X =
        to_dense<T>(std::as_const(result.eigenvectors).view().columns(0, count));
    for (Index l = 0; l < C_.cols(); ++l) {
      const Eigen::VectorXd c = C_.col(l);
      EXPECT_LE((c.transpose() * X.colwise().normalized()).cwiseAbs().maxCoeff(),
                1e4 * kEpsilon * c.norm());
    }
    for (Index j = 0; j < count; ++j) {
      const Eigen::VectorXd x = X.col(j);
      const double quotient = x.dot(to_dense(A_.view()) * x) / x.dot(M_ * x);
      EXPECT_NEAR(quotient, wanted[static_cast<std::size_t>(j)], 1e4 * kEpsilon);
    }
  }

 private:
  HostCsrMatrix<T> make_mass(Index n, int kind) {
    if (kind == 0) return {};
    std::vector<Triplet<T>> entries;
    for (Index i = 0; i < n; ++i) {
      const auto size =
          static_cast<T>(kind == 2 && i % 3 == 0 ? 0 : 0.5 + 0.5 * static_cast<double>(i % 3));
      if (size != 0) entries.push_back({i, i, size});
    }
    for (Index i = 0; kind == 1 && i + 1 < n; i += 2) {
      entries.push_back({i, i + 1, static_cast<T>(0.1)});
      entries.push_back({i + 1, i, static_cast<T>(0.1)});
    }
    return csr_from_triplets<T>(context_, n, n, entries);
  }

  HostContext context_;
  HostCsrMatrix<T> A_, B_;
  MultiVector<T, HostSpace> Y_;
  Eigen::MatrixXd M_, C_;

 public:
  SparseOperator<T, HostContext> A;
  std::optional<SparseOperator<T, HostContext>> B;
  IndefiniteInverse<T, HostContext> inverse;
  std::vector<double> values;
  Index rank = 0;
};

Eigen::MatrixXd random_columns(Index n, Index count, unsigned seed) {
  std::srand(seed);
  return Eigen::MatrixXd::Random(n, count);
}

/// A dense solve and an iteration, on all sides of σ.
TEST(NearestConstrained, OfPencils) {
  for (const std::vector<Index>& size : {std::vector<Index>{9, 10}, {17, 18}}) {
    for (const int mass : {0, 1}) {
      const Index n = size[0] * size[1];
      Constrained<double> known(size, mass, random_columns(n, 4, 3));
      ASSERT_EQ(known.rank, 4);
      for (const double sigma : {0.0, 1.7, 20.0}) {
        for (const Side side : {Side::both, Side::above, Side::below}) {
          const auto result = known.solve(sigma, 6, side);
          known.expect(result, known.nearest(sigma, 6, side));
        }
      }
    }
  }
}

TEST(NearestConstrained, OfASingularMass) {
  for (const std::vector<Index>& size : {std::vector<Index>{9, 10}, {18, 20}}) {
    Constrained<double> known(size, 2, random_columns(size[0] * size[1], 3, 5));
    known.expect(known.solve(2.1, 6), known.nearest(2.1, 6));
  }
}

/// A double value of which the constraints leave both copies, and one of which they leave one.
TEST(NearestConstrained, CopiesThatConstraintsLeave) {
  HostContext context;
  const auto A = generate<double>(context, {"laplace2d", {18, 18}});
  const test::DenseEigenpairs all = test::eigenpairs(Eigen::MatrixXd(to_dense(A.view())));
  ASSERT_NEAR(all.values[1], all.values[2], 1e-12);
  Eigen::MatrixXd Y = all.vectors.middleCols(40, 100) * random_columns(100, 3, 7);
  Constrained<double> two({18, 18}, 0, Y);
  two.expect(two.solve(all.values[1] + 1e-3, 4), two.nearest(all.values[1] + 1e-3, 4));
  Y.col(1) += all.vectors.col(1) + all.vectors.col(2);
  Constrained<double> one({18, 18}, 0, Y);
  one.expect(one.solve(all.values[1] + 1e-3, 4), one.nearest(all.values[1] + 1e-3, 4));
}

/// σ on an eigenvalue: of the constrained problem, where CᵀS⁻¹C is singular, and of the other one,
/// where S is.
TEST(NearestConstrained, SigmaOnAnEigenvalue) {
  for (const std::vector<Index>& size : {std::vector<Index>{9, 10}, {17, 18}}) {
    const Index n = size[0] * size[1];
    Constrained<double> known(size, 1, random_columns(n, 3, 13));
    Constrained<double> other(size, 1, Eigen::MatrixXd::Zero(n, 1));
    for (const double sigma : {known.values[20], other.values[20]}) {
      for (const double apart : {0.0, 1e-14, 1e-12, 1e-10, 1e-7}) {
        SCOPED_TRACE(testing::Message() << n << ", " << sigma << " + " << apart);
        const auto result = known.solve(sigma + apart, 5);
        known.expect(result, known.nearest(sigma + apart, 5));
      }
    }
  }
}

/// Dependent columns, columns of very different sizes, and no more than zeros.
TEST(NearestConstrained, DependentConstraints) {
  const Index n = 17 * 18;
  Eigen::MatrixXd Y = random_columns(n, 5, 17);
  Y.col(2) = Y.col(0) - 3 * Y.col(1);
  Y.col(3) *= 1e-9;
  Y.col(4).setZero();
  Constrained<double> known({17, 18}, 1, Y);
  const double sigma = 1.3;
  Eigen::MatrixXd independent(n, 3);
  independent << Y.col(0), Y.col(1), 1e9 * Y.col(3);
  Constrained<double> truth({17, 18}, 1, independent);
  truth.expect(known.solve(sigma, 5), truth.nearest(sigma, 5));
  Constrained<double> none({17, 18}, 1, Eigen::MatrixXd::Zero(n, 2));
  none.expect(none.solve(sigma, 5), none.nearest(sigma, 5));
}

/// As many pairs as there are, and constraints that leave few vectors.
TEST(NearestConstrained, AllPairs) {
  const Index n = 60;
  for (const Index count : {3, 55}) {
    Constrained<double> known({6, 10}, 1, random_columns(n, count, 19));
    known.expect(known.solve(1.0, n - count), known.values);
  }
  Constrained<double> known({17, 18}, 0, random_columns(306, 290, 23));
  known.expect(known.solve(1.0, 10), known.nearest(1.0, 10));
}

TEST(NearestConstrained, UnitVectorsHoldRows) {
  const Index n = 17 * 18;
  Eigen::MatrixXd Y = Eigen::MatrixXd::Zero(n, 3);
  Y(0, 0) = Y(100, 1) = Y(101, 2) = 1;
  Constrained<double> known({17, 18}, 0, Y);
  known.expect(known.solve(0.5, 6), known.nearest(0.5, 6));
}

/// Pairs between limits whose counts are those of the constrained problem.
TEST(NearestConstrained, CountedLimits) {
  Constrained<double> known({17, 18}, 1, random_columns(306, 4, 29));
  NearestOptions options;
  options.lower = 0.5 * (known.values[20] + known.values[21]);
  options.upper = 0.5 * (known.values[30] + known.values[31]);
  options.sigma = 0.5 * (options.lower + options.upper);
  options.counts = LimitCounts{21, 31};
  options.nev = 20;
  known.expect(known.solve(options), {known.values.begin() + 21, known.values.begin() + 31});
}

TEST(NearestConstrained, ADefiniteA) {
  for (const std::vector<Index>& size : {std::vector<Index>{60}, {400}}) {
    Constrained<double> known(size, 2, random_columns(size[0], 3, 31), Definite::A);
    NearestOptions options;
    options.definite = Definite::A;
    options.sigma = known.values[3] + 1e-3;
    options.nev = 5;
    known.expect(known.solve(options), known.nearest(options.sigma, 5));
  }
}

TEST(NearestConstrained, InSinglePrecision) {
  for (const int mass : {0, 1}) {
    Constrained<float> known({17, 18}, mass, random_columns(306, 4, 37));
    known.expect(known.solve(1.7, 5), known.nearest(1.7, 5));
  }
}

/// More pairs than the constraints leave, and constraints of other rows.
TEST(NearestConstrained, WhatIsRefused) {
  const auto refused = [](const auto& act) -> std::string {
    try {
      act();
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "";
  };
  HostContext context;  // outlives the inverse
  Constrained<double> known({6, 10}, 0, random_columns(60, 4, 41));
  EXPECT_EQ(refused([&] { known.solve(1.0, 57); }),
            "nearest_eigenpairs: nev must lie between 1 and n - constraints = 56, it is 57");
  const auto wrong = test::to_block<double>(context, random_columns(59, 1, 43));
  EXPECT_EQ(refused([&] { known.inverse.constrain(context, wrong.view()); }),
            "IndefiniteInverse: the constraints have 59 rows, A has 60");
  const auto right = test::to_block<double>(context, random_columns(60, 1, 43));
  ASSERT_TRUE(known.inverse.factor(context, 0));
  known.inverse.constrain(context, right.view());
  MultiVector<double, HostSpace> product(context, 60, 1);
  EXPECT_EQ(refused([&] { known.inverse.apply(context, right.view(), product.view()); }),
            "IndefiniteInverse: applied before a matrix was factored");
}

}  // namespace
}  // namespace heddle
