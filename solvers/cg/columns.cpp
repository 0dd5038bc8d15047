#include <algorithm>
#include <cmath>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/cg/columns.hpp>
#include <heddle/solvers/cg/spd_probe.hpp>
#include <limits>

namespace heddle::detail {
namespace {

constexpr Index kProbes = 4;
constexpr Index kMostRefuted = 3;    // claims of convergence, each no better than an earlier one
constexpr double kResidualGap = 10;  // of the fresh residual to that of the recurrence

/// The next narrower block that products have a kernel for: the largest power of two below.
Index narrower(Index columns) {
  Index width = 1;
  while (2 * width < columns) width *= 2;
  return width;
}

}  // namespace

template <Scalar T, class Ctx>
LinearColumns<T, Ctx>::LinearColumns(Ctx& context, const LinearSystem<T, Ctx>& system,
                                     const LinearOptions& options, Index refresh_interval,
                                     const Monitor& monitor, std::vector<std::string> identity,
                                     Storage& storage)
    : context_(context),
      system_(system),
      options_(options),
      refresh_interval_(refresh_interval),
      s_(storage),
      result_(storage.result),
      engine_(context, options, std::move(identity), monitor, result_.history, kMostRefuted),
      applications_before_(system.A->columns_applied()),
      best_excess_(std::numeric_limits<double>::infinity()),
      best_claim_(std::numeric_limits<double>::infinity()) {}

template <Scalar T, class Ctx>
Index LinearColumns<T, Ctx>::start() {
  const Index b = system_.B.cols();
  const Block X = result_.solution.columns(0, b);
  set_zero(context_, X);
  scale_right_hand_sides();
  if (engine_.resumes() && !ended()) {
    resume();
    return std::ssize(result_.history);
  }
  const bool guess = system_.initial_guess.cols() > 0;
  nonzero_ = bring_forward(b, [](const LinearColumn& column) { return column.rhs_norm != 0; });
  if (guess) gather(system_.initial_guess, X.columns(0, nonzero_));
  probe_preconditioner();
  if (ended()) return 0;
  if (guess) {
    fresh_residuals(nonzero_);
  } else {
    gather(system_.B, s_.R.columns(0, nonzero_));
    for (LinearColumn& column : s_.columns) column.norm = column.rhs_norm;
  }
  for (LinearColumn& column : s_.columns) {
    column.first_norm = column.norm;
    column.first_x_norm = column.x_norm;
  }
  active_ = bring_forward(nonzero_, [](const LinearColumn& column) { return !column.converged(); });
  return 0;
}

/// A scale and a limit for each column, in the order of B.
template <Scalar T, class Ctx>
void LinearColumns<T, Ctx>::scale_right_hand_sides() {
  const Index b = system_.B.cols();
  s_.packet.clear();
  const auto norms = s_.packet.add(b, 1);
  column_norms(context_, system_.B, norms.there);
  s_.packet.fetch(context_);
  for (Index j = 0; j < b; ++j) {
    LinearColumn& column = s_.columns[static_cast<std::size_t>(j)];
    const double norm = norms.here(j, 0);
    if (!std::isfinite(norm)) end(SolveStatus::breakdown, "a right-hand side is not finite");
    if (std::isnormal(norm)) column.scale = std::ldexp(1.0, -std::ilogb(norm));
    column.index = j;
    column.rhs_norm = norm * column.scale;
    column.limit =
        options_.tolerance *
        (options_.criterion == LinearCriterion::relative ? column.rhs_norm : column.scale);
  }
}

template <Scalar T, class Ctx>
void LinearColumns<T, Ctx>::probe_preconditioner() {
  if (system_.preconditioner == nullptr || ended()) return;
  const Index k = std::min<Index>(kProbes, system_.B.cols());
  switch (probe_spd(context_, *system_.preconditioner, s_.packet, s_.scratch.columns(0, k),
                    s_.R.columns(0, k))) {
    case SpdProbe::passed:
      return;
    case SpdProbe::not_finite:
      return end(SolveStatus::breakdown, "products with the preconditioner are not finite");
    case SpdProbe::indefinite:
      return end(SolveStatus::indefinite, "the preconditioner is not positive definite");
    case SpdProbe::asymmetric:
      return end(SolveStatus::indefinite, "the preconditioner is not symmetric");
  }
}

template <Scalar T, class Ctx>
void LinearColumns<T, Ctx>::multiply_A(ConstBlockView<T, Space> P, Block Q) {
  system_.A->apply(context_, P, Q);
  if (P.cols() > 0) ++result_.matrix_passes;
}

template <Scalar T, class Ctx>
auto LinearColumns<T, Ctx>::precondition(Block Z) -> ConstBlockView<T, Space> {
  if (system_.preconditioner == nullptr) return R();
  system_.preconditioner->apply(context_, R(), Z);
  energies_ = s_.packet.add(active_, 1);
  column_dots<T>(context_, R(), Z, energies_.there);
  return Z;
}

template <Scalar T, class Ctx>
bool LinearColumns<T, Ctx>::measure(ConstSmallView<double, HostSpace> norms) {
  Index j = 0;
  for (LinearColumn& column : columns()) {
    column.norm = norms(j, 0);
    column.earlier_energy = column.energy;
    column.energy =
        system_.preconditioner != nullptr ? energies_.here(j, 0) : column.norm * column.norm;
    ++j;
    if (!std::isfinite(column.norm) || !std::isfinite(column.energy)) {
      end(SolveStatus::breakdown, "products with A or the preconditioner are not finite");
    } else if (column.norm > 0 && !(column.energy > 0)) {
      end(SolveStatus::indefinite,
          "the preconditioner is not positive definite: r'M⁻¹r <= 0 was met");
    }
  }
  measured_ = false;
  return !ended();
}

/// target ← the scaled columns of a block that is in the order of B, in the order of s_.columns.
template <Scalar T, class Ctx>
void LinearColumns<T, Ctx>::gather(ConstBlockView<T, Space> source, Block target) {
  const auto place = [&](Index j) { return s_.columns[static_cast<std::size_t>(j)].index; };
  for (Index first = 0; first < target.cols();) {
    Index count = 1;
    while (first + count < target.cols() && place(first + count) == place(first) + count) ++count;
    copy(context_, source.columns(place(first), count), target.columns(first, count));
    first += count;
  }
  scale(target, [](const LinearColumn& column) { return column.scale; });
}

template <Scalar T, class Ctx>
void LinearColumns<T, Ctx>::scale(Block X, double (*factor)(const LinearColumn&)) {
  s_.packet.clear();
  const SmallView<double, HostSpace> here = s_.packet.add(X.cols(), 1).here;
  const SmallView<double, Space> there = s_.factors.view(X.cols(), 1);
  for (Index j = 0; j < X.cols(); ++j) here(j, 0) = factor(s_.columns[static_cast<std::size_t>(j)]);
  send(context_, here, there);
  scale_columns<T>(context_, there, X);
}

/// R ← B − A X, ‖r‖ and ‖x‖ for the first `count` columns.
template <Scalar T, class Ctx>
void LinearColumns<T, Ctx>::fresh_residuals(Index count) {
  const PhaseScope phase(context_, Phase::residual);
  const Block X = result_.solution.columns(0, count);
  const Block R = s_.R.columns(0, count);
  const Block AX = s_.scratch.columns(0, count);
  multiply_A(X, AX);
  gather(system_.B, R);
  s_.packet.clear();
  const auto norms = s_.packet.add(count, 1);
  const auto x_norms = s_.packet.add(count, 1);
  const SmallView<double, HostSpace> ones = norms.here;
  std::fill_n(ones.data, count, 1.0);
  send(context_, ones, s_.factors.view(count, 1));
  residual<T>(context_, R, AX, s_.factors.view(count, 1), R, norms.there);
  column_norms<T>(context_, X, x_norms.there);
  s_.packet.fetch(context_);
  for (Index j = 0; j < count; ++j) {
    LinearColumn& column = s_.columns[static_cast<std::size_t>(j)];
    column.norm = norms.here(j, 0);
    column.x_norm = x_norms.here(j, 0);
  }
  measured_ = count == nonzero_;
}

/// Makes R afresh. Directions are kept as long as the recurrence had not gone astray.
template <Scalar T, class Ctx>
void LinearColumns<T, Ctx>::refresh() {
  for (LinearColumn& column : columns()) column.recurrence_norm = column.norm;
  fresh_residuals(active_);
  for (const LinearColumn& column : columns()) {
    if (!column.converged() && column.norm > kResidualGap * column.recurrence_norm) {
      restart_requested_ = true;
    }
  }
}

template <Scalar T, class Ctx>
void LinearColumns<T, Ctx>::shrink() {
  if (worst_excess() < stay_below_) return;
  const auto remaining = [](const LinearColumn& column) { return !column.converged(); };
  const auto left = std::count_if(columns().begin(), columns().end(), remaining);
  if (left <= narrower(active_)) active_ = bring_forward(active_, remaining);
}

/// Moves the columns among the first `count` that satisfy the predicate to the front; returns how
/// many there are.
template <Scalar T, class Ctx>
Index LinearColumns<T, Ctx>::bring_forward(Index count, bool (*predicate)(const LinearColumn&)) {
  Index front = 0;
  for (Index j = 0; j < count; ++j) {
    if (!predicate(s_.columns[static_cast<std::size_t>(j)])) continue;
    if (j != front) swap_columns(front, j);
    ++front;
  }
  return front;
}

template <Scalar T, class Ctx>
void LinearColumns<T, Ctx>::swap_columns(Index i, Index j) {
  const Block spare = s_.scratch.columns(0, 1);
  const auto swap = [&](MultiVector<T, Space>& block) {
    copy<T>(context_, block.columns(i, 1), spare);
    copy<T>(context_, block.columns(j, 1), block.columns(i, 1));
    copy<T>(context_, spare, block.columns(j, 1));
  };
  swap(result_.solution);
  swap(s_.R);
  if (s_.directions.follow_columns) swap(s_.directions.P);
  std::swap(s_.columns[static_cast<std::size_t>(i)], s_.columns[static_cast<std::size_t>(j)]);
}

template <Scalar T, class Ctx>
void LinearColumns<T, Ctx>::check_least_rayleigh_quotient(double least, Index m) noexcept {
  const double epsilon = std::numeric_limits<T>::epsilon();
  const double rounding =
      10 * static_cast<double>(m) * epsilon * std::max({-least, rayleigh_, norm_A()});
  if (!std::isfinite(least)) {
    end(SolveStatus::breakdown, "products with A are not finite");
  } else if (least < -rounding) {
    end(SolveStatus::indefinite, "A is not positive definite: p'Ap < 0 was met");
  }
}

/// ‖A‖₁, or what is known instead.
template <Scalar T, class Ctx>
double LinearColumns<T, Ctx>::norm_A() const {
  return system_.A->one_norm().value_or(rayleigh_);
}

template <Scalar T, class Ctx>
double LinearColumns<T, Ctx>::backward_error(const LinearColumn& column) const {
  return column.norm == 0 ? 0 : column.norm / (norm_A() * column.x_norm + column.rhs_norm);
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class LinearColumns<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
