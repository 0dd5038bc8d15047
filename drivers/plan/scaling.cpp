#include <algorithm>
#include <cmath>
#include <heddle/drivers/inspect/precision.hpp>
#include <heddle/drivers/inspect/row_grading.hpp>
#include <heddle/drivers/plan/memory.hpp>
#include <heddle/drivers/plan/method_options.hpp>
#include <heddle/drivers/plan/methods.hpp>
#include <heddle/drivers/plan/scaling.hpp>
#include <heddle/solvers/factor/factor_estimate.hpp>
#include <limits>
#include <utility>

namespace heddle::detail {
namespace {

/// From this span of the sizes of rows on, a problem is graded: products with A have rounding
/// errors of more than 10⁻¹⁰ of what rows of the smallest size contribute. A dense solve, whose
/// errors are those of the whole matrix in each value, asks for less.
constexpr double kGraded = 1e6;
constexpr double kGradedDense = 1e4;

/// The same for pairs inside the spectrum in single precision.
constexpr double kGradedSingle = 1e3;

/// Bytes of a factor per entry: a double and a column index.
constexpr double kBytesPerEntry = 12;

/// Whether the solve can take a factor of A − σB from the start.
bool may_factor(const Facts& facts, const Request& request) {
  const bool stored = facts.A.stored && (!facts.B.given || facts.B.stored);
  return stored && !facts.own_rows && request.precision == Precision::full &&
         may_invert(request, facts.sizes()) && !all_known(request, facts.sizes());
}

/// The scaling that brings the largest entries of stored matrices to a moderate size.
template <WideScalar W>
ProblemScaling moderating(const HostProblem<W>& problem, Precision precision) {
  ProblemScaling scaling;
  if (problem.A.is_stored()) scaling.A = moderating_exponent(problem.A.largest(), precision);
  if (problem.B && problem.B->is_stored()) {
    scaling.B = moderating_exponent(problem.B->largest(), precision) / 2 * 2;
  }
  scaling.vectors = scaling.B;
  return scaling;
}

/// Sets the part of `scaling` that the rows ask for.
void grade(const Problem& problem, const Facts& facts, const Request& request,
           ProblemScaling& scaling) {
  const double least = least_graded_span(facts, request);
  if (std::isinf(least)) return;
  const CsrView<double, HostSpace> A = problem.A.view();
  const CsrView<double, HostSpace> B = problem.B ? problem.B->view() : CsrView<double, HostSpace>{};
  RowGrading grading = grading_of(A, B);
  if (!(grading.span >= least)) return;
  const FactorCost cost = estimate_factor_cost(A, B);
  if (kBytesPerEntry * cost.entries > kFactorShare * host_memory_bytes()) return;
  scaling.span = grading.span;
  scaling.held = grading.held;
  for (int& exponent : grading.exponents) exponent -= scaling.A / 2;
  scaling.rows = std::move(grading.exponents);
}

}  // namespace

double least_graded_span(const Facts& facts, const Request& request) {
  if (!may_factor(facts, request)) return std::numeric_limits<double>::infinity();
  const BlockLanczosShape shape =
      block_lanczos_shape(block_lanczos_options(request, false), facts.order(), facts.B.given);
  return shape.max_basis == 0 ? kGradedDense : kGraded;
}

double smallest_graded_row(const Problem& problem, const Facts& facts, const Request& request) {
  if (!counts_by_factors(request) || facts.buckling || facts.own_rows) return 0;
  const CsrView<double, HostSpace> B = problem.B ? problem.B->view() : CsrView<double, HostSpace>{};
  const RowGrading grading = grading_of(problem.A.view(), B, true);
  const bool single = request.precision == Precision::single;
  return grading.span >= (single ? kGradedSingle : kGraded) ? grading.least : 0;
}

ProblemScaling scaling_of(const Problem& problem, const Facts& facts, const Request& request,
                          const HeldRows& held) {
  ProblemScaling scaling = moderating(problem, request.precision);
  if (problem.A.is_stored() && !held.empty()) {
    scaling.A = moderating_exponent(held.largest_scaled(), request.precision);
  }
  if (facts.buckling) {
    scaling.A = scaling.A / 2 * 2;
    scaling.vectors = scaling.A;
  }
  grade(problem, facts, request, scaling);
  return scaling;
}

ProblemScaling scaling_of(const ComplexProblem& problem, const Request& request) {
  return moderating(problem, request.precision);
}

}  // namespace heddle::detail
