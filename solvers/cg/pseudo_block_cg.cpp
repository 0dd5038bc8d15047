#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/cg/pseudo_block_cg.hpp>
#include <utility>

namespace heddle::detail {

template <Scalar T, class Ctx>
PseudoBlockCg<T, Ctx>::PseudoBlockCg(Ctx& context, LinearColumns<T, Ctx>& columns, Storage& storage)
    : context_(context), columns_(columns), s_(storage), directions_(storage.columns.directions) {
  directions_.follow_columns = true;
  if (s_.Z.cols() < directions_.P.cols())
    s_.Z = {context, directions_.P.rows(), directions_.P.cols()};
}

template <Scalar T, class Ctx>
void PseudoBlockCg<T, Ctx>::run() {
  // R = B − A X                                                                        n×s
  for (Index k = columns_.start(); !columns_.finish_iteration(k); ++k) {
    while (columns_.take_restart()) restart();  // P = M⁻¹R                              n×s
    step();  // Q = A P, α_j = r_jᵀz_j/p_jᵀq_j;  x_j ← x_j + α_j p_j, r_j ← r_j − α_j q_j
    next_directions();  // Z = M⁻¹R, β_j = r_jᵀz_j/(r_jᵀz_j before);  p_j ← z_j + β_j p_j
  }
  columns_.finish();
}

template <Scalar T, class Ctx>
void PseudoBlockCg<T, Ctx>::restart() {
  for (LinearColumn& column : columns_.columns()) column.energy = 0;
  columns_.products().forget_steps();
  s_.columns.packet.clear();
  norms_ = s_.columns.packet.add(columns_.active(), 1);
  column_norms<T>(context_, columns_.R(), norms_.there);
  set_zero<T>(context_, P());
  directions();
}

template <Scalar T, class Ctx>
void PseudoBlockCg<T, Ctx>::step() {
  if (columns_.ended()) return;
  const Index s = columns_.active();
  const Block Q = s_.columns.scratch.columns(0, s);
  if (lengths_.here.rows != s) {  // after columns were removed, or on resuming from a checkpoint
    column_norms<T>(context_, P(), expect_lengths().there);
  }
  columns_.products().multiply_A(P(), Q);
  const PhaseScope phase(context_, Phase::update);
  energies_ = s_.rayleigh.add(s, 1);
  column_dots<T>(context_, P(), Q, energies_.there);
  s_.rayleigh.fetch(context_);
  check_energies(energies_.here);
  if (columns_.ended()) return;
  const SmallView<double, HostSpace> alpha = s_.factors.view(s, 1);
  for (Index j = 0; j < s; ++j) {
    LinearColumn& column = columns_.columns()[static_cast<std::size_t>(j)];
    const double before = column.energy;
    alpha(j, 0) = before > 0 ? before / energies_.here(j, 0) : 0;
    column.steps.begin(column.norm);
    column.steps.add(alpha(j, 0) * before);
  }
  s_.columns.packet.clear();
  norms_ = s_.columns.packet.add(s, 1);
  subtract(columns_.R(), Q, columns_.R(), norms_.there);
  for (Index j = 0; j < s; ++j) alpha(j, 0) = -alpha(j, 0);
  subtract(columns_.X(), P(), columns_.X(), s_.unused_norms.view(s, 1));
}

/// Ends the solve if a p_jᵀAp_j of an unsolved column is not positive. Then A is indefinite or
/// singular.
template <Scalar T, class Ctx>
void PseudoBlockCg<T, Ctx>::check_energies(ConstSmallView<double, HostSpace> energies) {
  const auto quotient = [&](Index j) {
    return energies(j, 0) / lengths_.here(j, 0) / lengths_.here(j, 0);
  };
  for (Index j = 0; j < energies.rows; ++j) columns_.norm_A().add_rayleigh_quotient(quotient(j));
  bool lost = false;
  for (Index j = 0; j < energies.rows; ++j) {
    const bool solved = columns_.columns()[static_cast<std::size_t>(j)].energy == 0;
    if (solved || energies(j, 0) > 0) continue;
    columns_.end(columns_.norm_A().check_least_rayleigh_quotient(quotient(j), 1));
    lost = true;
  }
  if (lost) columns_.end_without_energy();
}

template <Scalar T, class Ctx>
void PseudoBlockCg<T, Ctx>::next_directions() {
  if (!columns_.ended() && !columns_.have_converged(norms_.there)) directions();
}

template <Scalar T, class Ctx>
void PseudoBlockCg<T, Ctx>::directions() {
  if (columns_.ended()) return;
  const Index s = columns_.active();
  const ConstBlockView<T, Space> MR = columns_.products().precondition(norms_.there, s_.Z);
  s_.columns.packet.fetch(context_);
  if (!columns_.measure(norms_.here)) return;
  if (s == 1 && columns_.columns()[0].earlier_energy > 0) {
    columns_.products().note_step(energies_.here(0, 0));
  }
  const SmallView<double, HostSpace> factors = s_.factors.view(s, 1);
  for (Index j = 0; j < s; ++j) {
    const LinearColumn& column = columns_.columns()[static_cast<std::size_t>(j)];
    factors(j, 0) = column.earlier_energy > 0 ? -column.energy / column.earlier_energy : 0;  // −β_j
  }
  subtract(MR, P(), s_.Z.columns(0, s), expect_lengths().there);
  std::swap(directions_.P, s_.Z);
  directions_.count = s;
}

/// Clears the packet and reserves the place of ‖p_j‖ in it.
template <Scalar T, class Ctx>
auto PseudoBlockCg<T, Ctx>::expect_lengths() -> Part {
  s_.rayleigh.clear();
  return lengths_ = s_.rayleigh.add(columns_.active(), 1);
}

/// w_j ← u_j − factors_j v_j, and ‖w_j‖.
template <Scalar T, class Ctx>
void PseudoBlockCg<T, Ctx>::subtract(ConstBlockView<T, Space> U, ConstBlockView<T, Space> V,
                                     Block W, SmallView<double, Space> norms) {
  const SmallView<double, Space> factors = s_.columns.factors.view(U.cols(), 1);
  send(context_, s_.factors.view(U.cols(), 1), factors);
  residual<T>(context_, U, V, factors, W, norms);
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class PseudoBlockCg<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
