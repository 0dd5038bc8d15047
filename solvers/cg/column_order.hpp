#pragma once

#include <heddle/solvers/cg/columns_storage.hpp>
#include <heddle/solvers/iteration/stop_control.hpp>
#include <heddle/solvers/problem/options.hpp>
#include <optional>

namespace heddle::detail {

/// The order and the scaling in which a solve holds its columns.
///
/// The blocks X and R, the ledger, and P if it follows the columns, are always permuted together.
/// Column j of X is 2^k times the solution for column `ledger[j].index` of B, where 2^k is
/// `ledger[j].scale`.
template <Scalar T, class Ctx>
class ColumnOrder {
 public:
  using Space = typename Ctx::Space;
  using Block = BlockView<T, Space>;
  using Storage = LinearColumnsStorage<T, Ctx>;
  using Stop = StopControl::Stop;

  /// Everything is kept by reference and must outlive the solve.
  ColumnOrder(Ctx& context, Storage& storage) : context_(context), s_(storage) {}

  /// Begins with the order of B. Each column is scaled by the power of two that brings ‖b‖ into [1,
  /// 2), and gets its limit from the tolerance. Returns a stop if a ‖b‖ is not finite.
  std::optional<Stop> begin(ConstBlockView<T, Space> B, const LinearOptions& options);

  /// target ← the scaled columns of `source`, which is in the order of B, in the order of the
  /// ledger. `source` n×b and `target` n×k, k ≤ b.
  void gather(ConstBlockView<T, Space> source, Block target);

  /// Moves the columns among the first `count` that satisfy the predicate to the front. Returns
  /// their number. The order of the others changes, too.
  Index bring_forward(Index count, bool (*predicate)(const LinearColumn&));

  /// Rounds X as `restore` will. Entries that underflow at the scale of B become less exact, or 0.
  void round_as_restored();

  /// Brings X back into the order and the scale of B.
  void restore();

 private:
  ConstSmallView<double, Space> factors(Index count, double (*factor)(const LinearColumn&));
  void swap(Index i, Index j);

  Ctx& context_;
  Storage& s_;
};

}  // namespace heddle::detail
