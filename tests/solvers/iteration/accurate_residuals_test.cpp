#include <gtest/gtest.h>

#include <cmath>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/iteration/eigen_verifier.hpp>
#include <heddle/solvers/operators/sparse_operator.hpp>
#include <limits>
#include <vector>

namespace heddle::detail {
namespace {

/// Blocks [a + s, −s; −s, s] with s = 2³⁶, whose small eigenvalue is near a/2.
TEST(EigenVerifierAccuracy, QuotientsBesideStiffRowsHaveAllDigits) {
  HostContext context;
  constexpr Index kRows = 40;
  std::vector<Triplet<double>> entries;
  std::vector<double> expected;
  for (Index i = 0; i < kRows; i += 2) {
    const double soft = 3 + static_cast<double>(i), s = 68719476736;
    entries.push_back({i, i, soft + s});
    entries.push_back({i, i + 1, -s});
    entries.push_back({i + 1, i, -s});
    entries.push_back({i + 1, i + 1, s});
    // λ = det/λ₂ without cancellation.
    const double mean = s + soft / 2;
    expected.push_back(soft * s / (mean + std::hypot(soft / 2, s)));
  }
  SparseOperator<double, HostContext> A(
      context, csr_from_triplets<double>(context, kRows, kRows, entries), {});
  const auto k = static_cast<Index>(expected.size());
  MultiVector<double, HostSpace> V(context, kRows, k), AV(context, kRows, 7);
  set_zero<double>(context, V.view());
  for (Index j = 0; j < k; ++j) {
    const double ratio = 1 - expected[static_cast<std::size_t>(j)] / 68719476736;
    V.view()(2 * j + 1, j) = 1 / std::hypot(1, ratio);
    V.view()(2 * j, j) = ratio / std::hypot(1, ratio);
  }
  const EigenProblem<double, HostContext> problem{.A = &A};
  EigenVerifier<double, HostContext> verifier(context, kRows, kRows, false);
  verifier.norms().prepare(context, problem);
  verifier.set_values(std::vector<double>(static_cast<std::size_t>(k)));
  verifier.measure(context, problem, V.view(), AV.view(), {});
  const EigenConvergence convergence(Criterion::eigenvalue, 1e-12, *A.one_norm(), 1,
                                     std::numeric_limits<double>::epsilon());
  const auto errors = [&] {
    verifier.judge(convergence, {.below = ErrorBounds::kNoneBeyond, .end = Which::smallest});
    return verifier.errors();
  };
  const std::vector<double> before = errors();
  verifier.measure_accurately(context, problem, convergence, V.view(), AV.view(), {});
  const std::vector<double> after = errors();
  for (std::size_t j = 0; j + 1 < expected.size(); ++j) {
    EXPECT_NEAR(verifier.values()[j], expected[j], 1e-13 * expected[j]) << j;
    EXPECT_LE(after[j], before[j] / 5) << j;
  }
}

}  // namespace
}  // namespace heddle::detail
