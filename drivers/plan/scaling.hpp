#pragma once

#include <heddle/drivers/inspect/facts.hpp>
#include <heddle/drivers/plan/held_rows.hpp>
#include <vector>

/// The scaling of problems whose entries are so large or so small that products and norms would
/// overflow or underflow, or that ‖A‖ says nothing of the wanted eigenvalues.
namespace heddle::detail {

/// The powers of two by which the parts of a problem are multiplied before it is solved:
///
///     A' = 2^a E A E,  B' = 2^b E B E,  R' = 2^a R     λ' = 2^(a−b) λ,  x' = 2^(−c/2) E⁻¹x
///
/// with A'X = R' and E = diag(2^(e_i)). c is b, or, for load factors, whose vectors have xᵀAx = 1,
/// a. The exponents a and b are 0 if the largest entries of A and B are of a moderate size. E is
/// the identity except for graded problems. Multiplications by powers of two are exact, so a scaled
/// problem has the solution that the problem itself would have if numbers had no limits.
struct ProblemScaling {
  int A = 0;                ///< a, for load factors an even number
  int B = 0;                ///< b, an even number
  int vectors = 0;          ///< c
  std::vector<int> rows{};  ///< e_i. Empty: the problem is not graded, and all are 0
  double span = 1;          ///< as in `RowGrading`
  Index held = 0;           ///< as in `RowGrading`

  /// Whether the rows are graded, so that only the standard form of (A − σB)⁻¹B has all digits.
  bool graded() const noexcept { return !rows.empty(); }

  /// Whether the problem stays as it is.
  bool changes_nothing() const noexcept { return A == 0 && B == 0 && rows.empty(); }
};

/// The span of the sizes of rows, see `RowGrading`, from which a problem counts as graded. Infinite
/// if `request` lets nothing be factored.
double least_graded_span(const Facts& facts, const Request& request);

/// For pairs near a number or in an interval that factors count: a_i/b_i of the smallest row, see
/// `RowGrading`, if the rows of the matrices are graded. 0 if not, and for other requests.
double smallest_graded_row(const Problem& problem, const Facts& facts, const Request& request);

/// The scaling that brings the largest entries of A and B to a size between 1 and 4 if they are far
/// from 1. A is that of the system for which `held` is. Where the smallest eigenpairs are wanted, a
/// factor of A − σB fits into memory, and the rows are graded, it also brings the rows of A to a
/// size of about 1. Penalties in A then become tiny masses in B. Matrices that are not stored are
/// left alone.
ProblemScaling scaling_of(const Problem& problem, const Facts& facts, const Request& request,
                          const HeldRows& held);

/// The same for a complex problem, whose rows are not scaled.
ProblemScaling scaling_of(const ComplexProblem& problem, const Request& request);

}  // namespace heddle::detail
