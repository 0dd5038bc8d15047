#pragma once

#include <heddle/solvers/cg/column_ledger.hpp>
#include <heddle/solvers/cg/loose_rows.hpp>
#include <heddle/solvers/operators/linear_operator.hpp>

namespace heddle::detail {

/// Whether the solutions of all converged columns have digits, by fresh residuals. Lowers the
/// limits of the columns without, so that they are not converged.
///
/// A column has digits if its relative error in the energy norm, as `EnergySteps` estimates it, is
/// at most a = max(10⁻³, 10 limit/‖b‖), and, for a matrix in host memory with m `LooseRows` that
/// links of at least w join to the others, m ‖r‖/w ≤ a ‖x‖. The steps need not have met anything of
/// such rows, and ‖r‖ may move them by m ‖r‖/w.
template <Scalar T, class Ctx>
bool have_digits(ColumnLedger& ledger, const LinearOperator<T, Ctx>& A, LooseRowsSearch& search);

}  // namespace heddle::detail
