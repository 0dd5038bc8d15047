#include <gtest/gtest.h>

#include <algorithm>
#include <heddle/solvers/lanczos/block_lanczos.hpp>
#include <optional>

#include "solvers/digits.hpp"

namespace heddle {
namespace {

/// Block Lanczos with its defaults, at both ends, against a dense solve in long double.
TEST(BlockLanczosDigits, EveryValueLiesWithinItsBound) {
  for (const test::StiffProblem& problem : test::stiff_problems()) {
    HostContext context(2);
    SparseOperator<double, HostContext> A(context, problem.matrix(context));
    std::optional<SparseOperator<double, HostContext>> B;
    if (!problem.masses.empty()) B.emplace(context, problem.mass(context));
    std::vector<double> truth = problem.eigenvalues();
    for (const Which which : {Which::smallest, Which::largest}) {
      SCOPED_TRACE(problem.name + (which == Which::smallest ? ", smallest" : ", largest"));
      using Matrix = CsrView<double, HostSpace>;
      ShiftedInverse<double, HostContext> shifted(A.matrix(), B ? B->matrix() : Matrix{});
      std::optional<ShiftedInverse<double, HostContext>> mass_inverse;
      EigenProblem<double, HostContext> eigenproblem{.A = &A};
      if (B) {
        mass_inverse.emplace(B->matrix());
        ASSERT_TRUE(mass_inverse->factor(context, 0));
        eigenproblem.B = &*B;
        eigenproblem.B_inverse = &*mass_inverse;
      }
      if (which == Which::smallest) eigenproblem.shifted_inverse = &shifted;
      BlockLanczosOptions options;
      options.nev = 5;
      options.which = which;
      const auto result = block_lanczos<double, HostContext>(context, eigenproblem, options);
      EXPECT_EQ(result.status, SolveStatus::converged) << result.reason;
      const double top = std::max(std::abs(truth.front()), std::abs(truth.back()));
      test::expect_digits(result, truth, 1e-18 * top);
      std::reverse(truth.begin(), truth.end());
    }
  }
}

}  // namespace
}  // namespace heddle
