#include <gtest/gtest.h>

#include <heddle/drivers/plan/details.hpp>
#include <heddle/drivers/solve.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace heddle {
namespace {

Matrix generated(const std::string& name, const std::vector<Index>& size) {
  return Matrix::generate({.name = name, .size = size});
}

SolvePlan planned(const Request& request, const Problem& problem) {
  Device device(DeviceChoice::host, 2);
  return plan(device, problem, request);
}

Method chosen(const Request& request, const Problem& problem) {
  const SolvePlan made = planned(request, problem);
  EXPECT_FALSE(made.method_reason.empty());
  return made.request.method;
}

TEST(ChooseMethod, PicksByTheProblem) {
  const Problem grid{.A = generated("laplace2d", {20, 20})};
  EXPECT_EQ(chosen({}, grid), Method::block_lanczos);
  EXPECT_EQ(chosen({.which = Which::largest}, grid), Method::block_lanczos);
  EXPECT_EQ(chosen({.preconditioner = {.type = "jacobi"}}, grid), Method::lobpcg);
  EXPECT_EQ(chosen({.max_basis = 40}, grid), Method::block_lanczos);
  const Problem cube{.A = generated("laplace3d", {40, 40, 40})};
  EXPECT_EQ(chosen({}, cube), Method::lobpcg) << "a factor of some 10¹⁰ operations";
  EXPECT_EQ(planned({}, cube).details->stages.size(), 2);
  const Problem callable{.A = Matrix(100, 100, [](auto, auto) {})};
  EXPECT_EQ(chosen({}, callable), Method::lobpcg);
  EXPECT_EQ(planned({}, callable).details->stages.size(), 1);
  EXPECT_TRUE(planned({.method = Method::lobpcg}, cube).method_reason.empty());
}

/// Each of several processes needs a factor: two fit into the memory that factors may take.
TEST(ChooseMethod, SlicesOfSeveralProcessesByTheMemoryOfTheirFactors) {
  const detail::MatrixShape shape{
      .given = true, .stored = true, .rows = 1000, .cols = 1000, .nnz = 7000};
  const double entries = detail::kFactorShare * detail::host_memory_bytes() / 24 / 2.5;
  const auto filter = [&](int processes) {
    const detail::Facts facts{.A = shape, .processes = processes};
    const detail::MethodChoice choice =
        detail::choose_method({.interval = RealInterval{0, 1}}, facts, [&] {
          return detail::InverseEstimate{{.entries = entries, .operations = 1e6}, 8};
        });
    return choice.request.filter;
  };
  EXPECT_EQ(filter(1), LanczosFilter::inverse);
  EXPECT_EQ(filter(2), LanczosFilter::inverse);
  EXPECT_EQ(filter(3), LanczosFilter::chebyshev);
}

TEST(WithBlockSize, IsNarrowForAFewLargestPairsOnAHost) {
  const auto block = [](const Request& request, const ProblemSizes& sizes, bool on_host) {
    return detail::with_block_size(request, sizes, on_host).block_size;
  };
  const ProblemSizes sizes{.n = 1000};
  const Request largest{.method = Method::block_lanczos, .nev = 8, .which = Which::largest};
  EXPECT_EQ(block(largest, sizes, true), 4);
  EXPECT_EQ(block(largest, {.n = 1000, .cols = 500, .normal_equations = true}, true), 4);
  EXPECT_EQ(block(largest, sizes, false), 0) << "of the method's choice";
  EXPECT_EQ(block(largest, {.n = 1000, .pencil = true}, true), 0);
  Request other = largest;
  other.nev = 9;
  EXPECT_EQ(block(other, sizes, true), 0);
  other = largest;
  other.which = Which::smallest;
  EXPECT_EQ(block(other, sizes, true), 0);
  other = largest;
  other.method = Method::lobpcg;
  EXPECT_EQ(block(other, sizes, true), 0);
  other = largest;
  other.block_size = 16;
  EXPECT_EQ(block(other, sizes, true), 16);
}

TEST(WithBlockSize, FindsAllCopiesOfAMultipleEigenvalue) {
  HostContext context(1);
  std::vector<Triplet<double>> entries;
  for (Index i = 0; i < 900; ++i) entries.push_back({i, i, i % 150 == 0 ? 2.0 : 1e-3 * double(i)});
  const Problem problem{.A = Matrix(csr_from_triplets<double>(context, 900, 900, entries))};
  Device device(DeviceChoice::host, 1);
  for (const Index nev : {6, 7}) {
    const Solution solution = solve(device, problem, {.nev = nev, .which = Which::largest});
    ASSERT_EQ(solution.status, SolveStatus::converged) << solution.reason;
    EXPECT_EQ(solution.block_size, 4);
    for (std::size_t j = 0; j < 6; ++j) EXPECT_NEAR(solution.eigenvalues[j], 2, 1e-8);
    if (nev == 7) {
      EXPECT_NEAR(solution.eigenvalues[6], 0.899, 1e-8);
    }
  }
}

/// A stiff spring in a long chain, whose lowest values LOBPCG does not reach.
Matrix stiff_chain(HostContext& context) {
  constexpr Index n = 600;
  std::vector<Triplet<double>> entries;
  for (Index i = 0; i + 1 < n; ++i) {
    const double k = i % 5 == 2 ? 1e5 : 1;
    entries.insert(entries.end(), {{i, i, k}, {i + 1, i + 1, k}, {i, i + 1, -k}, {i + 1, i, -k}});
  }
  entries.push_back({0, 0, 1});
  return Matrix(csr_from_triplets<double>(context, n, n, entries));
}

TEST(Run, ContinuesWithAnInverseWhereLobpcgDoesNotReachTheDigits) {
  HostContext context(1);
  Device device(DeviceChoice::host, 1);
  Problem problem{.A = stiff_chain(context)};
  const Solution direct = solve(device, problem, {.nev = 3});
  ASSERT_EQ(direct.status, SolveStatus::converged) << direct.reason;
  EXPECT_EQ(direct.method, "block_lanczos");
  SolvePlan by_lobpcg = plan(device, problem, {.method = Method::lobpcg, .nev = 3});
  detail::PlanDetails two_stages = *by_lobpcg.details;
  two_stages.stages = detail::stages_of({by_lobpcg.request, "", true}, two_stages.facts, false);
  by_lobpcg.details = std::make_shared<const detail::PlanDetails>(std::move(two_stages));
  const Solution both = run(device, problem, by_lobpcg);
  ASSERT_EQ(both.status, SolveStatus::converged) << both.reason;
  EXPECT_EQ(both.method, "block_lanczos");
  EXPECT_NE(both.method_reason.find("LOBPCG did not reach the digits"), std::string::npos);
  EXPECT_GT(both.iterations, direct.iterations);
  for (std::size_t j = 0; j < 3; ++j) {
    EXPECT_NEAR(both.eigenvalues[j], direct.eigenvalues[j],
                both.error_bounds[j] + direct.error_bounds[j]);
  }
}

}  // namespace
}  // namespace heddle
