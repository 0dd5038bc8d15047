#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <heddle/drivers/solve.hpp>
#include <heddle/drivers/solve/team_calls.hpp>
#include <heddle/drivers/team/followers.hpp>
#include <heddle/drivers/team/own_rows.hpp>
#include <heddle/drivers/team/share.hpp>
#include <heddle/linalg/distributed/graph_parts.hpp>
#include <heddle/linalg/matrix_market/matrix_market.hpp>
#include <string>
#include <support/on_threads.hpp>
#include <support/temporary_folder.hpp>
#include <vector>

namespace heddle {
namespace {

using detail::MatricesByRows;
using detail::RowSource;
using test::on_threads;

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

std::string name_of(const RowSource& source) {
  const auto* const spec = std::get_if<GallerySpec>(&source);
  return spec != nullptr ? spec->name : std::get<MatrixMarketFile>(source).path.string();
}

/// As `detail::own_rows_of`, for matrices whose files have been looked at.
std::optional<Problem> made_by(Device& device, const MatricesByRows& matrices,
                               const Request& request) {
  const auto named = [](const RowSource& source) -> detail::NamedMatrices::Source {
    const auto* const spec = std::get_if<GallerySpec>(&source);
    if (spec != nullptr) return *spec;
    return std::get<MatrixMarketFile>(source).path;
  };
  detail::NamedMatrices asked{
      .A = named(matrices.A), .random_rhs = matrices.random_rhs, .ones_rhs = matrices.ones_rhs};
  if (matrices.B) asked.B = named(*matrices.B);
  return detail::own_rows_of(device, asked, request);
}

Matrix whole_of(const RowSource& source) {
  const auto* const spec = std::get_if<GallerySpec>(&source);
  return spec != nullptr ? Matrix::generate(*spec)
                         : Matrix::read(std::get<MatrixMarketFile>(source).path);
}

/// The rows that processes make or read have the bits of those that process 0 sends. `unknowns`:
/// those of a node.
void expect_rows_of_whole(const MatricesByRows& matrices, int count, Index unknowns = 1) {
  const Request request{.distribution = Distribution::rows};
  ASSERT_TRUE(detail::suits_own_rows(matrices, request, count)) << name_of(matrices.A);
  const auto whole = [&] {
    Problem problem{.A = whole_of(matrices.A)};
    if (matrices.B) problem.B = whole_of(*matrices.B);
    problem.unknowns = unknowns;
    return problem;
  };
  const Problem all = whole();
  on_threads(count, [&](HostContext& context) {
    const auto made = detail::own_rows(context, matrices, request);
    const bool leads = context.processes()->leads();
    const Problem known = leads ? whole() : Problem{};
    const auto sent =
        detail::share(context, known, detail::shape_of(known, count), Distribution::rows);
    ASSERT_TRUE(made) << name_of(matrices.A);
    EXPECT_EQ(made->unknowns, unknowns);
    EXPECT_EQ(made->A.whole()->partition->ranges.begins, sent.partition.ranges.begins)
        << name_of(matrices.A);
    if (leads) {
      EXPECT_EQ(made->A.whole()->partition->reason, sent.partition.reason);
    }
    EXPECT_EQ(made->A.rows(), all.A.rows());
    EXPECT_EQ(made->A.nnz(), all.A.nnz());
    EXPECT_EQ(made->A.largest(), all.A.largest());
    const auto found = made->A.distributed_view(), wanted = sent.problem.A.distributed_view();
    expect_same_bits(found.own, wanted.own);
    expect_same_bits(found.others().entries.view(), wanted.others().entries.view());
    ASSERT_EQ(made->B.has_value(), matrices.B.has_value());
    if (!made->B) return;
    EXPECT_EQ(made->B->nnz(), all.B->nnz());
    expect_same_bits(made->B->distributed_view().own, sent.problem.B->distributed_view().own);
  });
}

TEST(OwnRows, HaveTheBitsOfThoseThatProcess0Sends) {
  for (const int count : {2, 3, 4}) {
    expect_rows_of_whole({GallerySpec{.name = "laplace3d", .size = {4, 5, 20}}}, count);
    expect_rows_of_whole({GallerySpec{.name = "wathen", .size = {4, 15}}}, count);
    expect_rows_of_whole({GallerySpec{.name = "trefethen", .size = {200}}}, count);
    expect_rows_of_whole(
        {GallerySpec{.name = "random_symmetric", .size = {300}, .density = 5, .seed = 7}}, count);
    expect_rows_of_whole({GallerySpec{.name = "elasticity3d", .size = {2, 3, 4}},
                          GallerySpec{.name = "elasticity3d_mass", .size = {2, 3, 4}}},
                         count, 3);
    expect_rows_of_whole({GallerySpec{.name = "mikota_stiffness", .size = {50}},
                          GallerySpec{.name = "mikota_mass", .size = {50}}},
                         count);
  }
  expect_rows_of_whole({GallerySpec{.name = "laplace1d", .size = {3}}}, 3);
}

/// What the request says of the unknowns per node goes before what a generated matrix is known for.
TEST(OwnRows, KeepTheNodesOfTheRequestTogether) {
  Request request{.distribution = Distribution::rows};
  request.preconditioner.options = {{"unknowns", Index{4}}};
  on_threads(3, [&](HostContext& context) {
    const MatricesByRows grid{GallerySpec{.name = "laplace2d", .size = {21, 20}}};
    const auto made = detail::own_rows(context, grid, request);
    ASSERT_TRUE(made);
    EXPECT_EQ(made->unknowns, 4);
    for (const Index begin : made->A.whole()->partition->ranges.begins) EXPECT_EQ(begin % 4, 0);
  });
}

/// The other processes release their rows in the first solve.
TEST(OwnRows, AreSolvedWithOnce) {
  const MatricesByRows line{GallerySpec{.name = "laplace1d", .size = {50}}};
  const Request request{.method = Method::lobpcg, .nev = 2};
  Device device(DeviceChoice::host, 2, detail::followers(2));
  const Problem made = made_by(device, line, request).value_or(Problem{});
  EXPECT_EQ(solve(device, made, request).status, SolveStatus::converged);
  EXPECT_THROW(solve(device, made, request), InvalidArgument);
}

/// A solve with own rows has the bits of one whose rows process 0 has sent.
void expect_same_solve(const MatricesByRows& matrices, Request request, int count) {
  request.distribution = Distribution::rows;
  Device device(DeviceChoice::host, count, detail::followers(count));
  Problem whole{.A = whole_of(matrices.A)};
  if (matrices.B) whole.B = whole_of(*matrices.B);
  const std::vector<double> ones(static_cast<std::size_t>(whole.A.rows()), 1);
  const bool linear = request.method == Method::block_cg;
  if (linear) whole.rhs = Block(whole.A.rows(), 1, ones);
  const Solution expected = solve(device, whole, request);
  EXPECT_EQ(expected.status, SolveStatus::converged) << expected.reason;
  auto made = made_by(device, matrices, request);
  ASSERT_TRUE(made);
  EXPECT_EQ(detail::shape_of(*made, 2).own_rhs, matrices.ones_rhs > 0);
  if (linear && !detail::shape_of(*made, 2).own_rhs) made->rhs = whole.rhs;
  const Solution solution = solve(device, std::move(*made), request);
  EXPECT_EQ(solution.eigenvalues, expected.eigenvalues);
  EXPECT_EQ(solution.residuals, expected.residuals);
  EXPECT_EQ(solution.iterations, expected.iterations);
  EXPECT_EQ(solution.distribution, expected.distribution);
}

TEST(OwnRows, GiveSolvesTheBitsOfTheWhole) {
  const MatricesByRows grid{GallerySpec{.name = "laplace3d", .size = {6, 7, 20}}};
  const MatricesByRows beam{GallerySpec{.name = "elasticity3d", .size = {2, 3, 4}},
                            GallerySpec{.name = "elasticity3d_mass", .size = {2, 3, 4}}};
  expect_same_solve(grid, {.method = Method::lobpcg, .nev = 4}, 3);
  expect_same_solve(grid, {.method = Method::lobpcg, .nev = 3, .precision = Precision::single}, 2);
  expect_same_solve(grid, {.method = Method::lobpcg, .nev = 3, .precision = Precision::mixed}, 4);
  expect_same_solve(grid, {.method = Method::block_lanczos, .nev = 3, .which = Which::largest}, 2);
  expect_same_solve(grid, {.method = Method::block_cg}, 3);
  MatricesByRows system = grid;
  system.ones_rhs = 1;
  expect_same_solve(system, {.method = Method::block_cg}, 3);
  expect_same_solve(system, {.method = Method::block_cg, .precision = Precision::single}, 2);
  expect_same_solve(system, {.method = Method::block_cg, .precision = Precision::mixed}, 4);
  expect_same_solve(beam, {.nev = 4}, 2);
}

TEST(OwnRows, AreForKnownDefiniteMatrices) {
  const auto suits = [](const MatricesByRows& matrices, int processes,
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
    EXPECT_FALSE(suits({GallerySpec{.name = name, .size = {9}}}, 2)) << name;
  }
  EXPECT_FALSE(suits({GallerySpec{.name = "laplace2d", .size = {9}}}, 2));
  EXPECT_FALSE(suits({GallerySpec{.name = "laplace1d", .size = {9}, .density = 3}}, 2));
}

/// Right-hand sides of any rows are those rows of the whole block.
TEST(OwnRows, HaveTheRightHandSidesOfTheWhole) {
  HostContext context(1);
  for (const MatricesByRows& asked :
       {MatricesByRows{.random_rhs = 3}, MatricesByRows{.ones_rhs = 2}}) {
    const Block whole =
        detail::generated_rhs<double>(context, asked.random_rhs, asked.ones_rhs, 7, 0, 50);
    const Block part =
        detail::generated_rhs<double>(context, asked.random_rhs, asked.ones_rhs, 7, 20, 13);
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
  const MatricesByRows scattered{GallerySpec{.name = "random_symmetric", .size = {400}}};
  Device device(DeviceChoice::host, 2, detail::followers(2));
  const bool has_metis = detail::no_parts_reason(400, 6800).empty();
  EXPECT_EQ(made_by(device, scattered, {}).has_value(), !has_metis);
  const auto in_order = made_by(device, scattered, {.distribution = Distribution::rows});
  EXPECT_TRUE(in_order);
  const MatricesByRows grid{GallerySpec{.name = "laplace3d", .size = {5, 5, 24}}};  // a halo of 1/6
  EXPECT_TRUE(made_by(device, grid, {}));
}

/// No process holds more than its share of the entries twice, as made and as distributed.
TEST(OwnRows, TakeTheMemoryOfTheirShare) {
  const MatricesByRows matrices{GallerySpec{.name = "laplace3d", .size = {8, 8, 400}}};
  HostContext alone(1);
  const double bytes = static_cast<double>([&] {
    const HostCsrMatrix<double> A = generate<double>(alone, std::get<GallerySpec>(matrices.A));
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

/// Problems whose matrices are files.
class OwnRowsOfFiles : public testing::Test {
 protected:
  RowSource written(const GallerySpec& spec, bool symmetric = false) {
    HostContext context(1);
    const auto path = folder_.path() / (std::to_string(++files_) + ".mtx");
    write_matrix_market(path, generate<double>(context, spec).view(), symmetric);
    return file_by_parts(path).value();
  }
  RowSource of_text(const std::string& text) {
    return file_by_parts(folder_.write(std::to_string(++files_) + ".mtx", text)).value();
  }

  /// Whether two processes get the matrices by rows.
  static bool by_rows(const MatricesByRows& matrices, const Request& request) {
    if (!detail::suits_own_rows(matrices, request, 2)) return false;
    Device device(DeviceChoice::host, 2, detail::followers(2));
    return made_by(device, matrices, request).has_value();
  }

  test::TemporaryFolder folder_;
  int files_ = 0;
};

TEST_F(OwnRowsOfFiles, HaveTheBitsOfThoseThatProcess0Sends) {
  const GallerySpec grid{.name = "laplace3d", .size = {4, 5, 20}};
  const GallerySpec beam{.name = "elasticity3d", .size = {8, 8, 30}};  // more than 20·60 rows
  for (const int count : {2, 3, 4}) {
    expect_rows_of_whole({written(grid)}, count);
    expect_rows_of_whole({written(grid, true)}, count);
    expect_rows_of_whole({written(GallerySpec{.name = "mikota_stiffness", .size = {50}}),
                          written(GallerySpec{.name = "mikota_mass", .size = {50}}, true)},
                         count);
    expect_rows_of_whole({written(beam, true)}, count, 3);
  }
}

TEST_F(OwnRowsOfFiles, GiveSolvesTheBitsOfTheWhole) {
  const RowSource grid = written(GallerySpec{.name = "laplace3d", .size = {6, 7, 20}}, true);
  expect_same_solve({grid}, {.method = Method::lobpcg, .nev = 4}, 3);
  expect_same_solve({grid, {}, 0, 1}, {.method = Method::block_cg}, 2);
  expect_same_solve({written(GallerySpec{.name = "elasticity3d", .size = {4, 4, 12}})},
                    {.method = Method::lobpcg, .nev = 3, .preconditioner = {.type = "multigrid"}},
                    3);
}

/// What process 0 has to look for in the whole is left to it.
TEST_F(OwnRowsOfFiles, AreLeftToProcess0) {
  const Request smallest{.method = Method::lobpcg, .distribution = Distribution::rows};
  Request largest = smallest;
  largest.which = Which::largest;
  const std::string ring =
      "%%MatrixMarket matrix coordinate integer symmetric\n3 3 6\n1 1 2\n"
      "2 2 2\n3 3 2\n2 1 -1\n3 2 -1\n3 1 -1\n";
  EXPECT_FALSE(by_rows({of_text(ring)}, smallest));  // a null vector
  EXPECT_TRUE(by_rows({of_text(ring)}, largest));
  const std::string general =
      "%%MatrixMarket matrix coordinate real general\n3 3 5\n1 1 2\n"
      "2 2 2\n3 3 2\n3 1 -1\n1 3 ";
  EXPECT_TRUE(by_rows({of_text(general + "-1\n")}, smallest));
  EXPECT_FALSE(by_rows({of_text(general + "-1.001\n")}, smallest));  // not symmetric
  EXPECT_FALSE(by_rows({of_text(general + "-1x\n")}, smallest));
  const std::string twice =
      "%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 1e308\n"
      "2 2 1\n1 1 1e308\n";
  EXPECT_FALSE(by_rows({of_text(twice)}, largest));  // a sum that is not finite
  const std::string skew = "%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 1\n2 1 1\n";
  EXPECT_FALSE(by_rows({of_text(skew)}, smallest));
  const GallerySpec line{.name = "laplace1d", .size = {50}};
  EXPECT_TRUE(by_rows({line, written(GallerySpec{.name = "mikota_mass", .size = {50}})}, smallest));
  EXPECT_FALSE(by_rows({line, written(line)}, smallest));  // not dominant enough
  EXPECT_FALSE(
      by_rows({line, written(GallerySpec{.name = "mikota_mass", .size = {51}})}, smallest));
}

}  // namespace
}  // namespace heddle
