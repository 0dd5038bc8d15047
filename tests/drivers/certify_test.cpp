#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <drivers/chain.hpp>
#include <drivers/refusal.hpp>
#include <drivers/springs.hpp>
#include <heddle/drivers/plan/certificate.hpp>
#include <heddle/drivers/solve.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/factor/factor_libraries.hpp>
#include <map>
#include <string>
#include <vector>

namespace heddle {
namespace {

using detail::FactorCost;
using test::Chain;
using test::chain_eigenvalue;
using test::refusal;

void expect_proven(const Solution& solution, const std::string& what) {
  EXPECT_EQ(solution.status, SolveStatus::converged) << what << ": " << solution.reason;
  EXPECT_EQ(solution.completeness.method, CompletenessMethod::inertia)
      << what << ": " << solution.reason;
  EXPECT_TRUE(solution.completeness.proven) << what << ": " << solution.reason;
}

/// The Laplacian of a path of n vertices whose edges have the weights 1, 2, 3, 1, …, and one of the
/// same size beside it if `twice`.
Matrix weighted_paths(HostContext& context, Index n, bool twice) {
  std::vector<Triplet<double>> entries;
  for (Index first = 0; first < (twice ? 2 * n : n); first += n) {
    for (Index i = first; i + 1 < first + n; ++i) {
      const auto weight = static_cast<double>(1 + i % 3);
      for (const Index row : {i, i + 1}) {
        entries.push_back({row, row, weight});
        entries.push_back({row, 2 * i + 1 - row, -weight});
      }
    }
  }
  const Index order = twice ? 2 * n : n;
  return Matrix(csr_from_triplets<double>(context, order, order, entries));
}

TEST(Certify, SmallProblemsAreProvenByEachMethod) {
  const Problem grid{.A = Matrix::generate({.name = "laplace2d", .size = {30, 29}})};
  const auto check = [&](const Request& request, const std::string& what) {
    const Solution solution = solve(grid, request);
    expect_proven(solution, what);
    EXPECT_FALSE(solution.factor_library.empty()) << what;
  };
  for (const Which which : {Which::smallest, Which::largest}) {
    check({.method = Method::lobpcg, .nev = 5, .which = which}, "lobpcg");
    check({.method = Method::block_lanczos, .nev = 5, .which = which}, "block_lanczos");
    check({.nev = 5, .which = which}, "auto");
  }
  for (const LanczosFilter filter :
       {LanczosFilter::chebyshev, LanczosFilter::inverse, LanczosFilter::none}) {
    check({.method = Method::block_lanczos, .nev = 5, .filter = filter}, "filter");
  }
  check({.method = Method::lobpcg, .nev = 5, .precision = Precision::mixed}, "mixed");
  check({.method = Method::lobpcg, .nev = 3, .precision = Precision::single}, "single");
  check({.nev = 5, .reorder = RowOrder::rcm}, "rcm");
}

TEST(Certify, NoCountsNothing) {
  const Problem grid{.A = Matrix::generate({.name = "laplace2d", .size = {30, 29}})};
  const Solution solution =
      solve(grid, {.method = Method::lobpcg, .nev = 5, .certify = Certify::no});
  EXPECT_NE(solution.completeness.method, CompletenessMethod::inertia);
  EXPECT_FALSE(solution.completeness.proven);
  EXPECT_TRUE(solution.factor_library.empty());
}

TEST(Certify, OfScaledProblems) {
  for (const double factor : {0x1p-600, 0x1p600}) {
    Chain<std::int64_t> chain(400);
    for (double& value : chain.values) value *= factor;
    const Solution solution = solve({.A = chain.matrix()}, {.nev = 4});
    expect_proven(solution, std::to_string(std::log2(factor)));
    EXPECT_NEAR(solution.eigenvalues[3] / factor, chain_eigenvalue(400, 4), 1e-12);
  }
}

/// Held by penalties, so that the rows are scaled one by one.
TEST(Certify, OfGradedProblems) {
  HostContext context;
  for (const double s : {1e8, 1e14, 1e20}) {
    const test::Springs springs = test::held_chain(400, s);
    const Solution solution = solve(springs.problem(context), {.nev = 3});
    expect_proven(solution, std::to_string(s));
    for (Index j = 0; j < 3; ++j) {
      const auto exact = static_cast<double>(springs.eigenvalue(j));
      EXPECT_NEAR(solution.eigenvalues[static_cast<std::size_t>(j)], exact, 1e-9 * exact);
    }
  }
}

TEST(Certify, OfSingularMasses) {
  HostContext context;
  test::Springs springs{std::vector<double>(400, 1.0), {{0, 1.0}, {400, 1.0}}};
  springs.masses.assign(401, 1);
  for (std::size_t i = 0; i < springs.masses.size(); i += 4) springs.masses[i] = 0;
  const Solution solution = solve(springs.problem(context), {.nev = 3});
  expect_proven(solution, "singular mass");
  EXPECT_EQ(solution.infinite_eigenvalues, 101);
}

TEST(Certify, OfLaplaciansWithNullVectors) {
  HostContext context;
  for (const bool twice : {false, true}) {
    const Problem problem{.A = weighted_paths(context, 300, twice)};
    for (const Method method : {Method::lobpcg, Method::block_lanczos}) {
      const Solution solution = solve(problem, {.method = method, .nev = 4});
      expect_proven(solution, std::string(method_name(method)));
      EXPECT_EQ(solution.null_vectors, twice ? 2 : 1);
      EXPECT_LE(std::abs(solution.eigenvalues[0]), solution.error_bounds[0]);
    }
  }
}

TEST(Certify, OfConstraints) {
  const Chain<std::int64_t> chain(400);
  std::vector<double> ones(400, 1);
  const Solution solution =
      solve({.A = chain.matrix(), .constraints = Block(400, 1, ones)}, {.nev = 3});
  expect_proven(solution, "constraints");
}

TEST(Certify, WhatCannotBeCountedIsRefused) {
  const Chain<std::int64_t> chain(300);
  const Matrix A = chain.matrix();
  const Matrix callable(300, 300,
                        [](ConstBlockView<double, HostSpace> X, BlockView<double, HostSpace> Y) {
                          test::multiply_by_chain(X, Y);
                        });
  EXPECT_EQ(refusal({.A = callable}, {.nev = 3, .certify = Certify::inertia}),
            "certify: inertia: A is a callable, which cannot be factored: use auto or no");
  EXPECT_EQ(refusal({.A = callable}, {.nev = 3}), "");
  EXPECT_EQ(refusal({.A = A}, {.nev = 3, .sigma = 1.0, .certify = Certify::inertia}),
            "certify does not go with sigma");
  const std::vector<double> ones(300, 1);
  EXPECT_EQ(refusal({.A = A, .rhs = Block(300, 1, ones)}, {.certify = Certify::inertia}),
            "certify belongs to lobpcg and block_lanczos, the method is block_cg");
}

TEST(Certify, SeveralProcessesAreRefused) {
  const detail::Facts shared{.processes = 2};
  EXPECT_NO_THROW(detail::check_certify({}, shared));
  try {
    detail::check_certify({.certify = Certify::inertia}, shared);
    FAIL() << "not refused";
  } catch (const RequestError& error) {
    EXPECT_STREQ(error.what(),
                 "certify: inertia: several processes or GPUs hold the matrices, so that none is "
                 "factored: use auto or no");
  }
  const PlannedChoice choice = detail::planned_count({}, shared, {});
  EXPECT_EQ(choice.value, "none");
  EXPECT_NE(choice.reason.find("several processes"), std::string::npos);
}

TEST(Certify, ANearlyDenseFactorOfASmallOrderIsNotPlanned) {
  const detail::Facts facts{.A = {.rows = 4000, .cols = 4000}};
  const auto planned = [&](double operations) {
    return detail::planned_count({}, facts, {.entries = 1e6, .operations = operations}).value;
  };
  EXPECT_EQ(planned(1e9), "by inertia");
  EXPECT_EQ(planned(2e10), "by inertia where it costs little, or next to stiff rows");
}

TEST(Certify, AFactorThatDoesNotFitIsRefusedBeforeTheSolve) {
  const FactorCost small{.entries = 1e4, .operations = 1e6};
  const FactorCost huge{.entries = 1e16, .operations = 1e24};
  EXPECT_NO_THROW(detail::check_certify_memory({.certify = Certify::inertia}, small));
  EXPECT_NO_THROW(detail::check_certify_memory({}, huge));
  try {
    detail::check_certify_memory({.certify = Certify::inertia}, huge);
    FAIL() << "not refused";
  } catch (const RequestError& error) {
    const std::string message = error.what();
    EXPECT_EQ(message.find("certify: inertia: the factor of A - sigma B takes about "), 0U);
    EXPECT_NE(message.find("a quarter of the memory: use auto or no"), std::string::npos);
  }
}

TEST(Certify, IsPlannedWithItsReason) {
  Device device(DeviceChoice::host, 1);
  const auto planned = [&](Index n, const Request& request) {
    const Chain<std::int64_t> chain(n);
    for (const PlannedChoice& choice : plan(device, {.A = chain.matrix()}, request).choices()) {
      if (choice.name == "count of pairs") return choice;
    }
    return PlannedChoice{};
  };
  EXPECT_EQ(planned(400, {.nev = 2}).reason, "the order is small");
  EXPECT_EQ(planned(6000, {.nev = 2}).value,
            "by inertia where it costs little, or next to stiff rows");
  EXPECT_EQ(planned(400, {.nev = 2, .certify = Certify::no}).value, "none");
  const PlannedChoice forced = planned(6000, {.nev = 2, .certify = Certify::inertia});
  EXPECT_EQ(forced.value, "by inertia");
  EXPECT_EQ(forced.reason.find("the factor takes about "), 0U) << forced.reason;
}

TEST(Certify, ThePlanNamesTheLibraryThatFactors) {
  Device device(DeviceChoice::host, 1);
  const auto planned = [&](const Request& request) {
    const Chain<std::int64_t> chain(400);
    for (const PlannedChoice& choice : plan(device, {.A = chain.matrix()}, request).choices()) {
      if (choice.name == "factorization") return choice;
    }
    return PlannedChoice{};
  };
  // Eigen is the cheapest library for the factor of a chain, where the plan has estimated it.
  for (const Request& request :
       {Request{.nev = 2}, Request{.nev = 2, .sigma = 1.5},
        Request{.interval = RealInterval{1, 2}, .filter = LanczosFilter::inverse}}) {
    const bool counted = !request.sigma && !request.interval;
    const detail::FactorLibraryRow& library =
        counted ? detail::factor_library("Eigen") : detail::indefinite_library();
    const PlannedChoice choice = planned(request);
    EXPECT_EQ(choice.value, library.name);
    EXPECT_EQ(choice.reason.find(library.cost), 0U) << choice.reason;
    EXPECT_EQ(choice.reason.find("not MUMPS") == std::string::npos,
              detail::indefinite_library().name == "MUMPS");
  }
  EXPECT_EQ(planned({.nev = 2, .certify = Certify::no}).value, "");
}

}  // namespace
}  // namespace heddle
