#include <algorithm>
#include <cmath>
#include <heddle/solvers/cg/column_ledger.hpp>
#include <heddle/solvers/iteration/worst.hpp>

namespace heddle::detail {

double LinearColumn::error_estimate() const noexcept {
  if (steps.count() == 0) return std::numeric_limits<double>::quiet_NaN();
  const double unseen = converged() ? 0 : norm * std::sqrt(softness);
  const double error = std::max(steps.error(norm), unseen);
  return error > 0 ? error / std::sqrt(x_energy) : 0;
}

void ColumnLedger::reset() {
  std::fill(columns.begin(), columns.end(), LinearColumn{});
  active = nonzero = 0;
}

Index ColumnLedger::converged() const {
  return std::count_if(columns.begin(), columns.end(),
                       [](const LinearColumn& column) { return column.converged(); });
}

double ColumnLedger::worst_residual() const {
  double worst = 0;
  for (const LinearColumn& column : columns) {
    if (column.norm != 0) keep_worst(worst, column.norm / column.rhs_norm);
  }
  return worst;
}

double ColumnLedger::worst_excess() const {
  double worst = 0;
  for (const LinearColumn& column : active_columns()) {
    keep_worst(worst, column.norm / column.limit);
  }
  return worst;
}

void ColumnLedger::list_residuals(std::vector<double>& residuals) const {
  residuals.assign(columns.size(), 0.0);
  for (const LinearColumn& column : columns) {
    if (column.norm == 0) continue;
    residuals[static_cast<std::size_t>(column.index)] = column.norm / column.rhs_norm;
  }
}

}  // namespace heddle::detail
