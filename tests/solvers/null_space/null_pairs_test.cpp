#include <gtest/gtest.h>

#include <heddle/linalg/base/error.hpp>
#include <heddle/solvers/lanczos/block_lanczos.hpp>
#include <heddle/solvers/lobpcg/lobpcg.hpp>
#include <heddle/solvers/null_space/null_pairs.hpp>
#include <heddle/solvers/operators/sparse_operator.hpp>
#include <heddle/solvers/preconditioners/jacobi/jacobi.hpp>
#include <optional>

#include "solvers/null_space/graphs.hpp"
#include "support/dense.hpp"
#include "support/sanitized.hpp"

namespace heddle {
namespace {

using test::laplacian_of;
using test::random_parts;

constexpr Index kOrder = 400;
const std::vector<Index> kParts = {1, 120, 9, 150, 120};  // five zeros

/// λ of A x = λ B x, ascending.
Eigen::VectorXd pencil_values(const Eigen::MatrixXd& A, const Eigen::MatrixXd& B) {
  return test::eigenvalues(A, B);
}

/// A mass matrix that couples rows of different components of A: tridiagonal, or diagonal.
HostCsrMatrix<double> mass_matrix(HostContext& context, Index n, bool diagonal) {
  std::vector<Triplet<double>> entries;
  for (Index i = 0; i < n; ++i) entries.push_back({i, i, 2 + 1.0 / static_cast<double>(i + 1)});
  for (Index i = 0; i + 1 < n && !diagonal; ++i) {
    entries.insert(entries.end(), {{i, i + 1, 0.5}, {i + 1, i, 0.5}});
  }
  return csr_from_triplets<double>(context, n, n, entries);
}

/// Each value within its bound and a tolerance of the exact one, and the vectors as orthonormal and
/// as exact as the result says.
template <Scalar T>
void expect_result(const EigenResult<T, HostSpace>& result, const Eigen::MatrixXd& A,
                   const Eigen::MatrixXd& B, Index nev) {
  ASSERT_EQ(result.status, SolveStatus::converged) << result.reason;
  const Eigen::VectorXd exact = pencil_values(A, B);
  const double eps = static_cast<double>(std::numeric_limits<T>::epsilon());
  const double rounding = 20 * eps * A.norm();
  ASSERT_EQ(std::ssize(result.eigenvalues), nev);
  const Eigen::MatrixXd X =
      test::to_dense<T>(ConstBlockView<T, HostSpace>(result.eigenvectors.columns(0, nev)));
  EXPECT_LE((X.transpose() * B * X - Eigen::MatrixXd::Identity(nev, nev)).cwiseAbs().maxCoeff(),
            1e3 * eps);
  for (Index j = 0; j < nev; ++j) {
    const auto place = static_cast<std::size_t>(j);
    EXPECT_NEAR(result.eigenvalues[place], exact[j], result.error_bounds[place] + rounding) << j;
    EXPECT_LE(result.error_bounds[place], 1e-4 * std::abs(exact[j]) + rounding) << j;
    const double residual = (A * X.col(j) - result.eigenvalues[place] * B * X.col(j)).norm();
    EXPECT_LE(residual, std::sqrt(eps) * A.norm()) << j;
  }
}

template <class T>
class NullPairs : public testing::Test {};
using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(NullPairs, Scalars);

/// A Laplacian with five components, as rounded to T, with its null vectors.
template <Scalar T>
struct Graph {
  HostContext context{2};
  HostCsrMatrix<double> exact = laplacian_of(context, kOrder, random_parts(kParts, 19));
  SparseOperator<T, HostContext> A{context, convert<T>(context, exact.view())};
  Eigen::MatrixXd dense = test::to_dense(A.matrix());
  GraphNullSpace found = graph_null_space<T>(context, A.matrix(), 100);
};

TYPED_TEST(NullPairs, AreTheWholeSolutionWhereThereAreEnough) {
  using T = TypeParam;
  Graph<T> graph;
  ASSERT_EQ(graph.found.dimension, 5);
  for (const int mass : {0, 1, 2}) {
    std::optional<SparseOperator<T, HostContext>> B;
    const auto M = mass_matrix(graph.context, kOrder, mass == 1);
    if (mass > 0) B.emplace(graph.context, convert<T>(graph.context, M.view()));
    SparseOperator<T, HostContext>* const times_B = B ? &*B : nullptr;
    const auto Z =
        null_vectors<T, HostContext>(graph.context, graph.context, graph.found, 5, times_B);
    EigenProblem<T, HostContext> problem{&graph.A, times_B};
    problem.null_vectors = Z.view();
    const auto result = null_pairs<T, HostContext>(graph.context, problem, {.nev = 4});
    const Eigen::MatrixXd dense_B = B ? test::to_dense(B->matrix())
                                      : Eigen::MatrixXd(Eigen::MatrixXd::Identity(kOrder, kOrder));
    expect_result<T>(result, graph.dense, dense_B, 4);
    EXPECT_EQ(result.iterations, 0);
    ASSERT_EQ(result.history.size(), 1u);
    EXPECT_EQ(result.history[0].converged, 4);
  }
}

TYPED_TEST(NullPairs, AreKnownToTheSolversFromTheStart) {
  using T = TypeParam;
  Graph<T> graph;
  EigenProblem<T, HostContext> problem{&graph.A};
  const auto Z = null_vectors<T, HostContext>(graph.context, graph.context, graph.found, 5);
  problem.null_vectors = Z.view();
  const Eigen::MatrixXd identity = Eigen::MatrixXd::Identity(kOrder, kOrder);
  for (const Index nev : {6, 14}) {
    const EigenOptions options{.nev = nev, .block_size = 4};
    problem.shifted_inverse = nullptr;
    const auto filtered = block_lanczos<T, HostContext>(graph.context, problem, {options});
    expect_result<T>(filtered, graph.dense, identity, nev);
    const auto iterated = lobpcg<T, HostContext>(graph.context, problem, {options});
    expect_result<T>(iterated, graph.dense, identity, nev);
    ShiftedInverse<T, HostContext> inverse(graph.A.matrix());
    problem.shifted_inverse = &inverse;
    BlockLanczosOptions inverted{options};
    inverted.filter = LanczosFilter::inverse;
    const auto factored = block_lanczos<T, HostContext>(graph.context, problem, inverted);
    expect_result<T>(factored, graph.dense, identity, nev);
    EXPECT_LT(inverse.shift(), 0) << "A itself is singular";
  }
}

TEST(NullPairs, ManyOfThemCostNoProducts) {
  HostContext context(2);
  const Index parts = test::kSanitized ? 30 : 60, n = 10 * parts;
  const std::vector<Index> sizes(static_cast<std::size_t>(parts), 10);
  SparseOperator<double, HostContext> A(context, laplacian_of(context, n, random_parts(sizes, 31)));
  const GraphNullSpace found = graph_null_space<double>(context, A.matrix(), 64);
  ASSERT_EQ(found.dimension, parts);
  const auto Z = null_vectors<double, HostContext>(context, context, found, parts);
  const Eigen::MatrixXd identity = Eigen::MatrixXd::Identity(n, n);
  EigenProblem<double, HostContext> problem{&A};
  const auto solve = [&](bool lanczos) {
    const EigenOptions options{.nev = parts + 4, .block_size = 8};
    const auto result = lanczos ? block_lanczos<double, HostContext>(context, problem, {options})
                                : lobpcg<double, HostContext>(context, problem, {options});
    expect_result<double>(result, test::to_dense(A.matrix()), identity, parts + 4);
    return result.operator_applications;
  };
  for (const bool lanczos : {false, true}) {
    problem.null_vectors = {};
    const Index unknown = solve(lanczos);
    problem.null_vectors = Z.view();
    EXPECT_LT(solve(lanczos), unknown / 2) << lanczos;
  }
}

/// A mass matrix that is not diagonal leaves block Lanczos without B⁻¹, in standard form.
TEST(NullPairs, OfAPencilAreKnownToTheSolvers) {
  HEDDLE_SKIP_WITH_SANITIZER();
  Graph<double> graph;
  for (const bool diagonal : {true, false}) {
    SparseOperator<double, HostContext> B(graph.context,
                                          mass_matrix(graph.context, kOrder, diagonal));
    const Eigen::MatrixXd dense_B = test::to_dense(B.matrix());
    EigenProblem<double, HostContext> problem{&graph.A, &B};
    const auto Z =
        null_vectors<double, HostContext>(graph.context, graph.context, graph.found, 5, &B);
    problem.null_vectors = Z.view();
    expect_result<double>(lobpcg<double, HostContext>(graph.context, problem, {{.nev = 8}}),
                          graph.dense, dense_B, 8);
    std::optional<JacobiPreconditioner<double, HostContext>> B_inverse;
    if (diagonal) B_inverse.emplace(graph.context, B.matrix());
    problem.B_inverse = diagonal ? &*B_inverse : nullptr;
    ShiftedInverse<double, HostContext> inverse(graph.A.matrix(), B.matrix());
    problem.shifted_inverse = &inverse;
    for (const LanczosFilter filter : {LanczosFilter::automatic, LanczosFilter::inverse}) {
      BlockLanczosOptions options{{.nev = 8}};
      options.filter = filter;
      expect_result<double>(block_lanczos<double, HostContext>(graph.context, problem, options),
                            graph.dense, dense_B, 8);
    }
  }
}

/// A joint of 1e-15 between two components leaves one null vector of both, and an eigenvalue that
/// is zero to rounding.
TEST(NullPairs, LeaveZerosToRoundingToTheSolvers) {
  HostContext context(2);
  std::vector<test::Edge> edges = random_parts({200, 200}, 23);
  Index other = 1;
  while (other < kOrder) {
    std::vector<test::Edge> joined = edges;
    joined.push_back({0, other, 1e-15});
    const auto A = laplacian_of(context, kOrder, joined);
    if (graph_null_space(context, A.view(), 9).dimension == 1) break;
    ++other;
  }
  edges.push_back({0, other, 1e-15});
  SparseOperator<double, HostContext> A(context, laplacian_of(context, kOrder, edges));
  const GraphNullSpace found = graph_null_space<double>(context, A.matrix(), 9);
  ASSERT_EQ(found.dimension, 1);
  const auto Z = null_vectors<double, HostContext>(context, context, found, 1);
  EigenProblem<double, HostContext> problem{&A};
  problem.null_vectors = Z.view();
  ShiftedInverse<double, HostContext> inverse(A.matrix());
  problem.shifted_inverse = &inverse;
  const Eigen::MatrixXd identity = Eigen::MatrixXd::Identity(kOrder, kOrder);
  const Eigen::MatrixXd dense = test::to_dense(A.matrix());
  for (const LanczosFilter filter : {LanczosFilter::chebyshev, LanczosFilter::inverse}) {
    BlockLanczosOptions options{{.nev = 5}};
    options.filter = filter;
    expect_result<double>(block_lanczos<double, HostContext>(context, problem, options), dense,
                          identity, 5);
  }
  expect_result<double>(lobpcg<double, HostContext>(context, problem, {{.nev = 5}}), dense,
                        identity, 5);
}

TEST(NullPairs, RefuseWhatTheyDoNotSuit) {
  Graph<double> graph;
  HostContext& context = graph.context;
  const auto Z = null_vectors<double, HostContext>(context, context, graph.found, 5);
  EigenProblem<double, HostContext> problem{&graph.A};
  problem.null_vectors = Z.view();
  const auto refused = [](const auto& call, const char* words) {
    try {
      call();
      ADD_FAILURE() << "nothing was thrown for: " << words;
    } catch (const InvalidArgument& error) {
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    }
  };
  refused([&] { null_pairs<double, HostContext>(context, problem, {.nev = 6}); },
          "nev is 6, there are 5 null vectors");
  refused([&] { lobpcg<double, HostContext>(context, problem, {{.nev = 5}}); }, "use null_pairs");
  refused([&] { block_lanczos<double, HostContext>(context, problem, {{.nev = 5}}); },
          "use null_pairs");
  refused(
      [&] {
        block_lanczos<double, HostContext>(context, problem, {{.nev = 9, .which = Which::largest}});
      },
      "smallest end");
  problem.constraints = Z.columns(0, 1);
  refused([&] { lobpcg<double, HostContext>(context, problem, {{.nev = 9}}); }, "constraints");
}

}  // namespace
}  // namespace heddle
