#include <gtest/gtest.h>

#include <heddle/drivers/plan/details.hpp>
#include <heddle/drivers/plan/make_plan.hpp>
#include <heddle/drivers/solve.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/spmm/spmm.hpp>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace heddle {
namespace {

Matrix generated(const std::string& name, const std::vector<Index>& size) {
  return Matrix::generate({.name = name, .size = size});
}

/// The choices of a plan by name.
std::map<std::string, PlannedChoice> choices(const SolvePlan& plan) {
  std::map<std::string, PlannedChoice> found;
  for (PlannedChoice& choice : plan.choices()) found.emplace(choice.name, std::move(choice));
  return found;
}

TEST(AutomaticPreconditioner, IsAnnouncedWithAllThatItMayTake) {
  HostContext context;
  const auto announced = [](const Request& request, const Problem& problem, bool on_gpu) {
    const detail::Facts facts = detail::shape_of(problem, 1);
    return detail::describe_preconditioner(request, facts,
                                           detail::plan_preconditioner(request, facts), on_gpu);
  };
  Problem problem{.A = Matrix::generate({"laplace2d", {12, 13}})};
  EXPECT_EQ(announced({.method = Method::lobpcg}, problem, true),
            "chebyshev of A, degree auto, or multigrid");
  EXPECT_EQ(announced({.method = Method::lobpcg}, problem, false),
            "chebyshev of A, degree auto, or multigrid, or jacobi");
  problem.rhs = Block(MultiVector<double, HostSpace>(context, 156, 2));
  EXPECT_EQ(announced({.method = Method::block_cg}, problem, false),
            "chebyshev of A, degree auto, or multigrid, or jacobi, or cholesky");
  problem.rhs = Block(MultiVector<double, HostSpace>(context, 156, 1));
  EXPECT_EQ(announced({.method = Method::block_cg}, problem, false),
            "jacobi of A, or multigrid, or cholesky, or incomplete_cholesky");
  EXPECT_EQ(announced({.method = Method::block_cg}, problem, true),
            "chebyshev of A, degree auto, or multigrid");
}

TEST(Plan, NamesWhatItFoundAndChose) {
  Device device(DeviceChoice::host, 2);
  const Problem grid{.A = generated("laplace2d", {30, 20}), .B = generated("mikota_mass", {600})};
  auto found = choices(plan(device, grid, {.nev = 3}));
  EXPECT_EQ(found.at("matrix").value, "600 x 600, 2900 entries");
  EXPECT_EQ(found.at("mass").value, "600 x 600, 600 entries, diagonal");
  EXPECT_EQ(found.at("method").value, "block_lanczos");
  EXPECT_NE(found.at("method").reason.find("is cheap"), std::string::npos);
  EXPECT_EQ(found.at("scaling").value, "none");
  EXPECT_EQ(found.at("row order").value, "none");
  EXPECT_FALSE(found.at("row order").reason.empty());
  EXPECT_EQ(found.count("second stage"), 0U);

  const Problem cube{.A = generated("laplace3d", {40, 40, 40})};
  found = choices(plan(device, cube, {}));
  EXPECT_EQ(found.at("method").value, "lobpcg");
  EXPECT_EQ(found.at("second stage").value, "block_lanczos");
  EXPECT_EQ(found.at("preconditioner").value,
            "chebyshev of A, degree auto, or multigrid, or jacobi");
  EXPECT_FALSE(found.at("preconditioner precision").reason.empty());
}

/// A penalty of 1e12 makes the rows graded, or held.
TEST(Plan, NamesWhatPenaltiesAskFor) {
  HostContext context(1);
  Device device(DeviceChoice::host, 1);
  std::vector<Triplet<double>> entries;
  for (Index i = 0; i < 500; ++i) {
    entries.push_back({i, i, i == 0 ? 1e12 : 2.0});
    if (i > 0) entries.insert(entries.end(), {{i, i - 1, -1}, {i - 1, i, -1}});
  }
  Problem chain{.A = Matrix(csr_from_triplets<double>(context, 500, 500, entries))};
  EXPECT_NE(choices(plan(device, chain, {.nev = 3})).at("scaling").value.find("by rows"),
            std::string::npos);
  std::vector<double> b(500, 0);
  b[0] = 3e12;
  chain.rhs = Block(500, 1, b);
  const SolvePlan linear = plan(device, chain, {});
  EXPECT_EQ(choices(linear).at("held rows").value, "1 are eliminated");
  EXPECT_EQ(chain.rhs.view()(0, 0), 3e12) << "the problem is never written to";
  EXPECT_EQ(run(device, chain, linear).status, SolveStatus::converged);
}

TEST(Plan, RunsAsOftenAsItIsAsked) {
  Device device(DeviceChoice::host, 1);
  const Problem grid{.A = generated("laplace2d", {30, 20})};
  const SolvePlan made = plan(device, grid, {.nev = 3});
  const Solution first = run(device, grid, made), second = run(device, grid, made);
  EXPECT_EQ(first.eigenvalues, second.eigenvalues);
  EXPECT_EQ(first.eigenvalues, solve(device, grid, {.nev = 3}).eigenvalues);
}

TEST(Plan, OfAnotherProblemIsRefused) {
  Device device(DeviceChoice::host, 1);
  const Problem grid{.A = generated("laplace2d", {30, 20})};
  const Problem line{.A = generated("laplace1d", {600})};
  EXPECT_THROW(run(device, line, plan(device, grid, {})), InvalidArgument);
  EXPECT_THROW(run(device, grid, SolvePlan{}), InvalidArgument);
}

/// A plan for a GPU needs none, as long as it is not run.
TEST(Plan, ForAGpuIsMadeWithoutOne) {
  HostContext host(2);
  const detail::Machine gpu{
      .on_gpu = true, .name = "a GPU", .memory_bytes = 1e6, .kernels = spmm_choices()};
  const Problem cube{.A = generated("laplace3d", {40, 40, 40})};
  try {
    detail::make_plan(host, gpu, cube, {.method = Method::lobpcg}, {});
    FAIL() << "the problem does not fit";
  } catch (const OutOfMemory& error) {
    EXPECT_NE(std::string(error.what()).find("a GPU has 1000000"), std::string::npos);
  }
}

}  // namespace
}  // namespace heddle
