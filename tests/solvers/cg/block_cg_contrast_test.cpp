#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/operators/sparse_operator.hpp>
#include <string>
#include <vector>

#include "solvers/linear_test_support.hpp"
#include "support/sanitized.hpp"

namespace heddle {
namespace {

using test::DiagonalOperator;

/// A chain of n rows between two grounds, with springs of stiffness 1 and of a `contrast`.
struct Chain {
  std::vector<double> stiffness{};  // n + 1, the first and the last to the grounds

  /// Stiff springs, except for every `period`th one.
  static Chain every(Index n, double contrast, Index period) {
    Chain chain;
    for (Index i = 0; i <= n; ++i) {
      chain.stiffness.push_back(i % period == period - 1 ? 1 : contrast);
    }
    return chain;
  }

  /// Stiff springs, except for those after a third and a half of the rows.
  static Chain with_joints(Index n, double contrast) {
    Chain chain{std::vector<double>(static_cast<std::size_t>(n) + 1, contrast)};
    chain.at(n / 3) = chain.at(n / 2) = 1;
    return chain;
  }

  double& at(Index i) { return stiffness[static_cast<std::size_t>(i)]; }
  double at(Index i) const { return stiffness[static_cast<std::size_t>(i)]; }
  Index rows() const { return std::ssize(stiffness) - 1; }

  /// Sums of two of its stiffnesses are exact.
  HostCsrMatrix<double> matrix(HostContext& context) const {
    std::vector<Triplet<double>> entries;
    for (Index i = 0; i < rows(); ++i) {
      entries.push_back({i, i, at(i) + at(i + 1)});
      if (i == 0) continue;
      entries.push_back({i, i - 1, -at(i)});
      entries.push_back({i - 1, i, -at(i)});
    }
    return csr_from_triplets<double>(context, rows(), rows(), entries);
  }

  /// The response to a force on row j: A⁻¹e_j, by sums of positive numbers only.
  std::vector<double> response(Index j, double force) const {
    std::vector<long double> before(1, 0);  // flexibilities of springs 0 … i
    for (const double k : stiffness)
      before.push_back(before.back() + 1 / static_cast<long double>(k));
    std::vector<long double> after(1, 0);  // of springs i + 1 … n
    for (Index i = rows(); i > 0; --i)
      after.push_back(after.back() + 1 / static_cast<long double>(at(i)));
    const auto till = [&](Index i) { return before[static_cast<std::size_t>(i) + 1]; };
    const auto from = [&](Index i) { return after[static_cast<std::size_t>(rows() - i)]; };
    std::vector<double> x;
    for (Index i = 0; i < rows(); ++i) {
      const long double product = till(std::min(i, j)) * from(std::max(i, j)) / before.back();
      x.push_back(static_cast<double>(force * product));
    }
    return x;
  }
};

struct Errors {
  double norm = 0, energy = 0;  // relative
};

Errors errors(const Chain& chain, ConstBlockView<double, HostSpace> X, Index j,
              const std::vector<double>& exact) {
  double error = 0, size = 0, energy_error = 0, energy = 0;
  double last_error = 0, last = 0;
  for (Index i = 0; i <= chain.rows(); ++i) {
    const double x = i < chain.rows() ? exact[static_cast<std::size_t>(i)] : 0;
    const double e = i < chain.rows() ? X(i, j) - x : 0;
    error += e * e;
    size += x * x;
    energy_error += chain.at(i) * std::pow(e - last_error, 2);
    energy += chain.at(i) * std::pow(x - last, 2);
    last_error = e;
    last = x;
  }
  return {std::sqrt(error / size), std::sqrt(energy_error / energy)};
}

/// Forces that hold the first row at 1, and others in the middle.
std::vector<std::pair<Index, double>> forces(const Chain& chain, Index columns) {
  std::vector<std::pair<Index, double>> all{{0, chain.at(0)}};
  if (columns > 1) all.emplace_back(chain.rows() / 2, 1);
  if (columns > 2) all.emplace_back(chain.rows() / 4, chain.at(0));
  return all;
}

class BlockCgContrast : public ::testing::TestWithParam<CgAlgorithm> {
 protected:
  LinearResult<double, HostSpace> solve(const Chain& chain, Index columns, bool jacobi) {
    SparseOperator<double, HostContext> A(context_, chain.matrix(context_));
    std::vector<double> inverse;
    for (Index i = 0; i < chain.rows(); ++i) inverse.push_back(1 / (chain.at(i) + chain.at(i + 1)));
    DiagonalOperator<double> M(inverse);
    MultiVector<double, HostSpace> B(context_, chain.rows(), columns);
    set_zero<double>(context_, B.view());
    const auto all = forces(chain, columns);
    for (Index j = 0; j < columns; ++j) {
      const auto& [row, force] = all[static_cast<std::size_t>(j)];
      B.view()(row, j) = force;
    }
    BlockCgOptions options;
    options.algorithm = GetParam();
    options.max_iterations = 1200;
    return block_cg<double, HostContext>(
        context_, {&A, jacobi ? &M : nullptr, std::as_const(B).view()}, options);
  }

