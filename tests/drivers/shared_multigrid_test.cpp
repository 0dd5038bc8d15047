#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <heddle/drivers/solve.hpp>
#include <heddle/drivers/team/followers.hpp>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/distributed/partition.hpp>
#include <heddle/linalg/gallery/gallery.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <memory>
#include <numeric>
#include <random>
#include <support/temporary_folder.hpp>
#include <utility>
#include <variant>
#include <vector>

/// Multigrid by threads of this program in the place of processes.
namespace heddle {
namespace {

struct OfThreads : Device {
  explicit OfThreads(int count) : Device(DeviceChoice::host, count, detail::followers(count)) {}
};

const char* const kMultigrid = "multigrid of A, degree 3";

Request request_for(Method method, const std::string& preconditioner = "multigrid") {
  Request request{.method = method, .preconditioner = {.type = preconditioner}};
  if (is_eigensolver(method)) request.nev = 4;
  return request;
}

ConstBlockView<double, HostSpace> vectors_of(const Solution& solution) {
  return std::get<HostBlock<double>>(solution.vectors).view();
}

/// Two right-hand sides.
Problem with_rhs(Problem problem) {
  const auto context = std::make_shared<HostContext>(1);
  MultiVector<double, HostSpace> R(*context, problem.A.rows(), 2);
  for (Index i = 0; i < R.rows(); ++i) {
    for (Index j = 0; j < 2; ++j) R.view()(i, j) = std::sin(static_cast<double>(i * i % 977 + j));
  }
  problem.rhs = Block(std::move(R), context);
  return problem;
}

Problem body() {
  const auto context = std::make_shared<HostContext>(1);
  const GallerySpec spec{"elasticity3d", {12, 11, 10}};
  return {.A = Matrix::generate(spec),
          .coordinates = Block(node_coordinates(*context, spec), context)};
}

/// The Laplacian of a path through 3000 vertices and of a ring of 2000, with random numbers.
Problem two_graphs() {
  const auto context = std::make_shared<HostContext>(1);
  std::vector<Index> number(5000);
  std::iota(number.begin(), number.end(), 0);
  std::shuffle(number.begin(), number.end(), std::mt19937(3));
  std::vector<Triplet<double>> entries;
  const auto join = [&](std::size_t a, std::size_t b) {
    const Index i = number[a], j = number[b];
    entries.insert(entries.end(), {{i, i, 1}, {j, j, 1}, {i, j, -1}, {j, i, -1}});
  };
  for (std::size_t k = 0; k + 1 < 3000; ++k) join(k, k + 1);
  for (std::size_t k = 3000; k < 5000; ++k) join(k, k + 1 < 5000 ? k + 1 : 3000);
  return {.A = {csr_from_triplets<double>(*context, 5000, 5000, entries), context}};
}

/// Largest difference of entries, relative to the largest entry.
double difference(const Solution& a, const Solution& b) {
  const auto X = vectors_of(a), Y = vectors_of(b);
  double largest = 0, most = 0;
  for (Index i = 0; i < X.rows(); ++i) {
    for (Index j = 0; j < X.cols(); ++j) {
      largest = std::max(largest, std::abs(X(i, j)));
      most = std::max(most, std::abs(X(i, j) - Y(i, j)));
    }
  }
  return most / largest;
}

/// Threads converge as one does, and a second solve has the bits of the first.
void expect_as_one(const Problem& problem, Request request, std::vector<int> counts) {
  request.reorder = RowOrder::none;  // rows of several processes keep their order
  if (problem.rhs.cols() == 0) request.start = StartVectors::random;  // as theirs
  Device alone(DeviceChoice::host, 1);
  const Solution one = solve(alone, problem, request);
  ASSERT_EQ(one.status, SolveStatus::converged) << one.reason;
  ASSERT_EQ(one.preconditioner_name, kMultigrid) << one.preconditioner_reason;
  for (const int count : counts) {
    SCOPED_TRACE(count);
    OfThreads device(count);
    const Solution several = solve(device, problem, request);
    ASSERT_EQ(several.status, one.status) << several.reason;
    EXPECT_EQ(several.preconditioner_name, kMultigrid) << several.preconditioner_reason;
    EXPECT_NEAR(static_cast<double>(several.iterations), static_cast<double>(one.iterations), 2);
    ASSERT_GT(several.preconditioner_levels.size(), 1U);
    EXPECT_EQ(several.preconditioner_levels[0].rows, problem.A.rows());
    EXPECT_EQ(several.preconditioner_levels[0].nnz, one.preconditioner_levels[0].nnz);
    for (std::size_t k = 0; k < one.eigenvalues.size(); ++k) {
      EXPECT_NEAR(several.eigenvalues[k], one.eigenvalues[k],
                  2 * one.error_bounds[k] + 1e-12 * std::abs(one.eigenvalues[k]));
    }
    if (problem.rhs.cols() > 0) {
      EXPECT_LE(difference(one, several), 1e-5);
    }
    const Solution again = solve(device, problem, request);
    EXPECT_EQ(again.iterations, several.iterations);
    EXPECT_EQ(again.residuals, several.residuals);
    EXPECT_EQ(again.eigenvalues, several.eigenvalues);
    EXPECT_EQ(difference(again, several), 0);
  }
}

TEST(SharedMultigrid, ConvergesAsThatOfOneThread) {
  const Problem grid{.A = Matrix::generate({.name = "laplace3d", .size = {21, 20, 22}})};
  expect_as_one(grid, request_for(Method::lobpcg), {2, 4});
  expect_as_one(with_rhs(grid), request_for(Method::block_cg), {3});
  Request mixed = request_for(Method::lobpcg);
  mixed.precision = Precision::mixed;
  expect_as_one(grid, mixed, {3});
}

/// Borders between threads fall between nodes.
TEST(SharedMultigrid, TakesRigidBodyMotions) {
  expect_as_one(body(), request_for(Method::lobpcg), {2});
  expect_as_one(with_rhs(body()), request_for(Method::block_cg), {3});
  OfThreads device(3);
  const Solution solution = solve(device, with_rhs(body()), request_for(Method::block_cg));
  const std::vector<OperatorLevel>& levels = solution.preconditioner_levels;
  EXPECT_EQ(levels[1].rows, 6 * levels[0].aggregates);
}

TEST(SharedMultigrid, OfSingularMatricesInAnyDistribution) {
  for (const Distribution asked : {Distribution::rows, Distribution::automatic}) {
    Request request = request_for(Method::lobpcg);
    request.distribution = asked;
    expect_as_one(two_graphs(), request, {3});
  }
}

TEST(SharedMultigrid, OfFewRows) {
  for (const Index rows : {Index{12}, Index{50}, Index{301}}) {
    Request request = request_for(Method::lobpcg);
    request.nev = 2;
    expect_as_one({.A = Matrix::generate({"laplace1d", {rows}})}, request, {2, 4});
  }
}

/// A partition that would keep nodes together is impossible with fewer nodes than threads.
TEST(SharedMultigrid, OfFewerNodesThanThreads) {
  Request request = request_for(Method::block_cg);
  request.preconditioner.options = {{"unknowns", Index{4}}};
  const Problem problem = with_rhs({.A = Matrix::generate({"laplace1d", {12}})});
  OfThreads device(4);
  try {
    solve(device, problem, request);
    ADD_FAILURE() << "it returned";
  } catch (const InvalidArgument& error) {
    EXPECT_NE(std::string(error.what()).find("end within a node of 4"), std::string::npos);
  }
  request.preconditioner.options = {};
  OfThreads other(4);
  EXPECT_EQ(solve(other, problem, request).status, SolveStatus::converged);
}

TEST(SharedMultigrid, IsRefusedAsByOneThread) {
  HostContext context(1);
  HostCsrMatrix<double> A = generate<double>(context, {"laplace2d", {60, 70}});
  for (Index i = 0; i < A.rows(); ++i) {
    for (std::int64_t e = A.view().row_offsets[i]; e < A.view().row_offsets[i + 1]; ++e) {
      if (A.view().columns[e] == i) A.values()[e] -= 1;
    }
  }
  const Problem shifted{.A = Matrix(std::move(A))};
  const auto refusal = [&](Device& device) -> std::string {
    try {
      solve(device, shifted, request_for(Method::lobpcg));
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "";
  };
  Device alone(DeviceChoice::host, 1);
  OfThreads device(3);
  EXPECT_EQ(refusal(device), refusal(alone));
}

TEST(SharedMultigrid, AutoTakesItAsOneThreadDoes) {
  const Problem grid{.A = Matrix::generate({"laplace2d", {150, 160}})};
  expect_as_one(grid, request_for(Method::lobpcg, "auto"), {3});
  expect_as_one(with_rhs(grid), request_for(Method::block_cg, "auto"), {2});
}

TEST(SharedMultigrid, ASolveThatAutoBeganWithItResumes) {
  const test::TemporaryFolder folder;
  const Problem grid{.A = Matrix::generate({"laplace2d", {150, 160}})};
  Request request = request_for(Method::lobpcg, "auto");
  OfThreads device(3);
  const Solution whole = solve(device, grid, request);
  request.checkpoint.file = folder.path() / "state";
  request.max_iterations = 12;
  EXPECT_EQ(solve(device, grid, request).status, SolveStatus::max_iterations);
  request.max_iterations = 0;
  request.checkpoint.resume = true;
  const Solution resumed = solve(device, grid, request);
  EXPECT_EQ(resumed.preconditioner_name, kMultigrid);
  EXPECT_EQ(resumed.iterations, whole.iterations);
  EXPECT_EQ(resumed.eigenvalues, whole.eigenvalues);
}

}  // namespace
}  // namespace heddle
