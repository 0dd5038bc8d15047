#include <algorithm>
#include <cmath>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/cg/digits.hpp>
#include <limits>

namespace heddle::detail {
namespace {

/// Estimated relative errors above which a solution has no digits, and above this multiple of the
/// tolerance. The limit on ‖r‖ of too large an error in the energy norm falls to this part of ‖r‖.
constexpr double kLargestError = 1e-3;
constexpr double kErrorPerLimit = 10;
constexpr double kLowerLimit = 0.01;

/// Links of at least this part of ‖A‖₁ are not weak: no force through them is lost in ‖r‖.
constexpr double kWeakLink = 1e-3;

/// A tolerance up to this multiple of ε leaves nothing to ask for. Masses are solved with it many
/// times.
constexpr double kRoundings = 100;

/// Those of a matrix in host memory.
template <Scalar T, class Ctx>
LooseRows loose_rows_of(const LinearOperator<T, Ctx>& A, LooseRowsSearch& search) {
  if constexpr (std::same_as<typename Ctx::Space, HostSpace>) {
    const DistributedCsrView<T, HostSpace>* const stored = A.stored();
    if (stored != nullptr && !stored->is_distributed()) {
      return search.find(stored->own, kWeakLink * *A.one_norm());
    }
  }
  return {};
}

}  // namespace

template <Scalar T, class Ctx>
bool have_digits(ColumnLedger& ledger, const LinearOperator<T, Ctx>& A, LooseRowsSearch& search) {
  const double least = kRoundings * static_cast<double>(std::numeric_limits<RealOf<T>>::epsilon());
  const bool asks = std::any_of(ledger.columns.begin(), ledger.columns.end(),
                                [least](const LinearColumn& column) {
                                  return column.doubted || column.limit > least * column.rhs_norm;
                                });
  const LooseRows loose = asks ? loose_rows_of(A, search) : LooseRows{};
  const double softness = static_cast<double>(loose.count) / loose.link;
  bool all = true;
  for (LinearColumn& column : ledger.columns) {
    if (!column.converged() || column.norm == 0 || column.x_norm == 0) continue;
    const double allowed = std::max(kLargestError, kErrorPerLimit * column.limit / column.rhs_norm);
    const bool hidden = softness * column.norm > allowed * column.x_norm;
    if (!hidden && !(column.error_estimate() > allowed)) continue;
    column.limit = hidden ? allowed * column.x_norm / softness : kLowerLimit * column.norm;
    if (hidden) column.softness = softness;
    column.doubted = true;
    all = false;
  }
  return all;
}

#define HEDDLE_INSTANTIATE(T, Ctx) \
  template bool have_digits(ColumnLedger&, const LinearOperator<T, Ctx>&, LooseRowsSearch&);
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
