#include <gtest/gtest.h>

#include <cmath>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/small/small_dense.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/linalg/sparse/csr_ops.hpp>
#include <heddle/solvers/lobpcg/lobpcg.hpp>
#include <heddle/solvers/preconditioners/chebyshev/chebyshev.hpp>

#include "solvers/eigen_test_support.hpp"
#include "support/tolerance.hpp"

namespace heddle {
namespace {

/// A with the given diagonal and nothing else.
HostCsrMatrix<double> diagonal_matrix(HostContext& context, const std::vector<double>& diagonal) {
  std::vector<Triplet<double>> entries;
  for (std::size_t i = 0; i < diagonal.size(); ++i) {
    entries.push_back({static_cast<Index>(i), static_cast<Index>(i), diagonal[i]});
  }
  const auto n = static_cast<Index>(diagonal.size());
  return csr_from_triplets<double>(context, n, n, entries);
}

template <class T>
class ChebyshevTyped : public testing::Test {};
using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(ChebyshevTyped, Scalars);

/// For an eigenvector v of A with constant diagonal, M⁻¹v = p(λ)v, and 1 − λ p(λ) is the scaled
/// Chebyshev polynomial of the documentation, by its cosine formulas.
TYPED_TEST(ChebyshevTyped, IsTheDocumentedPolynomial) {
  HostContext context;
  const Index n = 60;
  const auto A = generate<TypeParam>(context, {"laplace1d", {n}});
  for (const int degree : {1, 2, 5, 12}) {
    ChebyshevPreconditioner<TypeParam, HostContext> M(context, A.view(), degree);
    const double bound = M.upper_bound();
    const double x0 = std::cosh(std::acosh(2.0) / degree);  // c/e
    const double c = bound * x0 / (x0 + 1), e = bound - c;
    MultiVector<TypeParam, HostSpace> v(context, n, 1), w(context, n, 1);
    for (const Index k : {Index{1}, Index{7}, Index{30}, n}) {
      for (Index i = 0; i < n; ++i) {
        v.view()(i, 0) = static_cast<TypeParam>(
            std::sin(M_PI * static_cast<double>((i + 1) * k) / static_cast<double>(n + 1)));
      }
      const double half = M_PI * static_cast<double>(k) / static_cast<double>(2 * (n + 1));
      const double lambda = 4 * std::sin(half) * std::sin(half) / 2;  // of D⁻¹A, D = 2 I
      const double x = (c - lambda) / e;
      const double T = std::abs(x) <= 1 ? std::cos(degree * std::acos(x))
                                        : std::cosh(degree * std::acosh(std::abs(x))) *
                                              (x < 0 && degree % 2 == 1 ? -1 : 1);
      const double expected = (1 - T / 2) / lambda / 2;  // D^(-1/2) twice
      M.apply(context, v.view(), w.view());
      // p near 0, where v's own rounding is met, and the cancellation in `expected`
      const double largest = 2.0 * degree * degree + 1 / lambda;
      for (Index i = 0; i < n; ++i) {
        EXPECT_NEAR(w.view()(i, 0), expected * static_cast<double>(v.view()(i, 0)),
                    test::tolerance<TypeParam>(largest, static_cast<double>(n)));
      }
    }
  }
}

TEST(Chebyshev, UpperBoundHoldsAndIsTight) {
  HostContext context;
  const auto A = generate<double>(context, {"elasticity3d", {4, 4, 4}});
  const ChebyshevPreconditioner<double, HostContext> M(context, A.view());
  SparseOperator<double, HostContext> op(context,
                                         generate<double>(context, {"elasticity3d", {4, 4, 4}}));
  const Buffer<double, HostSpace> d = extract_diagonal(context, A.view());
  const std::vector<double> diagonal(d.data(), d.data() + d.size());
  SparseOperator<double, HostContext> D(context, diagonal_matrix(context, diagonal));
  LobpcgOptions options;
  options.nev = 1;
  options.which = Which::largest;
  options.tolerance = 1e-10;
  options.max_iterations = 5000;
  const auto largest = lobpcg<double, HostContext>(context, {&op, &D}, options);
  ASSERT_EQ(largest.status, SolveStatus::converged) << largest.reason;
  EXPECT_GE(M.upper_bound(), largest.eigenvalues[0]);
  EXPECT_LE(M.upper_bound(), 1.5 * largest.eigenvalues[0]);
}

/// xᵀM⁻¹x > 0 and symmetry on random vectors, for an indefinite matrix with zeros on its diagonal.
TEST(Chebyshev, IsSymmetricPositiveDefiniteForAnIndefiniteMatrix) {
  HostContext context;
  std::vector<Triplet<double>> entries;
  const Index n = 80;
  for (Index i = 0; i < n; ++i) {
    if (i % 3 != 0) entries.push_back({i, i, i % 2 == 0 ? 1.0 : -1.0});
    if (i + 1 < n) {
      entries.push_back({i, i + 1, 2.0});
      entries.push_back({i + 1, i, 2.0});
    }
  }
  const auto A = csr_from_triplets<double>(context, n, n, entries);
  ChebyshevPreconditioner<double, HostContext> M(context, A.view(), 9);
  MultiVector<double, HostSpace> I(context, n, n), W(context, n, n);
  set_identity(context, I.view());
  M.apply(context, I.view(), W.view());
  std::vector<double> theta(static_cast<std::size_t>(n)), Z(static_cast<std::size_t>(n * n)),
      G(Z.size());
  gram<double>(context, I.view(), W.view(), {G.data(), n, n, n});
  double largest = 0;
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) largest = std::max(largest, std::abs(W.view()(i, j)));
  }
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < i; ++j) {
      EXPECT_NEAR(W.view()(i, j), W.view()(j, i),
                  test::tolerance<double>(largest, static_cast<double>(n)));
    }
  }
  ASSERT_TRUE(SymmetricEigensolver<HostContext>().compute(
      context, {G.data(), n, n, n}, {theta.data(), n, 1, n}, {Z.data(), n, n, n}));
  EXPECT_GT(theta[0], 0);
}

