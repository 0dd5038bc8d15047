#include <gtest/gtest.h>

#include <heddle/drivers/inspect/regular_pencil.hpp>
#include <heddle/drivers/solve.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <random>
#include <string>
#include <vector>

namespace heddle {
namespace {

using Triplets = std::vector<Triplet<double>>;

struct Edge {
  Index from, to;
};

/// The Laplacian of a graph whose edges have random weights between 1 and 2.
HostCsrMatrix<double> laplacian(HostContext& host, Index n, const std::vector<Edge>& edges,
                                unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> weights(1, 2);
  Triplets entries;
  for (const auto& [i, j] : edges) {
    const double w = weights(random);
    entries.insert(entries.end(), {{i, i, w}, {j, j, w}, {i, j, -w}, {j, i, -w}});
  }
  return csr_from_triplets<double>(host, n, n, entries);
}

HostCsrMatrix<double> diagonal(HostContext& host, const std::vector<double>& values) {
  const auto n = std::ssize(values);
  Triplets entries;
  for (Index i = 0; i < n; ++i) entries.push_back({i, i, values[static_cast<std::size_t>(i)]});
  return csr_from_triplets<double>(host, n, n, entries);
}

/// Paths of some lengths beside each other, with chords.
std::vector<Edge> paths(Index n, Index parts) {
  std::vector<Edge> edges;
  const Index length = n / parts;
  for (Index i = 0; i + 1 < n; ++i) {
    if ((i + 1) % length != 0) edges.push_back({i, i + 1});
    if (i % 7 == 0 && i / length == (i + 5) / length) edges.push_back({i, i + 5});
  }
  return edges;
}

/// The edges of an m×m×m grid.
std::vector<Edge> cube(Index m) {
  std::vector<Edge> edges;
  for (Index i = 0; i < m * m * m; ++i) {
    if (i % m + 1 < m) edges.push_back({i, i + 1});
    if (i / m % m + 1 < m) edges.push_back({i, i + m});
    if (i / (m * m) + 1 < m) edges.push_back({i, i + m * m});
  }
  return edges;
}

Matrix as_matrix(const HostCsrMatrix<double>& A) {
  const CsrView<double, HostSpace> view = A.view();
  return {view.rows,
          view.cols,
          {view.row_offsets, static_cast<std::size_t>(view.rows + 1)},
          {view.columns, static_cast<std::size_t>(view.nnz)},
          {view.values, static_cast<std::size_t>(view.nnz)}};
}

/// What `solve` says when it refuses, else nothing.
std::string refusal(const HostCsrMatrix<double>& A, const HostCsrMatrix<double>& B,
                    const Request& request) {
  try {
    solve({.A = as_matrix(A), .B = as_matrix(B)}, request);
  } catch (const ProblemError& error) {
    return error.what();
  }
  return "";
}

bool is_regular(HostContext& host, const HostCsrMatrix<double>& A, const HostCsrMatrix<double>& B,
                bool singular_mass) {
  try {
    detail::check_regular(host, A.view(), B.view(), singular_mass, {});
  } catch (const ProblemError&) {
    return false;
  }
  return true;
}

/// Two Laplacians of one graph: constants on its components are null vectors of both. Pivots of B
/// are rounding errors at the end of each component.
TEST(RegularPencil, TwoLaplaciansAreRefusedByEveryMethodAtBothEnds) {
  HostContext host(1);
  for (const Index n : {12, 300, 3000}) {
    for (const Index parts : {1, 3}) {
      const HostCsrMatrix<double> A = laplacian(host, n, paths(n, parts), 1);
      const HostCsrMatrix<double> B = laplacian(host, n, paths(n, parts), 2);
      for (const Method method : {Method::automatic, Method::lobpcg, Method::block_lanczos}) {
        for (const Which which : {Which::smallest, Which::largest}) {
          for (const Precision precision : {Precision::full, Precision::single, Precision::mixed}) {
            const std::string said =
                refusal(A, B, {.method = method, .nev = 2, .which = which, .precision = precision});
            EXPECT_NE(said.find("common null vector"), std::string::npos) << n << ": " << said;
          }
        }
      }
    }
  }
}

TEST(RegularPencil, AnEmptyRowIsNamedAndCanBeDeleted) {
  HostContext host(1);
  std::vector<double> stiffness(40, 2), masses(40, 1);
  stiffness[16] = masses[16] = 0;
  const HostCsrMatrix<double> A = diagonal(host, stiffness), B = diagonal(host, masses);
  const std::string said = refusal(A, B, {.nev = 2});
  EXPECT_NE(said.find("largest in row 17: every number is an eigenvalue"), std::string::npos)
      << said;
  const HostCsrMatrix<double> fewer_A = diagonal(host, std::vector<double>(39, 2));
  const HostCsrMatrix<double> fewer_B = diagonal(host, std::vector<double>(39, 1));
  EXPECT_EQ(refusal(fewer_A, fewer_B, {.nev = 2}), "");
}

/// The advice of the message: with a row and column deleted, the other eigenvalues are those on the
/// complement of the null vector. Both Laplacians are multiples here, so that all of them are 3.
TEST(RegularPencil, DeletingTheRowKeepsTheOtherEigenvalues) {
  HostContext host(1);
  const Index n = 30;
  const HostCsrMatrix<double> B = laplacian(host, n, paths(n, 1), 5);
  Triplets entries_A, entries_B;
  for (Index i = 1; i < n; ++i) {
    for (Index k = B.view().row_offsets[i]; k < B.view().row_offsets[i + 1]; ++k) {
      const Index j = B.view().columns[k];
      if (j == 0) continue;
      entries_A.push_back({i - 1, j - 1, 3 * B.view().values[k]});
      entries_B.push_back({i - 1, j - 1, B.view().values[k]});
    }
  }
  const HostCsrMatrix<double> A_left = csr_from_triplets<double>(host, n - 1, n - 1, entries_A);
  const HostCsrMatrix<double> B_left = csr_from_triplets<double>(host, n - 1, n - 1, entries_B);
  const Solution solution = solve({.A = as_matrix(A_left), .B = as_matrix(B_left)}, {.nev = n - 2});
  ASSERT_EQ(solution.status, SolveStatus::converged) << solution.reason;
  for (const double value : solution.eigenvalues) EXPECT_NEAR(value, 3, 1e-8);
}

/// Above the order of factors, by conjugate gradients.
TEST(RegularPencil, LargeLaplaciansAreRefused) {
  HostContext host(2);
  const Index m = 28, n = m * m * m;
  const HostCsrMatrix<double> A = laplacian(host, n, cube(m), 1);
  const HostCsrMatrix<double> B = laplacian(host, n, cube(m), 2);
  EXPECT_NE(refusal(A, B, {.nev = 2}).find("common null vector"), std::string::npos);
  const HostCsrMatrix<double> masses = diagonal(host, std::vector<double>(n, 1e-9));
  EXPECT_TRUE(is_regular(host, A, masses, false));
  EXPECT_TRUE(is_regular(host, masses, B, false));
  std::vector<double> graded(static_cast<std::size_t>(n), 1), with_gaps = graded;
  for (std::size_t i = 0; i < graded.size(); ++i) {
    graded[i] = std::pow(10, -static_cast<double>(i % 7));
    if (i % 3 == 0) with_gaps[i] = 0;
  }
  EXPECT_TRUE(is_regular(host, A, diagonal(host, graded), false));
  EXPECT_TRUE(is_regular(host, A, diagonal(host, with_gaps), true));
}

/// A and B each have a null space, without a common vector.
TEST(RegularPencil, SingularMatricesWithoutACommonNullVectorPass) {
  HostContext host(1);
  const Index n = 200;
  const HostCsrMatrix<double> A = laplacian(host, n, paths(n, 2), 1);
  std::vector<double> masses(static_cast<std::size_t>(n), 0);
  masses[3] = 1e-6;  // a mass in each body
  masses[150] = 1e6;
  EXPECT_TRUE(is_regular(host, A, diagonal(host, masses), true));
  masses[150] = 0;  // the second body has none
  EXPECT_FALSE(is_regular(host, A, diagonal(host, masses), true));
  // A body without mass, held by springs of 1e-9.
  Triplets held;
  for (Index i = 0; i < n; ++i) {
    for (Index k = A.view().row_offsets[i]; k < A.view().row_offsets[i + 1]; ++k) {
      held.push_back({i, A.view().columns[k], A.view().values[k]});
    }
  }
  held.push_back({150, 150, 1e-9});
  EXPECT_TRUE(
      is_regular(host, csr_from_triplets<double>(host, n, n, held), diagonal(host, masses), true));
  // Indefinite, and its own inverse: no vector has A z = 0.
  Triplets swapped;
  for (Index i = 0; i < n; ++i) swapped.push_back({i, n - 1 - i, 1});
  EXPECT_TRUE(is_regular(host, csr_from_triplets<double>(host, n, n, swapped),
                         diagonal(host, masses), true));
}

TEST(RegularPencil, ASearchInALargePencilCanBeStopped) {
  HostContext host(1);
  const Index n = 30 * 30 * 30;  // too many rows for a factor
  const HostCsrMatrix<double> A = laplacian(host, n, cube(30), 1);
  const HostCsrMatrix<double> B = laplacian(host, n, cube(30), 2);
  std::vector<std::string> stages;
  int looks = 0;
  Monitor monitor;
  monitor.stage = [&](std::string_view stage) { stages.emplace_back(stage); };
  monitor.stop = [&] { return ++looks >= 3; };
  EXPECT_NO_THROW(detail::check_regular(host, A.view(), B.view(), false, monitor))
      << "the search has not come to its end";
  EXPECT_LE(looks, 4) << "the search with B and that with A + sB end at once";
  EXPECT_EQ(stages, (std::vector<std::string>{"looking for a null vector of both matrices"}));
  looks = 0;
  Triplets held = {{0, 0, 1e-9}};  // so that no graph shows the common null vector at once
  for (Index i = 0; i < n; ++i) {
    for (Index k = A.view().row_offsets[i]; k < A.view().row_offsets[i + 1]; ++k) {
      held.push_back({i, A.view().columns[k], A.view().values[k]});
    }
  }
  const Solution solution =
      solve({.A = as_matrix(csr_from_triplets<double>(host, n, n, held)), .B = as_matrix(B)},
            {.method = Method::lobpcg, .nev = 2}, monitor);
  EXPECT_EQ(solution.status, SolveStatus::interrupted) << solution.reason;
}

}  // namespace
}  // namespace heddle
