#pragma once

#include <heddle/drivers/inspect/facts.hpp>
#include <heddle/solvers/preconditioners/table.hpp>
#include <string>
#include <string_view>

namespace heddle::detail {

/// The choice of a preconditioner, its matrix and its options for a solve.
struct PreconditionerPlan {
  const PreconditionerKind* kind = nullptr;  ///< null: no preconditioner
  /// The matrix whose inverse it approximates.
  PreconditionedMatrix matrix = PreconditionedMatrix::A;
  PreconditionerOptions options{"none", {}};
  /// Whether it is made in lower precision for a solve in double precision, if its matrix allows
  /// it. Its options name the precision of its products.
  bool lowered = false;
  std::string precision_reason{};  ///< why it is lowered or not
  /// The kind that `auto` takes instead where it saves time. Null: there is no choice.
  const PreconditionerKind* strong = nullptr;
  PreconditionerOptions strong_options{"none", {}};
  bool strong_lowered = false;  ///< as `lowered`, with its reason
  std::string strong_precision_reason{};
  /// Whether `auto` may take jacobi, too. It has no form in lower precision.
  bool may_be_diagonal = false;

  /// The name in requests, such as "none" or "jacobi".
  std::string_view name() const noexcept {
    return kind != nullptr ? std::string_view(kind->name) : "none";
  }
  /// The description for reports, such as "none", "jacobi of A" or "chebyshev of B, degree 10".
  std::string describe() const;
  /// The same of another kind in its place.
  std::string describe(const PreconditionerKind& other, const PreconditionerOptions& with) const;
};

/// The properties of a solve that determine which preconditioners suit it. The method of `request`
/// has been chosen. `stored`: whether the matrices are stored.
PreconditionedProblem preconditioned_problem(const Request& request, const ProblemSizes& sizes,
                                             bool stored = true);

/// The same for a problem whose facts tell whether the matrix to precondition is stored.
PreconditionedProblem preconditioned_problem(const Request& request, const Facts& facts);

/// The preconditioner that `asked` chooses for `problem`. Throws `InvalidArgument` for a name or an
/// option that is not in the table.
PreconditionerPlan plan_preconditioner(const PreconditionerRequest& asked,
                                       const PreconditionedProblem& problem);

/// The preconditioner that `request` chooses for a problem, with its precision. Its options refer
/// to the memory of `facts`. None if the problem contains one, or all wanted pairs are known. It is
/// lowered, unless the request asks for double precision, if
///
/// - LOBPCG uses it, or block CG on request or if its kind says `lowered_in_cg`. With others the
///   recurrences of block CG converge faster if the preconditioner is linear and symmetric to the
///   digits of the solve.
/// - the whole solve is in double precision,
/// - it can be made in the precision.
PreconditionerPlan plan_preconditioner(const Request& request, const Facts& facts);

/// Whether a preconditioner of this kind for `matrix` reads `PreconditionerOptions::near_null`. Not
/// where `kind` is null.
bool takes_near_null(const PreconditionerKind* kind, PreconditionedMatrix matrix) noexcept;

/// Whether `precision` asks for less than double precision.
bool asks_for_lower(PreconditionerPrecision precision) noexcept;

/// The name of a precision in requests and reports.
std::string_view name_of(PreconditionerPrecision precision) noexcept;

/// Throws the `RequestError` of a request for a preconditioner in the lower precision `asked` that
/// `reason` rules out.
[[noreturn]] void refuse_lower_precision(PreconditionerPrecision asked, std::string_view reason);

/// The name of the preconditioner of a solve on the host or on a GPU in reports, before the solve.
/// Where `auto` decides during the set-up, the names of all that it may take.
std::string describe_preconditioner(const Request& request, const Facts& facts,
                                    const PreconditionerPlan& plan, bool on_gpu);

}  // namespace heddle::detail
