#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <heddle/drivers/followers.hpp>
#include <heddle/drivers/own_rows.hpp>
#include <heddle/drivers/share.hpp>
#include <heddle/drivers/solve.hpp>
#include <heddle/linalg/context/thread_team.hpp>
#include <heddle/linalg/distributed/graph_parts.hpp>
#include <thread>
#include <vector>

namespace heddle {
namespace {

using detail::GeneratedMatrices;

/// Runs body(context) on `count` threads in the place of processes.
template <class Body>
void on_threads(int count, const Body& body) {
  detail::ThreadTeam team(count);
  {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < count; ++rank) {
      threads.emplace_back([&, member = team.member(rank)] {
        try {
          HostContext context(1, member);
          body(context);
        } catch (...) {
          team.fail(std::current_exception());
        }
      });
    }
  }
  EXPECT_EQ(team.failure(), nullptr);
}

template <class T>
bool equal(const T* a, const T* b, Index count) {
  return std::equal(a, a + count, b);
}

void expect_same_bits(const CsrView<double, HostSpace>& a, const CsrView<double, HostSpace>& b) {
  ASSERT_EQ(a.rows, b.rows);
  ASSERT_EQ(a.cols, b.cols);
  ASSERT_EQ(a.nnz, b.nnz);
  EXPECT_TRUE(equal(a.row_offsets, b.row_offsets, a.rows + 1));
  EXPECT_TRUE(equal(a.columns, b.columns, a.nnz));
  EXPECT_TRUE(equal(a.values, b.values, a.nnz));
}

/// The rows that processes make have the bits of those that process 0 sends.
void expect_rows_of_whole(const GeneratedMatrices& matrices, int count) {
  const Request request{.distribution = Distribution::rows};
  ASSERT_TRUE(detail::suits_own_rows(matrices, request, count)) << matrices.A.name;
  const auto whole = [&] {
    Problem problem{.A = Matrix::generate(matrices.A)};
    if (matrices.B) problem.B = Matrix::generate(*matrices.B);
    for (const GalleryStructure& structure : gallery_structures()) {
      if (structure.name == matrices.A.name) problem.unknowns = structure.unknowns;
    }
    return problem;
  };
  const Problem all = whole();
  on_threads(count, [&](HostContext& context) {
    const auto made = detail::own_rows(context, matrices, request);
    const bool leads = context.processes()->leads();
    const auto sent = detail::share(context, leads ? whole() : Problem{}, Distribution::rows);
    ASSERT_TRUE(made) << matrices.A.name;
    EXPECT_EQ(made->own_rows->ranges.begins, sent.partition.ranges.begins) << matrices.A.name;
    if (leads) {
      EXPECT_EQ(made->own_rows->reason, sent.partition.reason);
    }
    EXPECT_EQ(made->A.rows(), all.A.rows());
    EXPECT_EQ(made->A.nnz(), all.A.nnz());
    EXPECT_EQ(made->A.largest(), all.A.largest());
    expect_same_bits(made->A.view(), sent.problem.A.view());
    expect_same_bits(made->A.view().remote->entries.view(),
                     sent.problem.A.view().remote->entries.view());
    ASSERT_EQ(made->B.has_value(), matrices.B.has_value());
    if (!made->B) return;
    EXPECT_EQ(made->B->nnz(), all.B->nnz());
    expect_same_bits(made->B->view(), sent.problem.B->view());
  });
}

TEST(OwnRows, HaveTheBitsOfThoseThatProcess0Sends) {
  for (const int count : {2, 3, 4}) {
    expect_rows_of_whole({{.name = "laplace3d", .size = {4, 5, 20}}}, count);
    expect_rows_of_whole({{.name = "wathen", .size = {4, 15}}}, count);
    expect_rows_of_whole({{.name = "trefethen", .size = {200}}}, count);
    expect_rows_of_whole({{.name = "random_symmetric", .size = {300}, .density = 5, .seed = 7}},
                         count);
    expect_rows_of_whole({{.name = "elasticity3d", .size = {2, 3, 4}},
                          GallerySpec{.name = "elasticity3d_mass", .size = {2, 3, 4}}},
                         count);
    expect_rows_of_whole({{.name = "mikota_stiffness", .size = {50}},
                          GallerySpec{.name = "mikota_mass", .size = {50}}},
                         count);
  }
  expect_rows_of_whole({{.name = "laplace1d", .size = {3}}}, 3);
}

/// The other processes release their rows in the first solve.
TEST(OwnRows, AreSolvedWithOnce) {
  const GeneratedMatrices line{{.name = "laplace1d", .size = {50}}};
  const Request request{.method = Method::lobpcg, .nev = 2};
  Device device(DeviceChoice::host, 2, detail::followers(2));
  const Problem made = detail::make_own_rows(device, line, request).value_or(Problem{});
  EXPECT_EQ(solve(device, made, request).status, SolveStatus::converged);
  EXPECT_THROW(solve(device, made, request), InvalidArgument);
}

/// A solve with own rows has the bits of one whose rows process 0 has sent.
void expect_same_solve(const GeneratedMatrices& matrices, Request request, int count) {
  request.distribution = Distribution::rows;
  Device device(DeviceChoice::host, count, detail::followers(count));
  Problem whole{.A = Matrix::generate(matrices.A)};
  if (matrices.B) whole.B = Matrix::generate(*matrices.B);
  const std::vector<double> ones(static_cast<std::size_t>(whole.order()), 1);
  const bool linear = request.method == Method::block_cg;
  if (linear) whole.rhs = Block(whole.order(), 1, ones);
  const Solution expected = solve(device, whole, request);
  EXPECT_EQ(expected.status, SolveStatus::converged) << expected.reason;
  auto made = detail::make_own_rows(device, matrices, request);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->own_rhs, matrices.ones_rhs > 0);
  if (linear && !made->own_rhs) made->rhs = whole.rhs;
  const Solution solution = solve(device, std::move(*made), request);
  EXPECT_EQ(solution.eigenvalues, expected.eigenvalues);
  EXPECT_EQ(solution.residuals, expected.residuals);
  EXPECT_EQ(solution.iterations, expected.iterations);
  EXPECT_EQ(solution.distribution, expected.distribution);
}

