#include <gtest/gtest.h>

#include <fstream>
#include <heddle/drivers/solve.hpp>
#include <heddle/drivers/solve/team_calls.hpp>
#include <heddle/drivers/team/followers.hpp>
#include <heddle/drivers/team/own_vectors.hpp>
#include <heddle/linalg/distributed/graph_parts.hpp>
#include <heddle/linalg/matrix_market/matrix_market.hpp>
#include <heddle/linalg/numpy/npy.hpp>
#include <sstream>
#include <string>
#include <support/temporary_folder.hpp>
#include <variant>

namespace heddle {
namespace {

using detail::VectorSide;

std::string content(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

/// The .npy and .mtx files of the vectors, one after the other.
std::string files_of(Device& device, const Solution& solution, VectorSide side) {
  const test::TemporaryFolder folder;
  const auto vectors = detail::vectors_of(device, solution, side, solution.count());
  std::visit(
      [&](const auto& X) {
        write_npy(folder.path() / "x.npy", X);
        write_matrix_market(folder.path() / "x.mtx", X);
      },
      vectors);
  return content(folder.path() / "x.npy") + content(folder.path() / "x.mtx");
}

Solution solved(Device& device, Problem problem, const Request& request, bool keeps_vectors) {
  const SolvePlan made = plan(device, problem, request);
  return keeps_vectors ? detail::run_keeping_vectors(device, std::move(problem), made, {})
                       : run(device, std::move(problem), made);
}

/// Files from vectors that each process keeps have the bytes of files from those of process 0.
void expect_same_files(const Problem& problem, const Request& request, int count) {
  Device device(DeviceChoice::host, count, detail::followers(count));
  const Solution whole = solved(device, problem, request, false);
  EXPECT_EQ(whole.own_vectors, nullptr);
  const Solution kept = solved(device, problem, request, true);
  ASSERT_NE(kept.own_vectors, nullptr);
  EXPECT_EQ(std::visit([](const auto& X) { return X.rows(); }, kept.vectors), 0);
  EXPECT_EQ(kept.eigenvalues, whole.eigenvalues);
  EXPECT_EQ(kept.distribution, whole.distribution);
  const std::string files = files_of(device, kept, VectorSide::right);
  EXPECT_EQ(files, files_of(device, whole, VectorSide::right));
  EXPECT_GT(files.size(), static_cast<std::size_t>(problem.A.cols()));
  if (!problem.normal_equations) return;
  EXPECT_EQ(files_of(device, kept, VectorSide::left), files_of(device, whole, VectorSide::left));
}

/// Without the way to write to one file at once, parts are collected.
TEST(OwnVectors, GiveTheSameFilePartByPart) {
  const Problem grid{.A = Matrix::generate({.name = "laplace3d", .size = {5, 6, 17}})};
  Device device(DeviceChoice::host, 3, detail::followers(3));
  const Solution kept = solved(device, grid, {.method = Method::lobpcg, .nev = 3}, true);
  const test::TemporaryFolder folder;
  const auto vectors = detail::vectors_of(device, kept, VectorSide::right, 3);
  auto X = std::get<BlockSource<double>>(vectors);
  const auto write_rows = X.write_rows;
  bool at_once = false;
  X.write_rows = [&](const std::filesystem::path& path, std::size_t offset) {
    at_once = write_rows(path, offset);
    return at_once;
  };
  write_npy(folder.path() / "once.npy", X);
  EXPECT_TRUE(at_once);
  EXPECT_FALSE(write_rows(folder.path() / "missing.npy", 0));
  X.write_rows = nullptr;
  write_npy(folder.path() / "parts.npy", X);
  EXPECT_EQ(content(folder.path() / "once.npy"), content(folder.path() / "parts.npy"));
}

const Request kLobpcg{.method = Method::lobpcg, .nev = 3};

TEST(OwnVectors, GiveTheFilesOfWholeVectors) {
  const Problem grid{.A = Matrix::generate({.name = "laplace3d", .size = {5, 6, 17}})};
  for (const int count : {2, 3, 4}) expect_same_files(grid, kLobpcg, count);
  Request other = kLobpcg;
  other.precision = Precision::single;
  expect_same_files(grid, other, 2);
  other.precision = Precision::mixed;
  expect_same_files(grid, other, 3);
}

TEST(OwnVectors, OfASystemWithoutColumnsThatConvergeAndOfTriplets) {
  Problem grid{.A = Matrix::generate({.name = "laplace2d", .size = {9, 31}})};
  const std::vector<double> ones(279, 1);
  grid.rhs = Block(279, 1, ones);
  expect_same_files(grid, {.method = Method::block_cg, .max_iterations = 2}, 3);
  Problem rectangular{.A = Matrix::generate({.name = "random_uniform", .size = {90, 40}})};
  rectangular.normal_equations = true;
  expect_same_files(rectangular, {.method = Method::block_lanczos, .nev = 3}, 3);
}

/// METIS gives the rows another order during the solve, files have that of the problem.
TEST(OwnVectors, OfAnotherOrderOfRows) {
  const Problem scattered{
      .A = Matrix::generate({.name = "random_symmetric", .size = {300}, .density = 3})};
  if (!detail::no_parts_reason(300, 1200).empty()) GTEST_SKIP() << "this build has no METIS";
  Request request = kLobpcg;
  request.distribution = Distribution::metis;
  for (const int count : {2, 4}) expect_same_files(scattered, request, count);
}

/// What a scaled result has is multiplied by process 0.
TEST(OwnVectors, AreNotKeptOfScaledProblems) {
  const Matrix A = Matrix::generate({.name = "laplace1d", .size = {60}});
  std::vector<double> huge(A.view().values, A.view().values + A.nnz());
  for (double& value : huge) value *= 1e80;
  const CsrView<double, HostSpace> view{
      60, 60, A.nnz(), A.view().row_offsets, A.view().columns, huge.data()};
  Device device(DeviceChoice::host, 2, detail::followers(2));
  const Solution solution = solved(device, {.A = Matrix(view)}, kLobpcg, true);
  EXPECT_EQ(solution.status, SolveStatus::converged) << solution.reason;
  EXPECT_EQ(solution.own_vectors, nullptr);
  EXPECT_EQ(std::visit([](const auto& X) { return X.rows(); }, solution.vectors), 60);
}

TEST(OwnVectors, AreThoseOfProcess0WhereItIsAlone) {
  Device device(DeviceChoice::host, 1);
  const Problem grid{.A = Matrix::generate({.name = "laplace2d", .size = {9, 10}})};
  const Solution solution = solved(device, grid, kLobpcg, true);
  EXPECT_EQ(solution.own_vectors, nullptr);
  EXPECT_FALSE(files_of(device, solution, VectorSide::right).empty());
}

}  // namespace
}  // namespace heddle
