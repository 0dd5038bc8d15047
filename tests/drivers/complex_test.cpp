#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <drivers/chain.hpp>
#include <drivers/complex_support.hpp>
#include <heddle/drivers/solve.hpp>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/blocks/complex_ops.hpp>
#include <heddle/linalg/gallery/gallery.hpp>
#include <numbers>
#include <string>
#include <support/dense.hpp>
#include <support/sanitized.hpp>
#include <tuple>

namespace heddle {
namespace {

using Complex = std::complex<double>;
using Dense = Eigen::MatrixXcd;

ComplexMatrix generated(std::string name, std::vector<Index> size, double density = 0) {
  return test::generated_complex(std::move(name), std::move(size), density);
}

/// The 3×3 matrix whose values are given row by row.
ComplexMatrix small(const std::vector<Complex>& values) {
  static const std::vector<std::int64_t> offsets{0, 3, 6, 9};
  static const std::vector<std::int32_t> columns{0, 1, 2, 0, 1, 2, 0, 1, 2};
  static std::vector<std::vector<Complex>> kept;
  return {3, 3, offsets, columns, kept.emplace_back(values)};
}

ComplexBlock random_block(Index rows, Index columns, std::uint64_t seed) {
  return test::filled_block(rows, columns,
                            [&](HostContext& context, BlockView<Complex, HostSpace> X) {
                              fill_random<Complex>(context, seed, 0, X);
                            });
}

Dense vectors(const Solution& solution) {
  return test::to_dense_block(std::get<ComplexBlock>(solution.vectors));
}

/// Checks values and residuals against LAPACK-like dense eigenvalues of A x = λ B x.
void expect_pairs(const Solution& solution, const Dense& A, const Dense& B, Which which) {
  ASSERT_EQ(solution.status, SolveStatus::converged) << solution.reason;
  const Eigen::VectorXd all = Eigen::GeneralizedSelfAdjointEigenSolver<Dense>(A, B).eigenvalues();
  const Dense X = vectors(solution);
  const double scale = all.cwiseAbs().maxCoeff();
  for (Index j = 0; j < solution.count(); ++j) {
    const double exact = which == Which::smallest ? all(j) : all(all.size() - 1 - j);
    const auto k = static_cast<std::size_t>(j);
    EXPECT_LE(std::abs(solution.eigenvalues[k] - exact), solution.error_bounds[k] + 1e-13 * scale)
        << j;
    const Eigen::VectorXcd r = A * X.col(j) - solution.eigenvalues[k] * (B * X.col(j));
    EXPECT_LE(r.norm(), 1e-6 * scale * X.col(j).norm()) << j;
    EXPECT_LE(solution.error_bounds[k], 1e-6 * scale);
  }
  const Dense gram = X.adjoint() * B * X;
  EXPECT_LE((gram - Dense::Identity(X.cols(), X.cols())).cwiseAbs().maxCoeff(), 1e-10);
}

std::string refusal(const ComplexProblem& problem, const Request& request = {.nev = 1}) {
  try {
    solve(problem, request);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST(ComplexSolve, BothEndsByEachMethod) {
  const ComplexMatrix A = generated("peierls3d", {test::kSanitized ? 3 : 7, 6, 5}, 0.3);
  const Dense whole = test::to_dense(A.view());
  const Dense I = Dense::Identity(whole.rows(), whole.cols());
  for (const Method method : {Method::automatic, Method::lobpcg, Method::block_lanczos}) {
    for (const Which which : {Which::smallest, Which::largest}) {
      SCOPED_TRACE(method_name(method));
      expect_pairs(solve({.A = A}, {.method = method, .nev = 6, .which = which}), whole, I, which);
    }
  }
}

TEST(ComplexSolve, IndefiniteBands) {
  const ComplexMatrix A = generated("haldane", {9, 8});
  const Dense whole = test::to_dense(A.view());
  const Dense I = Dense::Identity(whole.rows(), whole.cols());
  for (const Which which : {Which::smallest, Which::largest}) {
    expect_pairs(solve({.A = A}, {.nev = 5, .which = which}), whole, I, which);
  }
}

TEST(ComplexSolve, PencilsOfComplexAndRealMasses) {
  const ComplexMatrix A = generated("peierls2d", {13, 11}, 0.2);
  const Dense whole = test::to_dense(A.view());
  for (const ComplexMatrix& B :
       {generated("random_hermitian", {143}, 5), generated("laplace2d", {13, 11})}) {
    for (const Method method : {Method::automatic, Method::lobpcg, Method::block_lanczos}) {
      SCOPED_TRACE(method_name(method));
      const Solution solution = solve({.A = A, .B = B}, {.method = method, .nev = 4});
      expect_pairs(solution, whole, test::to_dense(B.view()), Which::smallest);
    }
  }
}

TEST(ComplexSolve, EachPreconditioner) {
  const ComplexMatrix A = generated("random_flux3d", {6, 5, test::kSanitized ? 3 : 7});
  const ComplexMatrix B = generated("random_hermitian", {A.rows()}, 5);
  const Dense whole = test::to_dense(A.view());
  const ComplexBlock rhs = random_block(A.rows(), 3, 9);
  const Dense exact = whole.llt().solve(test::to_dense_block(rhs));
  for (const char* const type :
       {"none", "jacobi", "block_jacobi", "chebyshev", "incomplete_cholesky"}) {
    SCOPED_TRACE(type);
    Request request{.method = Method::lobpcg, .nev = 4};
    request.preconditioner.type = type;
    const Solution solution = solve({.A = A, .B = B}, request);
    expect_pairs(solution, whole, test::to_dense(B.view()), Which::smallest);
    EXPECT_EQ(solution.preconditioner_name.substr(0, std::string(type).size()), type);
    Request system;
    system.preconditioner.type = type;
    const Solution solved = solve({.A = A, .rhs = rhs}, system);
    ASSERT_EQ(solved.status, SolveStatus::converged) << solved.reason;
    EXPECT_LE((vectors(solved) - exact).norm(), 1e-6 * exact.norm());
  }
}

TEST(ComplexSolve, ClosedFormOfARing) {
  constexpr Index n = 500;
  constexpr double kFlux = 0.3;
  const Solution solution = solve({.A = generated("ring_flux", {n}, kFlux)}, {.nev = 6});
  ASSERT_EQ(solution.status, SolveStatus::converged) << solution.reason;
  std::vector<double> exact;
  for (Index k = 0; k < n; ++k) {
    const double half = std::numbers::pi * (static_cast<double>(k) + kFlux) / n;
    exact.push_back(4 * std::sin(half) * std::sin(half));
  }
  std::sort(exact.begin(), exact.end());
  for (std::size_t k = 0; k < 6; ++k) EXPECT_NEAR(solution.eigenvalues[k], exact[k], 1e-13);
}

TEST(ComplexSolve, ConstraintsAndGuesses) {
  const ComplexMatrix A = generated("random_flux3d", {6, 5, 4});
  const Dense whole = test::to_dense(A.view());
  const Eigen::SelfAdjointEigenSolver<Dense> exact(whole);
  const auto lowest = [&](Index i, Index j) { return exact.eigenvectors()(i, j); };
  const ComplexProblem problem{.A = A,
                               .constraints = test::block_of(120, 2, lowest),
                               .initial_guess = random_block(120, 3, 4)};
  const Solution solution = solve(problem, {.nev = 3});
  ASSERT_EQ(solution.status, SolveStatus::converged) << solution.reason;
  EXPECT_EQ(solution.method, "lobpcg");
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_NEAR(solution.eigenvalues[k], exact.eigenvalues()(static_cast<Index>(k) + 2), 1e-9);
  }
}

TEST(ComplexSolve, LinearSystems) {
  for (const ComplexMatrix& A :
       {generated("peierls2d", {20, 17}), generated("laplace2d", {20, 17})}) {
    const Dense whole = test::to_dense(A.view());
    const ComplexBlock rhs = random_block(340, 3, 9);
    const Dense exact = whole.llt().solve(test::to_dense_block(rhs));
    for (const CgAlgorithm algorithm : {CgAlgorithm::breakdown_free, CgAlgorithm::pseudo_block}) {
      const Solution solution = solve({.A = A, .rhs = rhs}, {.algorithm = algorithm});
      ASSERT_EQ(solution.status, SolveStatus::converged) << solution.reason;
      EXPECT_LE((vectors(solution) - exact).norm(), 1e-6 * exact.norm());
    }
  }
}

TEST(ComplexSolve, FiltersWhereFactorsAreExpensive) {
  const ComplexMatrix A = generated("random_hermitian", {20000}, 8);
  Device device(DeviceChoice::host, 2);
  const SolvePlan planned = plan(device, {.A = A}, {.nev = 4});
  EXPECT_EQ(planned.method, "block_lanczos");
  EXPECT_EQ(planned.request.filter, LanczosFilter::chebyshev);
  EXPECT_NE(planned.method_reason.find("expensive"), std::string::npos);
}

/// Right-hand sides that are nothing but penalties drive the other rows through them.
TEST(ComplexSolve, SystemsWithRowsThatPenaltiesHold) {
  const ComplexMatrix lattice = generated("peierls2d", {12, 11}, 0.1);
  const Dense free = test::to_dense(lattice.view());
  for (const double penalty : {1e6, 1e12, 1e20}) {
    std::vector<Complex> values(lattice.view().values, lattice.view().values + lattice.nnz());
    const auto view = lattice.view();
    const Complex held = std::polar(1.0, 0.7);
    for (const Index i : {5, 70}) {
      for (Index k = view.row_offsets[i]; k < view.row_offsets[i + 1]; ++k) {
        if (view.columns[k] == i) values[static_cast<std::size_t>(k)] += penalty;
      }
    }
    const ComplexBlock rhs = test::block_of(
        132, 1, [&](Index i, Index) { return i == 5 || i == 70 ? penalty * held : Complex{}; });
    const ComplexMatrix A(132, 132, std::span(view.row_offsets, 133),
                          std::span(view.columns, values.size()), std::span(values));
    const Solution solution = solve({.A = A, .rhs = rhs}, {});
    ASSERT_EQ(solution.status, SolveStatus::converged) << solution.reason;
    // x = held e_H to within 1/penalty, so that A_FF x_F = -A_FH x_H.
    Dense reduced = free;
    Eigen::VectorXcd b = Eigen::VectorXcd::Zero(132);
    for (const Index i : {5, 70}) b -= free.col(i) * held;
    for (const Index i : {5, 70}) {
      reduced.row(i).setZero();
      reduced.col(i).setZero();
      reduced(i, i) = 1;
      b(i) = held;
    }
    const Eigen::VectorXcd exact = reduced.llt().solve(b);
    EXPECT_LE((vectors(solution) - exact).norm(), (1e-7 + 20 / penalty) * exact.norm());
  }
}

TEST(ComplexSolve, ZeroMatrices) {
  const ComplexMatrix B = generated("random_hermitian", {300}, 4);
  const std::vector<std::int64_t> offsets(301, 0);
  const std::vector<std::int32_t> columns;
  const std::vector<Complex> values;
  const ComplexMatrix zero(300, 300, offsets, columns, values);
  for (const Method method : {Method::automatic, Method::lobpcg, Method::block_lanczos}) {
    const Solution solution = solve({.A = zero, .B = B}, {.method = method, .nev = 2});
    ASSERT_EQ(solution.status, SolveStatus::converged) << solution.reason;
    EXPECT_EQ(solution.eigenvalues, std::vector<double>(2, 0));
  }
}

TEST(ComplexSolve, RealMatricesHaveTheirRealPairs) {
  const Solution complex = solve({.A = generated("laplace2d", {15, 14})}, {.nev = 5});
  const std::vector<double> exact = laplace_smallest_eigenvalues({15, 14}, 5);
  ASSERT_EQ(complex.status, SolveStatus::converged) << complex.reason;
  for (std::size_t k = 0; k < 5; ++k) EXPECT_NEAR(complex.eigenvalues[k], exact[k], 1e-12);
}

TEST(ComplexSolve, MatricesOfAnySize) {
  HEDDLE_SKIP_WITH_SANITIZER();
  const ComplexMatrix A = generated("peierls2d", {25, 24}, 0.003);
  const Dense whole = test::to_dense(A.view());
  const Eigen::VectorXd exact = Eigen::SelfAdjointEigenSolver<Dense>(whole).eigenvalues();
  const ComplexBlock rhs = random_block(600, 2, 5);
  const Dense solved = whole.llt().solve(test::to_dense_block(rhs));
  for (const int exponent : {-660, 0, 660}) {  // squares of entries leave the range of numbers
    SCOPED_TRACE(exponent);
    std::vector<Complex> values(A.view().values, A.view().values + A.nnz());
    for (Complex& value : values) value = times_power_of_two(value, exponent);
    const ComplexMatrix scaled(600, 600, std::span(A.view().row_offsets, 601),
                               std::span(A.view().columns, values.size()), std::span(values));
    for (const LanczosFilter filter : {LanczosFilter::chebyshev, LanczosFilter::inverse}) {
      const Solution pairs =
          solve({.A = scaled}, {.method = Method::block_lanczos, .nev = 3, .filter = filter});
      ASSERT_EQ(pairs.status, SolveStatus::converged) << pairs.reason;
      for (Index k = 0; k < 3; ++k) {
        const auto j = static_cast<std::size_t>(k);
        EXPECT_NEAR(std::ldexp(pairs.eigenvalues[j], -exponent), exact(k), 1e-12);
        EXPECT_LE(std::ldexp(pairs.error_bounds[j], -exponent), 1e-8);
      }
    }
    const Solution system = solve({.A = scaled, .rhs = rhs}, {.tolerance = 1e-10});
    ASSERT_EQ(system.status, SolveStatus::converged) << system.reason;
    Dense x = vectors(system);
    for (Complex& each : x.reshaped()) each = times_power_of_two(each, exponent);
    EXPECT_LE((x - solved).norm(), 1e-6 * solved.norm());
  }
}

TEST(ComplexSolve, OperatorsThatAreNotStored) {
  const ComplexMatrix stored = generated("peierls2d", {12, 11});
  const Dense whole = test::to_dense(stored.view());
  const ComplexMatrix A(132, 132, [&whole](auto X, auto Y) {
    for (Index j = 0; j < X.cols(); ++j) {
      for (Index i = 0; i < Y.rows(); ++i) {
        Complex sum = 0;
        for (Index k = 0; k < X.rows(); ++k) sum += whole(i, k) * X(k, j);
        Y(i, j) = sum;
      }
    }
  });
  expect_pairs(solve({.A = A}, {.nev = 3}), whole, Dense::Identity(132, 132), Which::smallest);
}

TEST(ComplexSolve, TheSameBitsTwiceAndForEachNumberOfThreads) {
  const ComplexMatrix A = generated("random_flux3d", {9, 8, 7});
  for (const Method method : {Method::lobpcg, Method::block_lanczos}) {
    const Solution one = solve({.A = A}, {.method = method, .nev = 4, .threads = 1});
    const Solution two = solve({.A = A}, {.method = method, .nev = 4, .threads = 2});
    EXPECT_EQ(one.eigenvalues, two.eigenvalues);
    EXPECT_EQ(vectors(one), vectors(two));
  }
}

TEST(ComplexSolve, DensityOfStates) {
  HEDDLE_SKIP_WITH_SANITIZER();
  const ComplexMatrix A = generated("peierls2d", {20, 19}, 0.25);
  const Dense whole = test::to_dense(A.view());
  const Eigen::VectorXd exact = Eigen::SelfAdjointEigenSolver<Dense>(whole).eigenvalues();
  Device device(DeviceChoice::host, 2);
  const SpectralDensity density = spectral_density(device, A);
  EXPECT_LE(density.lower(), exact(0));
  EXPECT_GE(density.upper(), exact(exact.size() - 1));
  const auto below = static_cast<double>((exact.array() < 3).count());
  const EigenvalueCount count = density.count(density.lower(), 3);
  EXPECT_NEAR(count.count, below, 5 * count.deviation + 0.02 * 380);
  EXPECT_THROW(std::ignore = spectral_density(device, small({1, 2, 0, 1, 1, 0, 0, 0, 1})),
               ProblemError);
}

TEST(ComplexRefusals, MatricesThatAreNotHermitian) {
  const Complex i{0, 1};
  EXPECT_EQ(refusal({.A = small({2, i, 0, -i, 2, 0, 0, 0, 2.0 + i})}),
            "A: the matrix is not Hermitian: diagonal entry (3, 3) is 2+1i, not real");
  EXPECT_EQ(refusal({.A = small({2, i, 0, i, 2, 0, 0, 0, 2})}),
            "A: the matrix is not Hermitian: entry (1, 2) is 0+1i, entry (2, 1) is 0+1i, not its "
            "conjugate; complex symmetric matrices have no real eigenvalues, and no solver here "
            "takes them");
  EXPECT_EQ(refusal({.A = small({2, i, 0, 3, 2, 0, 0, 0, 2})}),
            "A: the matrix is not Hermitian: entry (1, 2) is 0+1i, entry (2, 1) is 3+0i, not its "
            "conjugate");
}

TEST(ComplexRefusals, MatricesThatAreNotSquare) {
  const std::vector<std::int64_t> offsets{0, 1, 2};
  const std::vector<std::int32_t> columns{0, 1};
  const std::vector<Complex> values{1, 1};
  EXPECT_EQ(
      refusal({.A = ComplexMatrix(2, 3, offsets, columns, values)}),
      "A: the matrix is 2 x 3, it must be square; normal_equations finds its singular values, or "
      "least-squares solutions");
}

TEST(ComplexRefusals, MassesThatAreNotDefinite) {
  const Complex i{0, 1};
  const ComplexMatrix A = small({2, i, 0, -i, 2, 0, 0, 0, 2});
  EXPECT_EQ(refusal({.A = A, .B = small({1, 0, 0, 0, -1, 0, 0, 0, 1})}),
            "B: the mass matrix is not positive definite: diagonal entry (2, 2) is -1");
  EXPECT_NE(refusal({.A = A, .B = small({1, 2.0 * i, 0, -2.0 * i, 1, 0, 0, 0, 1})})
                .find("B: the mass matrix is not positive definite"),
            std::string::npos);
  // Minors of order 2 are positive, that of order 3 is negative.
  EXPECT_NE(
      refusal(
          {.A = A, .B = small({1, 0.7 * i, 0.7 * i, -0.7 * i, 1, 0.7 * i, -0.7 * i, -0.7 * i, 1})})
          .find("B: the mass matrix is not positive definite: its factorisation meets"),
      std::string::npos);
  EXPECT_EQ(refusal({.A = A, .B = small({1, i, 0, -i, 1, 0, 0, 0, 1})}),
            "B: the mass matrix is singular, which goes with real matrices only");
}

TEST(ComplexRefusals, WhatIsThereForRealMatrices) {
  const ComplexMatrix A = generated("peierls2d", {5, 4});
  const ComplexBlock rhs = random_block(20, 1, 3);
  const std::vector<double> ones(60, 1);
  const std::span numbers(ones);
  const auto expect = [&](const ComplexProblem& problem, const Request& request,
                          std::string_view beginning) {
    const std::string message = refusal(problem, request);
    EXPECT_EQ(message.substr(0, beginning.size()), beginning);
    EXPECT_NE(message.find("real matrices only"), std::string::npos) << message;
  };
  expect({.A = A}, {.nev = 1, .precision = Precision::single}, "precision: ");
  expect({.A = A}, {.nev = 1, .precision = Precision::mixed}, "precision: ");
  expect({.A = A}, {.nev = 1, .reorder = RowOrder::rcm}, "reorder: ");
  expect({.A = A, .rhs = rhs}, {.project_rhs = true}, "project_rhs: ");
  expect({.A = A, .geometric_stiffness = A}, {.nev = 1}, "geometric_stiffness: ");
  expect({.A = A, .coordinates = Block(20, 3, numbers)}, {.nev = 1}, "coordinates: ");
  expect({.A = A, .near_null = Block(20, 1, numbers.first(20))}, {.nev = 1}, "near_null: ");
}

TEST(ComplexRefusals, PreconditionersOfRealMatrices) {
  const ComplexMatrix A = generated("peierls2d", {5, 4});
  Request request{.method = Method::lobpcg, .nev = 1};
  request.preconditioner.type = "multigrid";
  EXPECT_EQ(refusal({.A = A}, request),
            "preconditioner.type: multigrid takes real matrices only; complex ones go with jacobi, "
            "block_jacobi, chebyshev, incomplete_cholesky, none");
}

}  // namespace
}  // namespace heddle
