#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <functional>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/lanczos/block_lanczos.hpp>
#include <heddle/solvers/lobpcg/lobpcg.hpp>
#include <heddle/solvers/operators/shifted_inverse.hpp>
#include <heddle/solvers/operators/sparse_operator.hpp>
#include <heddle/solvers/preconditioners/chebyshev/chebyshev.hpp>
#include <heddle/solvers/preconditioners/jacobi/jacobi.hpp>
#include <numbers>
#include <random>
#include <string>
#include <support/sanitized.hpp>
#include <vector>

// Eigenpairs of Hermitian matrices by all eigensolvers, against dense LAPACK-like solutions and
// closed forms.
namespace heddle {
namespace {

using Complex = std::complex<double>;
using Dense = Eigen::MatrixXcd;
using Operator = SparseOperator<Complex, HostContext>;
using Problem = EigenProblem<Complex, HostContext>;
using Result = EigenResult<Complex, HostSpace>;

HostCsrMatrix<Complex> sparse(HostContext& context, const Dense& M) {
  std::vector<Triplet<Complex>> entries;
  for (Index i = 0; i < M.rows(); ++i) {
    for (Index j = 0; j < M.cols(); ++j) {
      if (M(i, j) != Complex(0) || i == j) entries.push_back({i, j, M(i, j)});
    }
  }
  return csr_from_triplets<Complex>(context, M.rows(), M.cols(), entries);
}

/// A Hermitian band matrix with random entries and `diagonal` + i·`slope` on the diagonal.
Dense random_hermitian(Index n, unsigned seed, double diagonal, double slope) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> number(-1, 1);
  Dense M = Dense::Zero(n, n);
  for (Index i = 0; i < n; ++i) {
    M(i, i) = diagonal + slope * static_cast<double>(i) + number(random);
    for (const Index step : {1, 2, 7, 31}) {
      if (i + step >= n) continue;
      M(i, i + step) = {number(random), number(random)};
      M(i + step, i) = std::conj(M(i, i + step));
    }
  }
  return M;
}

/// A particle on a ring with n places and the magnetic flux φ through it: λ = 2 − 2 cos((2πk +
/// φ)/n).
Dense ring(Index n, double flux) {
  Dense M = 2.0 * Dense::Identity(n, n);
  const Complex hop = -std::polar(1.0, flux / static_cast<double>(n));
  for (Index i = 0; i < n; ++i) {
    M(i, (i + 1) % n) += hop;
    M((i + 1) % n, i) += std::conj(hop);
  }
  return M;
}

std::vector<double> ring_values(Index n, double flux) {
  std::vector<double> values;
  for (Index k = 0; k < n; ++k) {
    values.push_back(2 - 2 * std::cos((2 * std::numbers::pi * static_cast<double>(k) + flux) /
                                      static_cast<double>(n)));
  }
  std::sort(values.begin(), values.end());
  return values;
}

std::vector<double> dense_values(const Dense& A, const Dense& B) {
  const Eigen::VectorXd values =
      Eigen::GeneralizedSelfAdjointEigenSolver<Dense>(A, B, Eigen::EigenvaluesOnly).eigenvalues();
  return {values.data(), values.data() + values.size()};
}

/// One way to solve.
struct Way {
  std::string name;
  std::function<Result(HostContext&, Problem, Operator& A, Operator* B, Index nev, Which)> solve;
  bool largest = true;
  bool pencils = true;
};

Result by_lobpcg(HostContext& context, const Problem& problem, Index nev, Which which) {
  LobpcgOptions options;
  options.nev = nev;
  options.which = which;
  return lobpcg<Complex, HostContext>(context, problem, options);
}

Result by_lanczos(HostContext& context, const Problem& problem, Index nev, Which which,
                  LanczosFilter filter) {
  BlockLanczosOptions options;
  options.nev = nev;
  options.which = which;
  options.filter = filter;
  return block_lanczos<Complex, HostContext>(context, problem, options);
}

const std::vector<Way>& ways() {
  static const std::vector<Way> all = {
      {"lobpcg", [](HostContext& context, Problem problem, Operator&, Operator*, Index nev,
                    Which which) { return by_lobpcg(context, problem, nev, which); }},
      {"lobpcg_jacobi",
       [](HostContext& context, Problem problem, Operator& A, Operator*, Index nev, Which which) {
         JacobiPreconditioner<Complex, HostContext> M(context, A.matrix());
         problem.preconditioner = &M;
         return by_lobpcg(context, problem, nev, which);
       },
       false},
      {"lobpcg_chebyshev",
       [](HostContext& context, Problem problem, Operator& A, Operator*, Index nev, Which which) {
         ChebyshevPreconditioner<Complex, HostContext> M(context, A.matrix());
         problem.preconditioner = &M;
         return by_lobpcg(context, problem, nev, which);
       },
       false},
      {"lanczos",
       [](HostContext& context, Problem problem, Operator&, Operator*, Index nev, Which which) {
         return by_lanczos(context, problem, nev, which, LanczosFilter::none);
       },
       true, false},
      {"lanczos_filter",
       [](HostContext& context, Problem problem, Operator&, Operator*, Index nev, Which which) {
         return by_lanczos(context, problem, nev, which, LanczosFilter::chebyshev);
       },
       true, false},
      {"lanczos_inverse",
       [](HostContext& context, Problem problem, Operator& A, Operator* B, Index nev, Which which) {
         ShiftedInverse<Complex, HostContext> inverse(
             A.matrix(), B ? B->matrix() : CsrView<Complex, HostSpace>{});
         problem.shifted_inverse = &inverse;
         return by_lanczos(context, problem, nev, which, LanczosFilter::inverse);
       },
       false},
  };
  return all;
}

class HermitianPairs : public ::testing::TestWithParam<std::size_t> {
 protected:
  const Way& way() const { return ways()[GetParam()]; }

