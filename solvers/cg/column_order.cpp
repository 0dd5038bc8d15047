#include <algorithm>
#include <cmath>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/blocks/convert.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/cg/column_order.hpp>
#include <utility>

namespace heddle::detail {

template <Scalar T, class Ctx>
auto ColumnOrder<T, Ctx>::begin(ConstBlockView<T, Space> B, const LinearOptions& options)
    -> std::optional<Stop> {
  const Index b = B.cols();
  std::optional<Stop> stop;
  s_.packet.clear();
  const auto norms = s_.packet.add(b, 1);
  column_norms(context_, B, norms.there);
  s_.packet.fetch(context_);
  for (Index j = 0; j < b; ++j) {
    LinearColumn& column = s_.ledger[j];
    const double norm = norms.here(j, 0);
    if (!std::isfinite(norm)) {
      stop = Stop{SolveStatus::breakdown, "a right-hand side or its norm is not finite"};
    }
    // 2^1023 is the largest power of two. It brings subnormal norms into the normal range.
    if (std::isfinite(norm) && norm > 0) {
      column.scale = std::ldexp(1.0, std::min(-std::ilogb(norm), 1023));
    }
    column.index = j;
    column.rhs_norm = norm * column.scale;
    column.limit =
        options.tolerance *
        (options.criterion == LinearCriterion::relative ? column.rhs_norm : column.scale);
    if (!std::isfinite(norm)) column.limit = 0;  // an infinite residual is not within it
  }
  return stop;
}

template <Scalar T, class Ctx>
void ColumnOrder<T, Ctx>::gather(ConstBlockView<T, Space> source, Block target) {
  const ConstSmallView<double, Space> scales =
      factors(target.cols(), [](const LinearColumn& column) { return column.scale; });
  for (Index first = 0; first < target.cols();) {
    const Index place = s_.ledger[first].index;
    Index count = 1;  // number of columns that are adjacent in both orders
    while (first + count < target.cols() && s_.ledger[first + count].index == place + count) {
      ++count;
    }
    convert<T, T>(context_, source.columns(place, count), scales.block(first, 0, count, 1),
                  target.columns(first, count));
    first += count;
  }
}

template <Scalar T, class Ctx>
auto ColumnOrder<T, Ctx>::factors(Index count, double (*factor)(const LinearColumn&))
    -> ConstSmallView<double, Space> {
  s_.packet.clear();
  const SmallView<double, HostSpace> here = s_.packet.add(count, 1).here;
  const SmallView<double, Space> there = s_.factors.view(count, 1);
  for (Index j = 0; j < count; ++j) here(j, 0) = factor(s_.ledger[j]);
  send(context_, here, there);
  return there;
}

template <Scalar T, class Ctx>
Index ColumnOrder<T, Ctx>::bring_forward(Index count, bool (*predicate)(const LinearColumn&)) {
  Index front = 0;
  for (Index j = 0; j < count; ++j) {
    if (!predicate(s_.ledger[j])) continue;
    if (j != front) swap(front, j);
    ++front;
  }
  return front;
}

template <Scalar T, class Ctx>
void ColumnOrder<T, Ctx>::swap(Index i, Index j) {
  const Block spare = s_.scratch.columns(0, 1);
  const auto swap_in = [&](MultiVector<T, Space>& block) {
    copy<T>(context_, block.columns(i, 1), spare);
    copy<T>(context_, block.columns(j, 1), block.columns(i, 1));
    copy<T>(context_, spare, block.columns(j, 1));
  };
  swap_in(s_.result.solution);
  swap_in(s_.R);
  if (s_.directions.follow_columns) swap_in(s_.directions.P);
  std::swap(s_.ledger[i], s_.ledger[j]);
}

template <Scalar T, class Ctx>
void ColumnOrder<T, Ctx>::round_as_restored() {
  const Index b = s_.result.solution.cols();
  const Block X = s_.result.solution.columns(0, b);
  scale_columns<T>(context_,
                   factors(b, [](const LinearColumn& column) { return 1 / column.scale; }), X);
  scale_columns<T>(context_, factors(b, [](const LinearColumn& column) { return column.scale; }),
                   X);
}

template <Scalar T, class Ctx>
void ColumnOrder<T, Ctx>::restore() {
  const Index b = s_.result.solution.cols();
  scale_columns<T>(context_,
                   factors(b, [](const LinearColumn& column) { return 1 / column.scale; }),
                   s_.result.solution.columns(0, b));
  for (Index j = 0; j < b; ++j) {
    while (s_.ledger[j].index != j) swap(j, s_.ledger[j].index);
  }
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class ColumnOrder<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
