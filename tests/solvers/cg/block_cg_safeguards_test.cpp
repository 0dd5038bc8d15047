#include <gtest/gtest.h>

#include <algorithm>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/preconditioners/jacobi/jacobi.hpp>

#include "solvers/linear_test_support.hpp"

/// Problems that block CG solves, or gives up in time, only because of one of its safeguards.
namespace heddle {
namespace {

using test::make_operator;
using test::random_vectors;

constexpr CgAlgorithm kBoth[] = {CgAlgorithm::breakdown_free, CgAlgorithm::pseudo_block};

/// The Laplacian of a path of n vertices plus `shift` on the diagonal.
template <Scalar T>
SparseOperator<T, HostContext> path(HostContext& context, Index n, double shift = 0) {
  std::vector<Triplet<T>> entries;
  for (Index i = 0; i < n; ++i) {
    const double degree = i == 0 || i == n - 1 ? 1 : 2;
    entries.push_back({i, i, static_cast<T>(degree + shift)});
    if (i > 0) entries.insert(entries.end(), {{i, i - 1, -1}, {i - 1, i, -1}});
  }
  return {context, csr_from_triplets<T>(context, n, n, entries)};
}

/// A diagonal matrix that knows its norm.
class KnownDiagonal final : public LinearOperator<double, HostContext> {
 public:
  explicit KnownDiagonal(std::vector<double> diagonal)
      : LinearOperator(std::ssize(diagonal), std::ssize(diagonal)),
        diagonal_(std::move(diagonal)) {}
  std::optional<double> one_norm() const override {
    return *std::max_element(diagonal_.begin(), diagonal_.end());
  }

 private:
  void apply_block(HostContext&, ConstBlockView<double, HostSpace> X,
                   BlockView<double, HostSpace> Y) override {
    for (Index i = 0; i < X.rows(); ++i) {
      const double entry = diagonal_[static_cast<std::size_t>(i)];
      for (Index j = 0; j < X.cols(); ++j) Y(i, j) = entry * X(i, j);
    }
  }