TEST(Chebyshev, SavesIterations) {
  HostContext context;
  auto A = test::make_operator<double>(context, {"laplace2d", {40, 41}});
  ChebyshevPreconditioner<double, HostContext> M(context, A.matrix());
  LobpcgOptions options;
  const auto plain = lobpcg<double, HostContext>(context, {&A}, options);
  const auto faster = lobpcg<double, HostContext>(context, {&A, nullptr, &M}, options);
  ASSERT_EQ(plain.status, SolveStatus::converged) << plain.reason;
  ASSERT_EQ(faster.status, SolveStatus::converged) << faster.reason;
  EXPECT_LT(4 * faster.iterations, plain.iterations);
}

TEST(Chebyshev, ServesSpectraThatReachBelowZero) {
  HostContext context;
  const std::vector<Index> size = {30, 31};
  for (const double shift : {-1.0, -4.0, -9.0}) {  // some, half and all of the spectrum below zero
    auto values = generate<double>(context, {"laplace2d", size});
    const CsrView<double, HostSpace> view = values.view();
    for (Index i = 0; i < view.rows; ++i) {
      for (std::int64_t e = view.row_offsets[i]; e < view.row_offsets[i + 1]; ++e) {
        if (view.columns[e] == i) values.values()[e] += shift;
      }
    }
    SparseOperator<double, HostContext> A(context, std::move(values));
    ChebyshevPreconditioner<double, HostContext> M(context, A.matrix());
    LobpcgOptions options;
    const auto result = lobpcg<double, HostContext>(context, {&A, nullptr, &M}, options);
    ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
    EXPECT_LT(result.iterations, 60);
    const auto expected = laplace_smallest_eigenvalues(size, options.nev);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_NEAR(result.eigenvalues[i], expected[i] + shift, 1e-7);
    }
  }
}