  HostContext context_{1};
};

/// A converged column has digits, and where x has none, the estimate does not hide it.
TEST_P(BlockCgContrast, NoDigitsAreNotConverged) {
  for (const Index n : {2, 30, 200, test::kSanitized ? 50 : 600}) {
    for (const double contrast : {1e3, 1e5, 1e7, 1e9, 1e12}) {
      for (const Chain& chain : {Chain::every(n, contrast, 2), Chain::every(n, contrast, 10),
                                 Chain::with_joints(n, contrast)}) {
        for (const Index columns : {1, 3}) {
          for (const bool jacobi : {false, true}) {
            const auto result = solve(chain, columns, jacobi);
            for (Index j = 0; j < columns; ++j) {
              const auto [row, force] = forces(chain, columns)[static_cast<std::size_t>(j)];
              const Errors found = errors(chain, std::as_const(result.solution).view(), j,
                                          chain.response(row, force));
              const std::string where = std::to_string(n) + " rows, column " + std::to_string(j) +
                                        ", contrast " + std::to_string(contrast) +
                                        (jacobi ? ", jacobi: " : ": ") + result.reason;
              const auto k = static_cast<std::size_t>(j);
              EXPECT_TRUE(!result.converged[k] || found.norm <= 1e-2)
                  << found.norm << ", " << where;
            }
          }
        }
      }
    }
  }
}

/// Moderate contrasts need nothing but further iterations.
TEST_P(BlockCgContrast, ModerateContrastsAreSolved) {
  for (const double contrast : {1e3, 1e4, 1e5}) {
    for (const bool jacobi : {false, true}) {
      const Chain chain = Chain::every(200, contrast, 2);
      const auto result = solve(chain, 1, jacobi);
      ASSERT_EQ(result.status, SolveStatus::converged) << contrast << ": " << result.reason;
      const Errors found =
          errors(chain, std::as_const(result.solution).view(), 0, chain.response(0, contrast));
      EXPECT_LE(found.norm, 1e-3) << contrast;
    }
  }
}

/// One step brings ‖r‖ to 10⁻⁹‖b‖, and all rows but the first have not moved.
TEST_P(BlockCgContrast, AnEstimateOfWhatNoStepHasMet) {
  const Chain chain = Chain::every(200, 1e12, 2);
  const auto result = solve(chain, 1, true);
  EXPECT_NE(result.status, SolveStatus::converged);
  EXPECT_NE(result.reason.find("no digits of x"), std::string::npos) << result.reason;
  const Errors found =
      errors(chain, std::as_const(result.solution).view(), 0, chain.response(0, 1e12));
  EXPECT_GE(result.error_estimates[0], found.energy);
}

INSTANTIATE_TEST_SUITE_P(Algorithms, BlockCgContrast,
                         ::testing::Values(CgAlgorithm::breakdown_free, CgAlgorithm::pseudo_block));

}  // namespace
}  // namespace heddle