  /// Solves, and compares values with `truth` (ascending) and vectors with the matrices.
  void check(const Dense& A_dense, const Dense* B_dense, const std::vector<double>& truth,
             Index nev, Which which) {
    HostContext context(2);
    Operator A(context, sparse(context, A_dense));
    std::optional<Operator> B;
    if (B_dense != nullptr) B.emplace(context, sparse(context, *B_dense));
    Problem problem{.A = &A, .B = B ? &*B : nullptr};
    const Result result = way().solve(context, problem, A, B ? &*B : nullptr, nev, which);
    ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
    ASSERT_EQ(std::ssize(result.eigenvalues), nev);
    const double scale = std::max(std::abs(truth.front()), std::abs(truth.back()));
    const auto n = static_cast<Index>(truth.size());
    for (Index j = 0; j < nev; ++j) {
      const double exact =
          truth[static_cast<std::size_t>(which == Which::smallest ? j : n - 1 - j)];
      const auto pair = static_cast<std::size_t>(j);
      EXPECT_LE(std::abs(result.eigenvalues[pair] - exact),
                result.error_bounds[pair] + 4e-14 * scale)
          << "value " << j;
      EXPECT_LE(result.error_bounds[pair], 1e-6 * std::abs(exact) + 1e-12 * scale);
    }
    Dense X(n, nev);
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < nev; ++j) X(i, j) = result.eigenvectors.view()(i, j);
    }
    const Dense BX = B_dense != nullptr ? Dense(*B_dense * X) : X;
    const Eigen::Map<const Eigen::VectorXd> values(result.eigenvalues.data(), nev);
    EXPECT_LT((A_dense * X - BX * values.cast<Complex>().asDiagonal()).norm(), 1e-5 * scale);
    EXPECT_LT((X.adjoint() * BX - Dense::Identity(nev, nev)).norm(), 1e-10);
  }
};

TEST_P(HermitianPairs, OfRandomMatricesAreThoseOfADenseSolver) {
  for (const Index n : {1, 2, 60, 300, 620}) {
    if (test::kSanitized && n > 60) break;  // the dense truth takes long
    const Dense A = random_hermitian(n, static_cast<unsigned>(n), 4, 0.1);
    const std::vector<double> truth = dense_values(A, Dense::Identity(n, n));
    const Index nev = std::min<Index>(n, 5);
    check(A, nullptr, truth, nev, Which::smallest);
    if (way().largest) check(A, nullptr, truth, nev, Which::largest);
  }
}

TEST_P(HermitianPairs, OfARingWithFluxAreThoseOfTheClosedForm) {
  // Without flux and with half a quantum, all values but one or two are double.
  for (const double flux : {0.0, 0.7, std::numbers::pi}) {
    check(ring(400, flux), nullptr, ring_values(400, flux), 6, Which::smallest);
  }
}

TEST_P(HermitianPairs, OfPencilsAreThoseOfADenseSolver) {
  if (!way().pencils) return;
  for (const Index n : {40, 420}) {
    if (test::kSanitized && n > 40) break;
    const Dense A = random_hermitian(n, 3, 8, 0.05);
    const Dense B = random_hermitian(n, 4, 12, 0.02);
    const std::vector<double> truth = dense_values(A, B);
    check(A, &B, truth, 4, Which::smallest);
    if (way().largest) check(A, &B, truth, 4, Which::largest);
  }
}

TEST_P(HermitianPairs, OfClustersAndCopiesAreComplete) {
  HEDDLE_SKIP_WITH_SANITIZER();
  // Three copies of one ring beside a random matrix: every value of the ring is triple.
  const Index n = 130;
  const Dense R = ring(n, 0.3);
  Dense A = Dense::Zero(3 * n + 40, 3 * n + 40);
  for (Index k = 0; k < 3; ++k) A.block(k * n, k * n, n, n) = R;
  A.block(3 * n, 3 * n, 40, 40) = random_hermitian(40, 8, 30, 1);
  check(A, nullptr, dense_values(A, Dense::Identity(A.rows(), A.rows())), 7, Which::smallest);
}

INSTANTIATE_TEST_SUITE_P(Ways, HermitianPairs, ::testing::Range(std::size_t{0}, ways().size()),
                         [](const auto& info) { return ways()[info.param].name; });

}  // namespace
}  // namespace heddle