TEST(OwnRows, GiveSolvesTheBitsOfTheWhole) {
  const GeneratedMatrices grid{{.name = "laplace3d", .size = {6, 7, 20}}};
  const GeneratedMatrices beam{{.name = "elasticity3d", .size = {2, 3, 4}},
                               GallerySpec{.name = "elasticity3d_mass", .size = {2, 3, 4}}};
  expect_same_solve(grid, {.method = Method::lobpcg, .nev = 4}, 3);
  expect_same_solve(grid, {.method = Method::lobpcg, .nev = 3, .precision = Precision::single}, 2);
  expect_same_solve(grid, {.method = Method::lobpcg, .nev = 3, .precision = Precision::mixed}, 4);
  expect_same_solve(grid, {.method = Method::block_lanczos, .nev = 3, .which = Which::largest}, 2);
  expect_same_solve(grid, {.method = Method::block_cg}, 3);
  GeneratedMatrices system = grid;
  system.ones_rhs = 1;
  expect_same_solve(system, {.method = Method::block_cg}, 3);
  expect_same_solve(system, {.method = Method::block_cg, .precision = Precision::single}, 2);
  expect_same_solve(system, {.method = Method::block_cg, .precision = Precision::mixed}, 4);
  expect_same_solve(beam, {.nev = 4}, 2);
}

TEST(OwnRows, AreForKnownDefiniteMatrices) {
  const auto suits = [](const GeneratedMatrices& matrices, int processes,
                        Distribution distribution = Distribution::automatic) {
    return detail::suits_own_rows(matrices, {.distribution = distribution}, processes);
  };
  const GallerySpec line{.name = "laplace1d", .size = {50}};
  EXPECT_TRUE(suits({line}, 2));
  EXPECT_TRUE(suits({line, GallerySpec{.name = "mikota_mass", .size = {50}}}, 2));
  EXPECT_FALSE(suits({line}, 1));
  EXPECT_FALSE(suits({line}, 51));
  EXPECT_FALSE(suits({line}, 2, Distribution::metis));
  EXPECT_FALSE(suits({line, GallerySpec{.name = "mikota_mass", .size = {51}}}, 2));
  EXPECT_FALSE(suits({line, GallerySpec{.name = "rmat", .size = {6}}}, 2));
  for (const char* const name : {"rmat", "random_geometric", "random_uniform", "laplace4d"}) {
    EXPECT_FALSE(suits({{.name = name, .size = {9}}}, 2)) << name;
  }
  EXPECT_FALSE(suits({{.name = "laplace2d", .size = {9}}}, 2));
  EXPECT_FALSE(suits({{.name = "laplace1d", .size = {9}, .density = 3}}, 2));
}

/// Right-hand sides of any rows are those rows of the whole block.
TEST(OwnRows, HaveTheRightHandSidesOfTheWhole) {
  HostContext context(1);
  for (const GeneratedMatrices& asked :
       {GeneratedMatrices{.random_rhs = 3}, GeneratedMatrices{.ones_rhs = 2}}) {
    const Block whole = detail::generated_rhs(context, asked, 7, 0, 50);
    const Block part = detail::generated_rhs(context, asked, 7, 20, 13);
    ASSERT_EQ(part.rows(), 13);
    ASSERT_EQ(part.cols(), whole.cols());
    for (Index i = 0; i < 13; ++i) {
      for (Index j = 0; j < part.cols(); ++j) {
        EXPECT_EQ(part.view()(i, j), whole.view()(20 + i, j));
        EXPECT_TRUE(asked.random_rhs > 0 || part.view()(i, j) == 1);
      }
    }
  }
}

/// Where METIS may find a smaller halo, process 0 needs the whole matrix.
TEST(OwnRows, AreNotMadeWhereMetisMayDoBetter) {
  const GeneratedMatrices scattered{{.name = "random_symmetric", .size = {400}}};
  Device device(DeviceChoice::host, 2, detail::followers(2));
  const bool has_metis = detail::no_parts_reason(400, 6800).empty();
  EXPECT_EQ(detail::make_own_rows(device, scattered, {}).has_value(), !has_metis);
  const auto in_order =
      detail::make_own_rows(device, scattered, {.distribution = Distribution::rows});
  EXPECT_TRUE(in_order);
  const GeneratedMatrices grid{{.name = "laplace3d", .size = {5, 5, 24}}};  // a halo of 1/6
  EXPECT_TRUE(detail::make_own_rows(device, grid, {}));
}

/// No process holds more than its share of the entries twice, as made and as distributed.
TEST(OwnRows, TakeTheMemoryOfTheirShare) {
  const GeneratedMatrices matrices{{.name = "laplace3d", .size = {8, 8, 400}}};
  HostContext alone(1);
  const double bytes = static_cast<double>([&] {
    const HostCsrMatrix<double> A = generate<double>(alone, matrices.A);
    return alone.allocation_count().live_bytes;
  }());
  for (const int count : {2, 4, 8}) {
    on_threads(count, [&](HostContext& context) {
      const auto made = detail::own_rows(context, matrices, {.distribution = Distribution::rows});
      const auto peak = static_cast<double>(context.allocation_count().peak_bytes);
      EXPECT_LT(peak, 2.1 * bytes / count) << count;
    });
  }
}

}  // namespace
}  // namespace heddle
