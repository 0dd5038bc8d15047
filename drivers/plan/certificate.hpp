#pragma once

#include <heddle/drivers/inspect/facts.hpp>
#include <heddle/drivers/plan/details.hpp>
#include <heddle/drivers/plan/solve_plan.hpp>
#include <heddle/solvers/factor/factor_estimate.hpp>

/// The count of eigenvalues after a solve for an end of the spectrum, and the library of indefinite
/// factors.
namespace heddle::detail {

/// Why the eigenvalues of a problem with these facts cannot be counted. Empty if they can.
std::string uncountable_reason(const Facts& facts);

/// Throws `RequestError` if `request` asks for a count that is not possible.
void check_certify(const Request& request, const Facts& facts);

/// Whether the solve of `stage` is for an end of the spectrum, after which eigenvalues are counted.
bool is_counted_after(const StagePlan& stage) noexcept;

/// Whether the plan depends on the cost of a factor for the count after `stage`.
bool needs_factor_cost(const StagePlan& stage, const Facts& facts);

/// Throws `RequestError` if `request` asks for a count and a factor of this cost does not fit into
/// the memory that it may take.
void check_certify_memory(const Request& request, const FactorCost& cost);

/// Whether and why the eigenvalues are counted. The method of `request` has been chosen. `cost`: of
/// a factor, where `needs_factor_cost`.
PlannedChoice planned_count(const Request& request, const Facts& facts, const FactorCost& cost);

/// The library that factors an indefinite A − σB of this order for `request`, and why that one.
/// `cost`: of the factor, zeros if it has not been estimated.
PlannedChoice planned_library(const Request& request, bool on_gpu, Index rows,
                              const FactorCost& cost);

}  // namespace heddle::detail