/// Eigenvectors k of laplace1d, of order `n`, and their energies vᵀAv for vᵀv = (n + 1)/2.
struct SineModes {
  SineModes(HostContext& context, Index n, const std::vector<Index>& modes)
      : vectors(context, n, std::ssize(modes)) {
    for (Index j = 0; j < std::ssize(modes); ++j) {
      const double angle = M_PI * static_cast<double>(modes[static_cast<std::size_t>(j)]) /
                           static_cast<double>(n + 1);
      for (Index i = 0; i < n; ++i) {
        vectors.view()(i, j) = std::sin(static_cast<double>(i + 1) * angle);
      }
      eigenvalues.push_back(4 * std::pow(std::sin(angle / 2), 2));
      energies.push_back(eigenvalues.back() * static_cast<double>(n + 1) / 2);
    }
  }

  MultiVector<double, HostSpace> vectors;
  std::vector<double> eigenvalues, energies;
};

TEST(Chebyshev, TheAutomaticDegreeFollowsTheWantedEigenvalues) {
  HostContext context;
  const Index n = 200;
  const auto A = generate<double>(context, {"laplace1d", {n}});
  // The same spectrum of D^(-1/2) A D^(-1/2), from rows of very different size.
  std::vector<Triplet<double>> entries;
  std::vector<double> root(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i) root[static_cast<std::size_t>(i)] = std::pow(10.0, i % 7 - 3);
  for (Index i = 0; i < n; ++i) {
    const auto size = root[static_cast<std::size_t>(i)];
    for (Index j = std::max<Index>(0, i - 1); j < std::min(n, i + 2); ++j) {
      entries.push_back({i, j, (i == j ? 2 : -1) * size * root[static_cast<std::size_t>(j)]});
    }
  }
  const auto scaled = csr_from_triplets<double>(context, n, n, entries);
  for (const std::vector<Index>& modes :
       {std::vector<Index>{9, 10, 11}, {5, 6, 7, 8}, {60, 61, 62}, {1, 2, 3}}) {
    SineModes v(context, n, modes);
    ChebyshevPreconditioner<double, HostContext> M(context, A.view());
    const double largest = v.eigenvalues.back() / 2;  // of Â = A/2
    const double degree = 1.15 * std::sqrt(M.upper_bound() / largest);
    const Index expected = std::lround(std::min(degree, 40.0));
    EXPECT_EQ(M.suitable_degree(context, v.vectors.view(), v.energies), expected);
    EXPECT_EQ(M.degree(), 12);
    M.set_degree(expected);
    EXPECT_EQ(M.degree(), expected);

    ChebyshevPreconditioner<double, HostContext> of_scaled(context, scaled.view());
    for (Index j = 0; j < v.vectors.cols(); ++j) {
      for (Index i = 0; i < n; ++i) v.vectors.view()(i, j) /= root[static_cast<std::size_t>(i)];
    }
    EXPECT_EQ(of_scaled.suitable_degree(context, v.vectors.view(), v.energies), expected);
  }
}

