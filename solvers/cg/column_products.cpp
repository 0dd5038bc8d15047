#include <algorithm>
#include <cmath>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/cg/column_products.hpp>
#include <heddle/solvers/cg/spd_probe.hpp>
#include <limits>

namespace heddle::detail {
namespace {

constexpr Index kProbes = 4;

/// Steps in which CG reduces ‖r‖ e times, per root of the condition number. At most 0.5 by theory.
constexpr double kStepsPerRoot = 0.3;

}  // namespace

template <Scalar T, class Ctx>
auto ColumnProducts<T, Ctx>::probe_preconditioner() -> std::optional<Stop> {
  if (preconditioner_ == nullptr) return std::nullopt;
  std::optional<Stop> stop = probe();
  while (stop && raise_preconditioner()) stop = probe();
  return stop;
}

template <Scalar T, class Ctx>
bool ColumnProducts<T, Ctx>::raise_preconditioner() {
  return preconditioner_ != nullptr && preconditioner_->raise(context_);
}

template <Scalar T, class Ctx>
auto ColumnProducts<T, Ctx>::probe() -> std::optional<Stop> {
  const Index k = std::min<Index>(kProbes, system_.B.cols());
  switch (probe_spd(context_, *preconditioner_, preconditioner_->is_lowered(), s_.packet,
                    s_.scratch.columns(0, k), s_.R.columns(0, k))) {
    case SpdProbe::passed:
      break;
    case SpdProbe::not_finite:
      return Stop{SolveStatus::breakdown, "products with the preconditioner are not finite"};
    case SpdProbe::indefinite:
      return Stop{SolveStatus::indefinite, "the preconditioner is not positive definite"};
    case SpdProbe::asymmetric:
      return Stop{SolveStatus::indefinite, "the preconditioner is not symmetric"};
  }
  return std::nullopt;
}

template <Scalar T, class Ctx>
void ColumnProducts<T, Ctx>::multiply_A(ConstBlockView<T, Space> P, Block Q) {
  system_.A->apply(context_, P, Q);
  if (P.cols() > 0) ++s_.result.matrix_passes;
}

template <Scalar T, class Ctx>
auto ColumnProducts<T, Ctx>::precondition(ConstSmallView<double, Space> norms,
                                          MultiVector<T, Space>& Z) -> ConstBlockView<T, Space> {
  const Block R = s_.R.columns(0, s_.ledger.active);
  if (preconditioner_ == nullptr) return R;
  if (Z.cols() < R.cols()) Z = MultiVector<T, Space>(context_, R.rows(), R.cols());
  const Block MR = Z.columns(0, R.cols());
  preconditioner_->apply(context_, R, norms, MR);
  energies_ = s_.packet.add(R.cols(), 1);
  column_dots<T>(context_, R, MR, energies_.there);
  return MR;
}

/// M⁻¹R and r_jᵀM⁻¹r_j where M keeps its products, for more than one column.
template <Scalar T, class Ctx>
auto ColumnProducts<T, Ctx>::kept_product(ConstSmallView<double, Space> norms)
    -> std::optional<ScaledView<float, Space>> {
  if constexpr (std::same_as<T, double> && std::same_as<Space, HostSpace>) {
    const Block R = s_.R.columns(0, s_.ledger.active);
    if (preconditioner_ == nullptr || R.cols() == 1) return std::nullopt;
    const auto MR = preconditioner_->apply_and_keep(context_, R, norms);
    if (!MR) return std::nullopt;
    energies_ = s_.packet.add(R.cols(), 1);
    column_dots(context_, R, *MR, energies_.there);
    return MR;
  }
  return std::nullopt;
}

template <Scalar T, class Ctx>
auto ColumnProducts<T, Ctx>::measure(ConstSmallView<double, HostSpace> norms)
    -> std::optional<Stop> {
  std::optional<Stop> first;
  const auto keep_first = [&](SolveStatus status, std::string_view reason) {
    if (!first) first = Stop{status, reason};
  };
  for (Index j = 0; j < s_.ledger.active; ++j) {
    LinearColumn& column = s_.ledger[j];
    column.norm = norms(j, 0);
    column.earlier_energy = column.energy;
    column.energy = preconditioner_ != nullptr ? energies_.here(j, 0) : column.norm * column.norm;
    if (!std::isfinite(column.norm) || !std::isfinite(column.energy)) {
      keep_first(SolveStatus::breakdown, "products with A or the preconditioner are not finite");
    } else if (column.norm > 0 && !(column.energy > 0)) {
      keep_first(SolveStatus::indefinite,
                 "the preconditioner is not positive definite: r'M⁻¹r <= 0 was met");
    }
  }
  return first;
}

template <Scalar T, class Ctx>
void ColumnProducts<T, Ctx>::note_step(double energy_of_step) {
  if (preconditioner_ == nullptr || preconditioner_->steps_to_choice() == 0) return;
  const LinearColumn& column = s_.ledger[0];
  const double alpha = column.earlier_energy / energy_of_step;
  const double beta = column.energy / column.earlier_energy;
  if (!(alpha > 0 && std::isfinite(alpha) && beta > 0 && std::isfinite(beta)))
    return steps_.clear();
  steps_.add_alpha(alpha);
  steps_.add_beta(beta);
}

/// The further steps that a single active column will take, by the condition number and by the
/// steps so far, whichever are fewer.
template <Scalar T, class Ctx>
double ColumnProducts<T, Ctx>::expected_steps() const {
  const LinearColumn& column = s_.ledger[0];
  double per_power = kStepsPerRoot * steps_.estimate().expected_root();
  const double fallen = std::log(norm_before_steps_ / column.norm);
  if (fallen > 0) per_power = std::min(per_power, static_cast<double>(steps_.steps()) / fallen);
  return per_power * std::log(column.norm / column.limit);
}

template <Scalar T, class Ctx>
bool ColumnProducts<T, Ctx>::choose_preconditioner() {
  if (steps_.steps() == 0 || steps_.steps() != preconditioner_->steps_to_choice()) return false;
  return preconditioner_->choose(context_, expected_steps());
}

template <Scalar T, class Ctx>
void ColumnProducts<T, Ctx>::fresh_residuals(Index count) {
  const PhaseScope phase(context_, Phase::residual);
  const Block X = s_.result.solution.columns(0, count);
  const Block R = s_.R.columns(0, count);
  const Block AX = s_.scratch.columns(0, count);
  multiply_A(X, AX);
  order_.gather(system_.B, R);
  s_.packet.clear();
  const auto norms = s_.packet.add(count, 1);
  const auto x_norms = s_.packet.add(count, 1);
  const auto x_energies = s_.packet.add(count, 1);
  const SmallView<double, HostSpace> ones = norms.here;
  std::fill_n(ones.data, count, 1.0);
  send(context_, ones, s_.factors.view(count, 1));
  residual<T>(context_, R, AX, s_.factors.view(count, 1), R, norms.there);
  column_norms<T>(context_, X, x_norms.there);
  column_dots<T>(context_, X, AX, x_energies.there);
  s_.packet.fetch(context_);
  for (Index j = 0; j < count; ++j) {
    s_.ledger[j].norm = norms.here(j, 0);
    s_.ledger[j].x_norm = x_norms.here(j, 0);
    s_.ledger[j].x_energy = x_energies.here(j, 0);
  }
}

template <Scalar T, class Ctx>
void ColumnProducts<T, Ctx>::drop_useless_guesses(Index count) {
  const double most = 1 / std::sqrt(static_cast<double>(std::numeric_limits<RealOf<T>>::epsilon()));
  bool any = false;
  for (Index j = 0; j < count; ++j) {
    LinearColumn& column = s_.ledger[j];
    if (column.norm <= most * column.rhs_norm) continue;
    column.without_guess = any = true;
    set_zero<T>(context_, s_.result.solution.columns(j, 1));
  }
  if (any) fresh_residuals(count);
}

template <Scalar T, class Ctx>
void ColumnProducts<T, Ctx>::archive(Archive& archive) {
  Index applied = applications();
  archive.values(applied, norm_before_steps_);
  steps_.archive(archive);
  if (preconditioner_ != nullptr) preconditioner_->archive(context_, archive);
  if (archive.loading()) applications_before_ = system_.A->columns_applied() - applied;
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class ColumnProducts<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
