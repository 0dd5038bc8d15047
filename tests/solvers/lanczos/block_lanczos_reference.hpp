#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <heddle/solvers/lanczos/block_lanczos.hpp>
#include <memory>

#include "solvers/reference_table.hpp"
#include "support/tolerance.hpp"

namespace heddle::test {

/// Solves a row of the table and compares. `with_inverse`: B⁻¹ is at hand, by its factor.
template <class Ctx>
void solve_by_lanczos_and_compare(Ctx& context, const Reference& reference, LanczosFilter filter,
                                  bool with_inverse = true) {
  SCOPED_TRACE(reference.problem);
  using Inverse = ShiftedInverse<double, Ctx>;
  using Matrix = typename Inverse::Matrix;
  ReferenceProblem<Ctx> problem(context, reference.problem);
  std::unique_ptr<Inverse> inverse;
  if (problem.B && with_inverse) {
    inverse = std::make_unique<Inverse>(problem.B->matrix());
    ASSERT_TRUE(inverse->factor(context, 0));
  }
  const bool smallest = reference.which == Which::smallest;
  BlockLanczosOptions options;
  options.nev = 10;
  options.which = reference.which;
  options.tolerance = 1e-8;
  options.filter = filter;
  Inverse shifted(problem.A->matrix(), problem.B ? problem.B->matrix() : Matrix{});
  const auto result = block_lanczos<double, Ctx>(context,
                                                 {.A = problem.A.get(),
                                                  .B = problem.B.get(),
                                                  .B_inverse = inverse.get(),
                                                  .shifted_inverse = smallest ? &shifted : nullptr},
                                                 options);

  EXPECT_EQ(result.status, SolveStatus::converged) << result.reason;
  ASSERT_EQ(result.eigenvalues.size(), reference.values.size());
  const double norm_A = *problem.A->one_norm();
  const double norm_B = problem.B ? *problem.B->one_norm() : 1;
  double worst_error = 0;
  for (std::size_t i = 0; i < reference.values.size(); ++i) {
    const double value = reference.values[i];
    const double scale = norm_A / norm_B + std::abs(value);
    const double allowed = std::max(1e-8, reference.bound) * scale;
    // Ritz values lie inside the spectrum: one short of the reference shows that we missed a copy.
    const double missed = smallest ? result.eigenvalues[i] - value : value - result.eigenvalues[i];
    EXPECT_LE(missed, problem.B ? 100 * allowed : allowed) << "pair " << i;
    EXPECT_NEAR(result.eigenvalues[i], value, 1e-7 * (problem.B ? 10 * scale : norm_A))
        << "pair " << i;
    EXPECT_LE(result.residuals[i], options.tolerance);
    worst_error = std::max(worst_error, missed / scale);
    if (result.inverse_applications == 0) continue;
    // Values of an inverse are exact to the square of the tolerance, or to rounding.
    const double rounding = tolerance<double>(scale, static_cast<double>(problem.A->rows()));
    EXPECT_LE(missed, options.tolerance * std::abs(value) + rounding) << "pair " << i;
  }
  const double slack = reference_error(reference, norm_A, norm_B);
  expect_within_bounds(result, reference, (problem.B ? 100 : 1) * slack);
  EXPECT_LE(result.orthogonality, 1e-11);
  std::printf(
      "%-20s %-8s %4d cycles, %7d products, %5d solves, error %.1e, orthogonality %.1e, %5.2f s\n",
      reference.problem.c_str(), smallest ? "smallest" : "largest",
      static_cast<int>(result.iterations), static_cast<int>(result.operator_applications),
      static_cast<int>(result.inverse_applications), worst_error, result.orthogonality,
      result.history.empty() ? 0.0 : result.history.back().seconds);
}

}  // namespace heddle::test
