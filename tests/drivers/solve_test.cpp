#include <gtest/gtest.h>

#include <drivers/chain.hpp>
#include <heddle/drivers/solve.hpp>
#include <heddle/linalg/gallery/gallery.hpp>
#include <numeric>

namespace heddle {
namespace {

using test::Chain;
using test::chain_eigenvalue;

constexpr double kAccuracy = 1e-7;  // of eigenvalues, whose errors are squares of residuals

void expect_near(const std::vector<double>& values, const std::vector<double>& exact,
                 double accuracy = kAccuracy) {
  ASSERT_EQ(values.size(), exact.size());
  for (std::size_t k = 0; k < values.size(); ++k) EXPECT_NEAR(values[k], exact[k], accuracy) << k;
}

TEST(Solve, TakesThreeLines) {
  const Chain<std::int32_t> chain(200);
  heddle::Problem problem{
      .A = heddle::Matrix(200, 200, chain.row_offsets, chain.columns, chain.values)};
  heddle::Request request{.nev = 10};
  heddle::Solution solution = heddle::solve(problem, request);
  ASSERT_EQ(solution.status, SolveStatus::converged) << solution.reason;
  EXPECT_EQ(solution.method, "block_lanczos");
  EXPECT_FALSE(solution.method_reason.empty());
  for (Index j = 0; j < 10; ++j) {
    EXPECT_NEAR(solution.eigenvalues[static_cast<std::size_t>(j)], chain_eigenvalue(200, j + 1),
                kAccuracy);
  }
}

TEST(Solve, VectorsOutliveTheDevice) {
  const Chain<std::int64_t> chain(100);
  const Solution solution = solve({.A = chain.matrix()}, {.nev = 1});
  // The eigenvector of the smallest eigenvalue is sin(π i / (n + 1)) up to its sign and length.
  const auto x = std::get<Block>(solution.vectors).view();
  double dot = 0;
  double norm = 0;
  for (Index i = 0; i < 100; ++i) {
    const double exact = std::sin(std::numbers::pi * static_cast<double>(i + 1) / 101);
    dot += exact * x(i, 0);
    norm += exact * exact;
  }
  EXPECT_NEAR(std::abs(dot) / std::sqrt(norm), 1, 1e-9);
}

TEST(Solve, TheProblemChoosesTheMethod) {
  const std::vector<Index> size{12, 13};
  const Matrix A = Matrix::generate({.name = "laplace2d", .size = size});
  const Solution smallest = solve({.A = A}, {.nev = 4});
  EXPECT_EQ(smallest.method, "block_lanczos");
  expect_near(smallest.eigenvalues, laplace_smallest_eigenvalues(size, 4));
  const Solution largest = solve({.A = A}, {.nev = 4, .which = Which::largest});
  EXPECT_EQ(largest.method, "block_lanczos");
  expect_near(largest.eigenvalues, laplace_largest_eigenvalues(size, 4));
  const std::vector<double> ones(156, 1);
  const Solution system = solve({.A = A, .rhs = Block(156, 1, ones)});
  EXPECT_EQ(system.method, "block_cg");
  ASSERT_EQ(system.status, SolveStatus::converged) << system.reason;
  EXPECT_LT(system.residuals.at(0), 1e-8);
  const Solution inside = solve({.A = A}, {.nev = 40, .interval = RealInterval{0, 1}});
  EXPECT_EQ(inside.method, "slices");
  std::vector<double> exact = laplace_smallest_eigenvalues(size, 40);
  while (exact.back() > 1) exact.pop_back();
  expect_near(inside.eigenvalues, exact);
}

TEST(Solve, EachPrecision) {
  const std::vector<Index> size{9, 8, 7};
  const Matrix A = Matrix::generate({.name = "laplace3d", .size = size});
  const std::vector<double> exact = laplace_smallest_eigenvalues(size, 5);
  for (const Method method : {Method::lobpcg, Method::block_lanczos}) {
    Request request{.method = method, .nev = 5};
    expect_near(solve({.A = A}, request).eigenvalues, exact);
    request.precision = Precision::mixed;
    const Solution mixed = solve({.A = A}, request);
    expect_near(mixed.eigenvalues, exact);
    EXPECT_EQ(mixed.reason.rfind("after ", 0), 0u) << mixed.reason;
    request.precision = Precision::single;
    const Solution single = solve({.A = A}, request);
    expect_near(single.eigenvalues, exact, 1e-4);
    EXPECT_TRUE(std::holds_alternative<HostBlock<float>>(single.vectors));
  }
}

TEST(Solve, PrecisionsOfPreconditioners) {
  const std::vector<Index> size{12, 11, 10};
  const Matrix A = Matrix::generate({.name = "laplace3d", .size = size});
  const std::vector<double> exact = laplace_smallest_eigenvalues(size, 4);
  const auto reported = [&](const Request& request) {
    const Solution solution = solve({.A = A}, request);
    if (request.precision != Precision::single) expect_near(solution.eigenvalues, exact);
    return solution.preconditioner_precision;
  };
  Request request{.method = Method::lobpcg, .nev = 4};
  EXPECT_EQ(reported(request).precision, "single");
  EXPECT_EQ(reported(request).reason, "LOBPCG needs no more digits of its search directions");
  request.preconditioner.precision = PreconditionerPrecision::full;
  EXPECT_EQ(reported(request).precision, "double");
  EXPECT_EQ(reported(request).reason, "as asked");
  request.preconditioner = {.type = "jacobi"};
  EXPECT_EQ(reported(request).precision, "double");
  EXPECT_EQ(reported(request).reason, "jacobi has no form in single precision");
  request.preconditioner = {.type = "none"};
  EXPECT_EQ(reported(request).precision, "");
  request.preconditioner = {};
  request.precision = Precision::mixed;
  EXPECT_EQ(reported(request).precision, "double");
  request.precision = Precision::single;
  EXPECT_EQ(reported(request).precision, "single");
  request.precision = Precision::full;
  request.criterion = Criterion::norm;
  request.tolerance = 1e-13;
  EXPECT_EQ(reported(request).precision, "single, then double");
}

TEST(Solve, PrecisionsOfPreconditionersOfLinearSystems) {
  const Matrix A = Matrix::generate({.name = "laplace2d", .size = {40, 40}});
  const std::vector<double> ones(1600, 1);
  const auto solved = [&](const std::string& type, PreconditionerPrecision precision) {
    Request request{.method = Method::block_cg};
    request.preconditioner = {.type = type, .precision = precision};
    Solution solution = solve({.A = A, .rhs = Block(1600, 1, ones)}, request);
    EXPECT_EQ(solution.status, SolveStatus::converged);
    return solution;
  };
  const Solution multigrid = solved("multigrid", PreconditionerPrecision::automatic);
  EXPECT_EQ(multigrid.preconditioner_precision.precision, "single");
  EXPECT_EQ(multigrid.preconditioner_precision.reason,
            "block CG takes about as many iterations with it");
  const Solution full = solved("multigrid", PreconditionerPrecision::full);
  EXPECT_EQ(full.preconditioner_precision.precision, "double");
  EXPECT_LE(multigrid.iterations, full.iterations + 1);
  const Solution chebyshev = solved("chebyshev", PreconditionerPrecision::automatic);
  EXPECT_EQ(chebyshev.preconditioner_precision.precision, "double");
}

TEST(Solve, PreconditionersInShortNumberTypes) {
  const std::vector<Index> size{12, 11, 10};
  const Matrix A = Matrix::generate({.name = "laplace3d", .size = size});
  const std::vector<double> exact = laplace_smallest_eigenvalues(size, 4);
  const std::pair<PreconditionerPrecision, std::string> cases[] = {
      {PreconditionerPrecision::half, "half"},
      {PreconditionerPrecision::bf16, "bf16"},
      {PreconditionerPrecision::tf32, "tf32"}};
  for (const auto& [precision, name] : cases) {
    Request request{.method = Method::lobpcg, .nev = 4};
    request.preconditioner = {.type = "chebyshev", .precision = precision};
    const Solution found = solve({.A = A}, request);
    expect_near(found.eigenvalues, exact);
    EXPECT_EQ(found.preconditioner_precision.precision, name);
    EXPECT_EQ(found.preconditioner_precision.reason, "as asked");
    request.criterion = Criterion::norm;
    request.tolerance = 1e-13;
    EXPECT_EQ(solve({.A = A}, request).preconditioner_precision.precision,
              name + ", then single, then double");
  }
}

TEST(Solve, APreconditionerThatDoesNotFitIntoSinglePrecisionStaysInDouble) {
  test::Chain<std::int64_t> graded(60);
  graded.values.back() = 1e-25;
  const Solution solution =
      solve({.A = graded.matrix()}, {.method = Method::lobpcg, .nev = 1, .max_iterations = 3});
  EXPECT_EQ(solution.preconditioner_precision.precision, "double");
  EXPECT_EQ(solution.preconditioner_precision.reason.rfind("diagonal entry (60, 60)", 0), 0u)
      << solution.preconditioner_precision.reason;
}

TEST(Solve, Pencils) {
  // Mikota: eigenvalues are the squares 1, 4, 9, …
  const Matrix K = Matrix::generate({.name = "mikota_stiffness", .size = {60}});
  const Matrix M = Matrix::generate({.name = "mikota_mass", .size = {60}});
  for (const Method method : {Method::lobpcg, Method::block_lanczos}) {
    const Solution solution = solve({.A = K, .B = M}, {.method = method, .nev = 3});
    ASSERT_EQ(solution.status, SolveStatus::converged) << solution.reason;
    expect_near(solution.eigenvalues, {1, 4, 9}, 1e-5);
  }
}

TEST(Solve, ConstraintsAndGuesses) {
  const Chain<std::int64_t> chain(100);
  const Solution first = solve({.A = chain.matrix()}, {.nev = 2, .tolerance = 1e-11});
  const Block found = std::get<Block>(first.vectors);
  const Problem rest{.A = chain.matrix(),
                     .constraints = Block(found.columns(0, 1)),
                     .initial_guess = Block(found.columns(1, 1))};
  const Solution second = solve(rest, {.nev = 1});
  EXPECT_NEAR(second.eigenvalues.at(0), chain_eigenvalue(100, 2), 1e-9);
}

TEST(Solve, SingularValuesAndLeastSquares) {
  // The difference matrix of n + 1 rows and n columns, AᵀA = tridiag(−1, 2, −1).
  constexpr Index kColumns = 90;
  std::vector<std::int64_t> offsets{0};
  std::vector<std::int32_t> columns;
  std::vector<double> values;
  for (Index i = 0; i <= kColumns; ++i) {
    if (i > 0) columns.push_back(static_cast<std::int32_t>(i - 1)), values.push_back(-1);
    if (i < kColumns) columns.push_back(static_cast<std::int32_t>(i)), values.push_back(1);
    offsets.push_back(static_cast<std::int64_t>(columns.size()));
  }
  Problem problem{.A = Matrix(kColumns + 1, kColumns, offsets, columns, values),
                  .normal_equations = true};
  const Solution singular = solve(problem, {.nev = 3, .which = Which::largest});
  EXPECT_EQ(singular.method, "singular_values");
  for (Index j = 0; j < 3; ++j) {
    EXPECT_NEAR(singular.singular_values.at(static_cast<std::size_t>(j)),
                std::sqrt(chain_eigenvalue(kColumns, kColumns - j)), kAccuracy);
  }
  EXPECT_EQ(std::get<Block>(singular.left_vectors).rows(), kColumns + 1);

  // b = A x for x = 1 … n, so that nothing is left over.
  std::vector<double> b(kColumns + 1, 1);
  b.back() = -static_cast<double>(kColumns);
  problem.rhs = Block(kColumns + 1, 1, b);
  const Solution fitted = solve(problem, {.tolerance = 1e-12});
  EXPECT_EQ(fitted.method, "least_squares");
  ASSERT_EQ(fitted.status, SolveStatus::converged) << fitted.reason;
  const auto x = std::get<Block>(fitted.vectors).view();
  for (Index i = 0; i < kColumns; ++i) EXPECT_NEAR(x(i, 0), static_cast<double>(i + 1), 1e-5);
}

TEST(Solve, TheMonitorEndsIt) {
  const Chain<std::int64_t> chain(500);
  const Solution solution = solve({.A = chain.matrix()}, {.nev = 4}, [](const MonitorState& state) {
    return state.record.iteration < 1;
  });
  EXPECT_EQ(solution.status, SolveStatus::interrupted);
  EXPECT_EQ(solution.history.back().iteration, 1);
}

TEST(Solve, OneDeviceServesSeveral) {
  Device device(DeviceChoice::host, 1);
  const Chain<std::int64_t> chain(80);
  const Solution first = solve(device, {.A = chain.matrix()}, {.nev = 3});
  const Solution second = solve(device, {.A = chain.matrix()}, {.nev = 3});
  EXPECT_EQ(first.eigenvalues, second.eigenvalues);
}

}  // namespace
}  // namespace heddle
