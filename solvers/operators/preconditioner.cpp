#include <heddle/solvers/operators/preconditioner.hpp>

namespace heddle {

double operator_complexity(std::span<const OperatorLevel> levels) noexcept {
  double entries = 0;
  for (const OperatorLevel& level : levels) entries += static_cast<double>(level.nnz);
  const bool any = !levels.empty() && levels.front().nnz > 0;
  return any ? entries / static_cast<double>(levels.front().nnz) : 1;
}

}  // namespace heddle