  std::vector<double> diagonal_;
};

/// CG on each column takes rᵀM⁻¹r from the step before: where a fresh residual is another vector,
/// it must begin anew.
TEST(BlockCgSafeguards, ARecurrenceThatHasGoneAstrayStartsAnew) {
  HostContext context;
  auto A = path<double>(context, 200, 1e-4);
  auto B = random_vectors<double>(context, 200, 4);
  for (Index j = 0; j < 4; ++j) {
    double mean = 0;
    for (Index i = 0; i < 200; ++i) mean += B.view()(i, j) / 200;
    for (Index i = 0; i < 200; ++i) B.view()(i, j) -= mean;
  }
  BlockCgOptions options;
  options.algorithm = CgAlgorithm::pseudo_block;
  options.tolerance = 1e-13;
  const auto result = block_cg<double, HostContext>(context, {&A, nullptr, B.view()}, options);
  EXPECT_EQ(result.status, SolveStatus::converged) << result.reason;
  EXPECT_LE(result.iterations, 240);
}

/// PᵀAP is decomposed before its factor is lost to rounding, so the end is seen when it comes.
TEST(BlockCgSafeguards, ASingularMatrixIsSeenWhenItsRangeIsExhausted) {
  HostContext context;
  for (const Index n : {40, 200}) {
    auto A = path<double>(context, n);
    for (const std::uint64_t stream : {0U, 1U, 2U}) {
      const auto b = random_vectors<double>(context, n, 1, stream);
      const auto result = block_cg<double, HostContext>(context, {&A, nullptr, b.view()}, {});
      EXPECT_EQ(result.status, SolveStatus::breakdown) << result.reason;
      EXPECT_LE(result.iterations, n + 5);
    }
  }
}

/// Near the end converged columns are worth more as directions than as products saved: without
/// them an ill-conditioned problem takes up to half as many passes again.
TEST(BlockCgSafeguards, ColumnsStayTogetherNearTheEnd) {
  HostContext context;
  auto A = make_operator<double>(context, {"laplace2d", {40, 41}});
  const auto B = random_vectors<double>(context, A.rows(), 16);
  BlockCgOptions options;
  options.tolerance = 1e-8;
  options.refresh_interval = 1000;
  const auto result = block_cg<double, HostContext>(context, {&A, nullptr, B.view()}, options);
  EXPECT_EQ(result.status, SolveStatus::converged) << result.reason;
  for (std::size_t k = 0; k + 1 < result.history.size(); ++k) {
    if (result.history[k + 1].active_columns == result.history[k].active_columns) continue;
    EXPECT_GE(result.history[k].worst_residual, 10 * options.tolerance) << "iteration " << k;
  }
}

/// Directions that are nearly dependent are made orthonormal again or dropped, not carried along.
TEST(BlockCgSafeguards, ColumnsThatDifferByRoundingShareDirections) {
  HostContext context;
  auto A = make_operator<float>(context, {"laplace2d", {20, 21}});
  auto B = random_vectors<float>(context, A.rows(), 16);
  for (Index i = 0; i < A.rows(); ++i) {
    for (Index j = 1; j < 16; ++j) B.view()(i, j) = B.view()(i, 0) + 1e-7F * B.view()(i, j);
  }
  const auto result = block_cg<float, HostContext>(context, {&A, nullptr, B.view()}, {});
  EXPECT_EQ(result.status, SolveStatus::converged) << result.reason;
  EXPECT_LE(result.operator_applications, 8 * result.iterations);
}

/// What says that residuals stand still at the level of rounding are fresh residuals and ‖x‖.
TEST(BlockCgSafeguards, StagnationIsSeenWithoutRefreshes) {
  HostContext context;
  auto A = path<float>(context, 200);
  const auto b = random_vectors<float>(context, 200, 1);
  for (const CgAlgorithm algorithm : kBoth) {
    BlockCgOptions options;
    options.algorithm = algorithm;
    options.refresh_interval = 1000000;
    options.max_iterations = 3000;
    const auto result = block_cg<float, HostContext>(context, {&A, nullptr, b.view()}, options);
    EXPECT_EQ(result.status, SolveStatus::stagnated) << result.reason;
  }
}

/// Four clusters four orders of magnitude apart: residuals stand still for hundreds of iterations
/// while the backward error is at rounding, then fall by many digits.
TEST(BlockCgSafeguards, PatienceGrowsWithTheIterations) {
  HostContext context;
  const Index n = 300;
  std::vector<double> diagonal;
  for (Index i = 0; i < n; ++i) {
    const double within = static_cast<double>(i % 75) / 75;
    diagonal.push_back(std::pow(1e4, static_cast<double>(i / 75)) * (1 + within));
  }
  KnownDiagonal A(diagonal);
  const auto b = random_vectors<double>(context, n, 1);
  for (const CgAlgorithm algorithm : kBoth) {
    BlockCgOptions options;
    options.algorithm = algorithm;
    options.tolerance = 1e-9;
    const auto result = block_cg<double, HostContext>(context, {&A, nullptr, b.view()}, options);
    EXPECT_EQ(result.status, SolveStatus::converged) << result.reason;
  }
}

/// At the edge of what the precision can reach, a claim of convergence that is refuted and brings
/// nothing is often followed by one that holds.
TEST(BlockCgSafeguards, OneFruitlessClaimIsNoEnd) {
  HostContext context;
  auto A = make_operator<double>(context, {"elasticity3d", {3, 3, 3}});
  const auto B = random_vectors<double>(context, A.rows(), 20);
  for (const CgAlgorithm algorithm : kBoth) {
    BlockCgOptions options;
    options.algorithm = algorithm;
    options.tolerance = 1e-15;
    Index converged = 0;
    for (Index j = 0; j < 20; ++j) {
      const auto b = B.columns(j, 1);
      const auto result = block_cg<double, HostContext>(context, {&A, nullptr, b}, options);
      converged += result.status == SolveStatus::converged;
    }
    EXPECT_GE(converged, 14);
  }
}

/// A positive definite matrix with a condition number of 2·10⁵. What rounding leaves grows in the
/// recurrence until no step makes sense, which does not make the matrix singular.
TEST(BlockCgSafeguards, AToleranceBelowRoundingIsNotTakenForASingularMatrix) {
  HostContext context;
  BlockCgOptions options;
  options.algorithm = CgAlgorithm::pseudo_block;
  auto A = make_operator<double>(context, {"laplace1d", {700}});
  JacobiPreconditioner<double, HostContext> jacobi(context, A.matrix());
  for (const Index columns : {1, 4}) {
    const auto B = random_vectors<double>(context, 700, columns);
    options.tolerance = 1e-15;
    const auto result = block_cg<double, HostContext>(context, {&A, &jacobi, B.view()}, options);
    EXPECT_EQ(result.status, SolveStatus::stagnated) << result.reason;
    for (const double error : result.backward_errors) EXPECT_LE(error, 1e-12);
  }
}

}  // namespace
}  // namespace heddle
