#include <gtest/gtest.h>

#include <Eigen/Core>
#include <drivers/complex_support.hpp>
#include <heddle/drivers/solve.hpp>
#include <heddle/linalg/gallery/gallery.hpp>
#include <random>
#include <support/dense.hpp>

// Singular triplets and least squares of complex matrices against dense decompositions by Eigen.
namespace heddle {
namespace {

using test::Complex;
using Dense = Eigen::MatrixXcd;

Complex phase(double angle) { return std::polar(1.0, angle); }

/// A sparse m×n matrix with entries in both parts, whose diagonal keeps its values apart.
ComplexMatrix rectangular(Index m, Index n, double scale = 1) {
  std::mt19937_64 bits(11);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<std::int64_t> offsets{0};
  std::vector<std::int32_t> columns;
  std::vector<Complex> values;
  for (Index i = 0; i < m; ++i) {
    for (Index j = 0; j < n; ++j) {
      const bool diagonal = i == j;
      if (!diagonal && bits() % 8 != 0) continue;
      columns.push_back(static_cast<std::int32_t>(j));
      const Complex value(uniform(bits), uniform(bits));
      values.push_back(scale * (value + (diagonal ? std::polar(static_cast<double>(j + 2),
                                                               0.7 * static_cast<double>(j))
                                                  : 0.0)));
    }
    offsets.push_back(static_cast<std::int64_t>(columns.size()));
  }
  static std::vector<
      std::tuple<std::vector<std::int64_t>, std::vector<std::int32_t>, std::vector<Complex>>>
      kept;
  const auto& [o, c, v] = kept.emplace_back(offsets, columns, values);
  return {m, n, o, c, v};
}

Dense block(const HostVectors& X) { return test::to_dense_block(std::get<ComplexBlock>(X)); }

void expect_triplets(const Solution& solution, const Dense& A, Which which) {
  ASSERT_EQ(solution.status, SolveStatus::converged) << solution.reason;
  const double scale = A.cwiseAbs().maxCoeff();
  const Eigen::VectorXd twice = scale * test::singular_values_of_large(test::real_form(A / scale));
  Eigen::VectorXd exact = twice(Eigen::seqN(0, twice.size() / 2, 2));
  if (which == Which::smallest) exact.reverseInPlace();
  const Dense U = block(solution.left_vectors), V = block(solution.vectors);
  const double norm = exact.maxCoeff();
  const Index k = solution.count();
  for (Index j = 0; j < k; ++j) {
    const double sigma = solution.singular_values[static_cast<std::size_t>(j)];
    const double bound = solution.error_bounds[static_cast<std::size_t>(j)];
    EXPECT_LE(std::abs(sigma - exact(j)), bound + 1e-13 * norm);
    EXPECT_LE(bound, 1e-6 * sigma + 1e-13 * norm);
    EXPECT_LE((A * V.col(j) - sigma * U.col(j)).stableNorm(), 1e-7 * norm);
    EXPECT_LE((A.adjoint() * U.col(j) - sigma * V.col(j)).stableNorm(), 1e-7 * norm);
  }
  EXPECT_LE((U.adjoint() * U - Dense::Identity(k, k)).norm(), 1e-11);
  EXPECT_LE((V.adjoint() * V - Dense::Identity(k, k)).norm(), 1e-11);
}

TEST(ComplexSingularValues, OfSmallMatricesOfAnyShape) {
  for (const auto& [m, n] : {std::pair<Index, Index>{40, 25}, {25, 40}, {30, 30}}) {
    const ComplexMatrix A = rectangular(m, n);
    for (const Which which : {Which::largest, Which::smallest}) {
      const Solution solution =
          solve({.A = A, .normal_equations = true}, {.nev = 5, .which = which});
      expect_triplets(solution, test::to_dense(A.view()), which);
    }
  }
}

/// Too large for a decomposition at once, so that eigensolvers on AᴴA find them.
TEST(ComplexSingularValues, ByIterations) {
  for (const auto& [m, n] : {std::pair<Index, Index>{540, 520}, {520, 540}}) {
    const ComplexMatrix A = rectangular(m, n);
    const Dense whole = test::to_dense(A.view());
    for (const Method method : {Method::block_lanczos, Method::lobpcg}) {
      const Solution solution = solve({.A = A, .normal_equations = true},
                                      {.method = method, .nev = 4, .which = Which::largest});
      EXPECT_GT(solution.iterations, 0);
      expect_triplets(solution, whole, Which::largest);
    }
  }
}

TEST(ComplexSingularValues, OfMatricesOfAnySizeAndOfRank) {
  for (const double scale : {0x1p-600, 0x1p600}) {
    const ComplexMatrix A = rectangular(30, 20, scale);
    const Solution solution =
        solve({.A = A, .normal_equations = true}, {.nev = 3, .which = Which::largest});
    expect_triplets(solution, test::to_dense(A.view()), Which::largest);
  }
  // A u vᴴ of rank 1: vectors of σ = 0 on the longer side are found.
  std::vector<std::int64_t> offsets{0};
  std::vector<std::int32_t> columns;
  std::vector<Complex> values;
  for (int i = 0; i < 12; ++i) {
    for (int j = 0; j < 7; ++j) {
      columns.push_back(j);
      values.push_back(phase(0.3 * i - 0.8 * j));
    }
    offsets.push_back(static_cast<std::int64_t>(columns.size()));
  }
  const ComplexMatrix A(12, 7, offsets, columns, values);
  const Solution solution =
      solve({.A = A, .normal_equations = true}, {.nev = 4, .which = Which::smallest});
  ASSERT_EQ(solution.status, SolveStatus::converged) << solution.reason;
  const Dense U = block(solution.left_vectors);
  EXPECT_LE((U.adjoint() * U - Dense::Identity(4, 4)).norm(), 1e-12);
  EXPECT_LE((test::to_dense(A.view()).adjoint() * U).norm(), 1e-12);
}

/// The solution of min ‖b − A x‖² + damp²‖x‖².
Dense least_squares(const Dense& A, const Dense& b, double damp) {
  const Index m = A.rows(), n = A.cols();
  Dense stacked(m + n, n), right = Dense::Zero(m + n, b.cols());
  stacked << A, damp * Dense::Identity(n, n);
  right.topRows(m) = b;
  return test::complex_form(test::least_squares_solution(test::real_form(stacked),
                                                         test::real_form(right).leftCols(b.cols()))
                                .solution);
}

TEST(ComplexLeastSquares, OfAnyShapeWithDampingAndGuesses) {
  for (const auto& [m, n] : {std::pair<Index, Index>{60, 35}, {35, 60}, {400, 320}}) {
    const ComplexMatrix A = rectangular(m, n);
    const Dense whole = test::to_dense(A.view());
    const ComplexBlock rhs = test::block_of(m, 2, [](Index i, Index j) {
      return phase(1.3 * static_cast<double>(i) + 0.4 * static_cast<double>(i * j));
    });
    const Dense b = test::to_dense_block(rhs);
    for (const double damp : {0.0, 2.0}) {
      for (const char* const type : {"none", "jacobi"}) {
        SCOPED_TRACE(std::to_string(m) + " " + std::to_string(damp) + " " + type);
        Request request{.tolerance = 1e-12, .damp = damp};
        request.preconditioner.type = type;
        const Solution solution = solve({.A = A, .rhs = rhs, .normal_equations = true}, request);
        ASSERT_EQ(solution.status, SolveStatus::converged) << solution.reason;
        const Dense x = block(solution.vectors);
        const Dense exact = least_squares(whole, b, damp);
        EXPECT_LE((x - exact).norm(), 1e-8 * exact.norm());
        for (Index j = 0; j < 2; ++j) {
          EXPECT_NEAR(solution.residual_norms[static_cast<std::size_t>(j)],
                      (b - whole * exact).col(j).norm(), 1e-7);
        }
      }
    }
  }
}

TEST(ComplexLeastSquares, OfColumnsThatDifferInSize) {
  const ComplexMatrix given = rectangular(400, 320);
  const auto view = given.view();
  std::vector<Complex> values(view.values, view.values + view.nnz);
  for (std::size_t k = 0; k < values.size(); ++k) {
    values[k] *= std::pow(10.0, view.columns[k] % 5);
  }
  const ComplexMatrix A(400, 320, std::span(view.row_offsets, 401),
                        std::span(view.columns, values.size()), std::span(values));
  const Dense whole = test::to_dense(A.view());
  const ComplexBlock rhs =
      test::block_of(400, 1, [](Index i, Index) { return phase(0.9 * static_cast<double>(i)); });
  const Solution solution =
      solve({.A = A, .rhs = rhs, .normal_equations = true}, {.tolerance = 1e-12});
  ASSERT_EQ(solution.status, SolveStatus::converged) << solution.reason;
  const Dense exact = least_squares(whole, test::to_dense_block(rhs), 0);
  EXPECT_LE((block(solution.vectors) - exact).norm(), 1e-6 * exact.norm());
}

}  // namespace
}  // namespace heddle
