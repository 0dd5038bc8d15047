#include <cmath>
#include <heddle/linalg/block_ops.hpp>
#include <heddle/linalg/instantiate.hpp>
#include <heddle/solvers/detail/block_cg_solve.hpp>
#include <utility>

namespace heddle {

template <Scalar T, class Ctx>
PseudoBlockCg<T, Ctx>::PseudoBlockCg(Ctx& context, LinearColumns<T, Ctx>& columns, Storage& storage)
    : context_(context), columns_(columns), s_(storage), directions_(storage.columns.directions) {
  directions_.follow_columns = true;
}

template <Scalar T, class Ctx>
void PseudoBlockCg<T, Ctx>::run() {
  // R = B − A X                                                                        n×s
  for (Index k = columns_.start(); !columns_.finished(k); ++k) {
    if (columns_.restart_due()) restart();  // P = M⁻¹R                                 n×s
    step();  // Q = A P, α_j = r_jᵀz_j/p_jᵀq_j;  x_j ← x_j + α_j p_j, r_j ← r_j − α_j q_j
    directions();  // Z = M⁻¹R, β_j = r_jᵀz_j/(r_jᵀz_j before);  p_j ← z_j + β_j p_j
  }
  columns_.finish();
}

template <Scalar T, class Ctx>
void PseudoBlockCg<T, Ctx>::restart() {
  for (LinearColumn& column : columns_.columns()) column.energy = 0;
  s_.columns.packet.clear();
  norms_ = s_.columns.packet.add(columns_.active(), 1);
  column_norms<T>(context_, columns_.R(), norms_.there);
  set_zero<T>(context_, directions_.P.columns(0, columns_.active()));
  directions();
}

template <Scalar T, class Ctx>
void PseudoBlockCg<T, Ctx>::step() {
  if (columns_.ended()) return;
  const Index s = columns_.active();
  const Block P = directions_.P.columns(0, s);
  const Block Q = s_.columns.scratch.columns(0, s);
  columns_.multiply_A(P, Q);
  const PhaseScope phase(context_, Phase::update);
  s_.columns.packet.clear();
  const Part energies = s_.columns.packet.add(s, 1);
  column_dots<T>(context_, P, Q, energies.there);
  s_.columns.packet.fetch(context_);
  const SmallView<HostSpace> alpha = energies.here;
  for (Index j = 0; j < s; ++j) {
    const double energy = energies.here(j, 0);
    const double before = columns_.columns()[static_cast<std::size_t>(j)].energy;
    if (before > 0 && !(energy > 0)) {
      columns_.end(energy < 0 ? SolveStatus::indefinite : SolveStatus::breakdown,
                   energy < 0 ? "A is not positive definite: p'Ap < 0 was met"
                              : "no direction of positive energy is left: A is singular");
      return;
    }
    alpha(j, 0) = before > 0 ? before / energy : 0;
  }
  norms_ = s_.columns.packet.add(s, 1);
  residual<T>(context_, columns_.R(), Q, factors(alpha, 1), columns_.R(), norms_.there);
  residual<T>(context_, columns_.X(), P, factors(alpha, -1), columns_.X(), s_.half.view(s, 1));
}

template <Scalar T, class Ctx>
void PseudoBlockCg<T, Ctx>::directions() {
  if (columns_.ended()) return;
  const Index s = columns_.active();
  const Block P = directions_.P.columns(0, s);
  const Block Z = s_.Z.columns(0, s);
  const SmallView<HostSpace> beta = s_.eigenvalues.view(s, 1);
  for (Index j = 0; j < s; ++j) {
    beta(j, 0) = columns_.columns()[static_cast<std::size_t>(j)].energy;
  }
  const ConstBlockView<T, Space> MR = columns_.precondition(Z);
  s_.columns.packet.fetch(context_);
  if (!columns_.measure(norms_.here)) return;
  for (Index j = 0; j < s; ++j) {
    const double energy = columns_.columns()[static_cast<std::size_t>(j)].energy;
    beta(j, 0) = beta(j, 0) > 0 ? energy / beta(j, 0) : 0;
  }
  residual<T>(context_, MR, P, factors(beta, -1), Z, s_.half.view(s, 1));
  std::swap(directions_.P, s_.Z);
  directions_.count = s;
}

/// sign·values, s×1, in the context's memory.
template <Scalar T, class Ctx>
SmallView<typename Ctx::Space> PseudoBlockCg<T, Ctx>::factors(ConstSmallView<HostSpace> values,
                                                              double sign) {
  const SmallView<HostSpace> here = s_.eigenvectors.view(values.rows, 1);
  const SmallView<Space> there = s_.coefficient.view(values.rows, 1);
  for (Index j = 0; j < values.rows; ++j) here(j, 0) = sign * values(j, 0);
  send(context_, here, there);
  return there;
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class PseudoBlockCg<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