TEST(Chebyshev, AChosenDegreeGivesThePolynomialOfThatDegree) {
  HostContext context;
  const Index n = 100;
  const auto A = generate<double>(context, {"laplace1d", {n}});
  ChebyshevPreconditioner<double, HostContext> M(context, A.view());
  const double c = M.upper_bound() * std::cosh(std::acosh(2.0) / 12) /
                   (std::cosh(std::acosh(2.0) / 12) + 1);  // the middle of the first interval
  MultiVector<double, HostSpace> w(context, n, 1);
  for (const Index degree : {Index{12}, Index{20}, Index{37}, Index{0}}) {
    M.set_degree(degree);
    const double d = degree == 0 ? 12 : static_cast<double>(degree);
    const double e = c / std::cosh(std::acosh(2.0) / d);
    EXPECT_GE(c + e, M.upper_bound() * (1 - 1e-14));
    for (const Index k : {Index{1}, Index{4}, Index{50}, n}) {
      SineModes v(context, n, {k});
      M.apply(context, v.vectors.view(), w.view());
      const double lambda = v.eigenvalues[0] / 2;
      const double x = (c - lambda) / e;
      const double T = std::abs(x) <= 1 ? std::cos(d * std::acos(x)) : std::cosh(d * std::acosh(x));
      const double expected = (1 - T / 2) / lambda / 2;
      for (Index i = 0; i < n; ++i) {
        EXPECT_NEAR(w.view()(i, 0), expected * v.vectors.view()(i, 0), 1e-9 / lambda);
      }
    }
  }
}

TEST(Chebyshev, NullVectorsDoNotRaiseTheDegree) {
  HostContext context;
  const Index n = 60;  // the Laplacian of a path, whose null vector is constant
  std::vector<Triplet<double>> entries;
  for (Index i = 0; i + 1 < n; ++i) {
    entries.insert(entries.end(), {{i, i, 1}, {i + 1, i + 1, 1}, {i, i + 1, -1}, {i + 1, i, -1}});
  }
  const auto A = csr_from_triplets<double>(context, n, n, entries);
  ChebyshevPreconditioner<double, HostContext> M(context, A.view());
  MultiVector<double, HostSpace> ones(context, n, 1);
  for (Index i = 0; i < n; ++i) ones.view()(i, 0) = 1;
  for (const double energy : {0.0, 1e-13, -1e-13}) {
    EXPECT_EQ(M.suitable_degree(context, ones.view(), std::vector<double>{energy}), 1);
  }
}

TEST(Chebyshev, AGivenDegreeStays) {
  HostContext context;
  const auto A = generate<double>(context, {"laplace1d", {50}});
  SineModes v(context, 50, {1, 2});
  ChebyshevPreconditioner<double, HostContext> M(context, A.view(), 7);
  EXPECT_EQ(M.variable_degree(), nullptr);
  EXPECT_EQ(M.suitable_degree(context, v.vectors.view(), v.energies), 0);
  M.set_degree(30);
  EXPECT_EQ(M.degree(), 7);
}

TEST(Chebyshev, ASolveBeginsWithTheFirstDegree) {
  HostContext context;
  SparseOperator<double, HostContext> A(context,
                                        generate<double>(context, {"laplace2d", {100, 100}}));
  ChebyshevPreconditioner<double, HostContext> M(context, A.matrix());
  EigenProblem<double, HostContext> problem;
  problem.A = &A;
  problem.preconditioner = &M;
  LobpcgOptions options;
  options.nev = 4;
  const auto first = lobpcg(context, problem, options);
  const int degree = M.degree();
  EXPECT_GT(degree, 12);
  const auto second = lobpcg(context, problem, options);
  EXPECT_EQ(M.degree(), degree);
  EXPECT_EQ(first.eigenvalues, second.eigenvalues);
  EXPECT_EQ(first.iterations, second.iterations);
  options.which = Which::largest;  // which a preconditioner of A does not serve
  options.max_iterations = 20;
  lobpcg(context, problem, options);
  EXPECT_EQ(M.degree(), 12);
}

TEST(Chebyshev, MisuseThrows) {
  HostContext context;
  const auto A = generate<double>(context, {"laplace1d", {10}});
  using Preconditioner = ChebyshevPreconditioner<double, HostContext>;
  EXPECT_THROW(Preconditioner(context, A.view(), -1), InvalidArgument);
  const auto wide = csr_from_triplets<double>(context, 3, 4, {});
  EXPECT_THROW(Preconditioner(context, wide.view()), InvalidArgument);
}

}  // namespace
}  // namespace heddle
