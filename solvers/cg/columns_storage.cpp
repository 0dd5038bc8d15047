#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/small/small_dense.hpp>
#include <heddle/solvers/cg/columns_storage.hpp>

namespace heddle::detail {

template <Scalar T, class Ctx>
LinearColumnsStorage<T, Ctx>::LinearColumnsStorage(Ctx& context, Index n, Index b)
    : R(context, n, b),
      directions{.P = MultiVector<T, Space>(context, n, b)},
      scratch(context, n, b),
      packet(context, 2 * b * b * Packet<Ctx>::template kDoubles<Wide<T>> + 2 * b +
                          2 * CholeskyQrStatus::rows),
      factors(context, b, 1),
      ledger(b) {
  monitor_residuals.reserve(ledger.columns.size());
  result.residuals.reserve(ledger.columns.size());
  result.backward_errors.reserve(ledger.columns.size());
  result.error_estimates.reserve(ledger.columns.size());
  result.converged.reserve(ledger.columns.size());
  result.solution = MultiVector<T, Space>(context, n, b);
}

template <Scalar T, class Ctx>
void LinearColumnsStorage<T, Ctx>::reset() {
  ledger.reset();
  directions.count = 0;
  directions.follow_columns = directions.careful = false;
  directions.orthonormal = true;
  result.status = SolveStatus::breakdown;
  result.reason.clear();
  result.iterations = result.matrix_passes = result.operator_applications = 0;
  result.residuals.assign(ledger.columns.size(), 0.0);
  result.backward_errors.assign(ledger.columns.size(), 0.0);
  result.error_estimates.assign(ledger.columns.size(), 0.0);
  result.converged.assign(ledger.columns.size(), false);
  result.history.clear();
  result.orthogonalization = {};
}

#define HEDDLE_INSTANTIATE(T, Ctx) template struct LinearColumnsStorage<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
