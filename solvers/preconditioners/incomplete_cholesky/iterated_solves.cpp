#include <algorithm>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/blocks/complex_ops.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/packet.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/linalg/sparse/csr_ops.hpp>
#include <heddle/solvers/preconditioners/incomplete_cholesky/iterated_solves.hpp>
#include <utility>

namespace heddle::detail {
template <Scalar T, class Ctx>
IteratedSolves<T, Ctx>::IteratedSolves(Ctx& context, CsrView<T, Space> L)
    : IteratedSolves(context, jacobi_split(context, L)) {}

template <Scalar T, class Ctx>
IteratedSolves<T, Ctx>::IteratedSolves(Ctx& context, JacobiSplit<T, Space> split)
    : inverse_diagonal_(std::move(split.inverse_diagonal)),
      upper_(scale_rows_of(context, inverse_diagonal_, adjoint(context, split.N.view()))),
      lower_(scale_rows_of(context, inverse_diagonal_, std::move(split.N))),
      lower_plan_(context, lower_.view()),
      upper_plan_(context, upper_.view()),
      sweeps_(std::min(shrinking_sweeps(context, lower_plan_),
                       shrinking_sweeps(context, upper_plan_))) {}

/// The largest number of sweeps, up to `kMaxSweeps`, in which the corrections of each of a few
/// random vectors shrink from sweep to sweep.
template <Scalar T, class Ctx>
int IteratedSolves<T, Ctx>::shrinking_sweeps(Ctx& context, const SpmmPlan<T, Ctx>& plan) {
  constexpr Index kProbes = 4;
  const Index n = lower_.rows();
  const ConstBlockView<T, Space> d(inverse_diagonal_.data(), n, 1, 1);
  MultiVector<T, Space> correction(context, n, kProbes), next(context, n, kProbes);
  Packet<Ctx> packet(context, (kMaxSweeps + 1) * kProbes);
  fill_random<T>(context, 0, 0, correction.view());
  scale_rows<T>(context, d, correction.view(), correction.view());
  typename Packet<Ctx>::Part norms[kMaxSweeps + 1];
  for (int k = 0; k <= kMaxSweeps; ++k) {
    norms[k] = packet.add(kProbes, 1);
    column_norms<T>(context, correction.view(), norms[k].there);
    plan.multiply(context, T{-1}, correction.view(), T{0}, next.view());
    std::swap(correction, next);
  }
  packet.fetch(context);
  for (int k = 1; k <= kMaxSweeps; ++k) {
    for (Index j = 0; j < kProbes; ++j) {
      if (!(norms[k].here(j, 0) <= norms[k - 1].here(j, 0))) return k - 1;
    }
  }
  return kMaxSweeps;
}

template <Scalar T, class Ctx>
void IteratedSolves<T, Ctx>::solve(Ctx& context, ConstBlockView<T, Space> X,
                                   BlockView<T, Space> Y) {
  if (std::min(scaled_.cols(), next_.cols()) < X.cols()) {
    for (MultiVector<T, Space>* block : {&scaled_, &next_}) {
      *block = MultiVector<T, Space>();
      *block = MultiVector<T, Space>(context, X.rows(), X.cols());
    }
  }
  iterate(context, lower_plan_, X, Y);  // Y ← K X
  iterate(context, upper_plan_, Y, Y);  // Y ← Kᴴ Y
}

/// Y ← D⁻¹X, then in each sweep Y ← D⁻¹X − D⁻¹N Y. `plan` multiplies by D⁻¹N.
template <Scalar T, class Ctx>
void IteratedSolves<T, Ctx>::iterate(Ctx& context, const SpmmPlan<T, Ctx>& plan,
                                     ConstBlockView<T, Space> X, BlockView<T, Space> Y) {
  const ConstBlockView<T, Space> d(inverse_diagonal_.data(), X.rows(), 1, 1);
  const BlockView<T, Space> scaled = scaled_.columns(0, X.cols());
  BlockView<T, Space> y = Y;
  BlockView<T, Space> next = next_.columns(0, X.cols());
  if (sweeps_ % 2 != 0) std::swap(y, next);  // the last sweep writes Y
  scale_rows<T>(context, d, X, scaled);
  copy<T>(context, scaled, y);
  for (int k = 0; k < sweeps_; ++k) {
    copy<T>(context, scaled, next);
    plan.multiply(context, T{-1}, y, T{1}, next);
    std::swap(y, next);
  }
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class IteratedSolves<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
