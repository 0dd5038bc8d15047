#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <heddle/linalg/block_ops.hpp>
#include <heddle/linalg/instantiate.hpp>
#include <heddle/solvers/detail/linear_columns.hpp>
#include <heddle/solvers/detail/spd_probe.hpp>
#include <iterator>
#include <limits>

namespace heddle {
namespace {

constexpr Index kMaxFruitlessClaims = 3;
constexpr Index kPatience = 200;  // iterations without progress, or a third of all if that is more
constexpr double kProgress = 0.9;
constexpr Index kProbes = 4;
constexpr double kResidualGap = 10;  // of the fresh residual to that of the recurrence

/// Backward errors up to this are rounding: 10 ε.
template <Scalar T>
constexpr double kRounding = 10 * static_cast<double>(std::numeric_limits<T>::epsilon());

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
                                     const Monitor& monitor, Storage& storage)
    : context_(context),
      system_(system),
      options_(options),
      refresh_interval_(refresh_interval),
      monitor_(monitor),
      s_(storage),
      result_(storage.result),
      applications_before_(system.A->columns_applied()),
      best_excess_(std::numeric_limits<double>::infinity()),
      best_claim_(std::numeric_limits<double>::infinity()) {}

template <Scalar T, class Ctx>
void LinearColumns<T, Ctx>::start() {
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
  const Block X = result_.solution.columns(0, b);
  const bool guess = system_.initial_guess.cols() > 0;
  set_zero(context_, X);
  nonzero_ = bring_forward(b, [](const LinearColumn& column) { return column.rhs_norm != 0; });
  if (guess) gather(system_.initial_guess, X.columns(0, nonzero_));
  probe_preconditioner();
  if (ended()) return;
  if (guess) {
    fresh_residuals(nonzero_);
  } else {
    gather(system_.B, s_.R.columns(0, nonzero_));
    for (LinearColumn& column : s_.columns) column.norm = column.rhs_norm;
  }
  active_ = bring_forward(nonzero_, [](const LinearColumn& column) { return !column.converged(); });
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
bool LinearColumns<T, Ctx>::finished(Index iteration) {
  if (ended()) return true;
  if (iteration > 0 && iteration % refresh_interval_ == 0) refresh();
  record(iteration);
  const double excess = worst_excess();
  if (!std::isfinite(excess)) {
    end(SolveStatus::breakdown, "a residual is not finite");
  } else if (diverged()) {
    end(SolveStatus::breakdown, "residuals grow without bound: A is singular");
  } else if (excess <= 1 && verified()) {
    end(SolveStatus::converged, "all columns converged and passed verification");
  } else if (!ended() && !monitor_agrees()) {
    end(SolveStatus::interrupted, "stopped by the monitor");
  } else if (iteration >= options_.max_iterations) {
    end(SolveStatus::max_iterations, "the iteration limit was reached");
  } else if (seconds() >= options_.time_limit_s) {
    end(SolveStatus::time_limit, "the time limit was reached");
  } else if (stalled(iteration)) {
    end(SolveStatus::stagnated, "residuals stopped falling at the level of rounding");
  }
  if (!ended()) shrink();
  return ended();
}

template <Scalar T, class Ctx>
void LinearColumns<T, Ctx>::finish() {
  const Index b = system_.B.cols();
  if (!measured_) fresh_residuals(nonzero_);
  Index converged = b - nonzero_;
  double worst = 0;
  for (std::size_t j = 0; j < static_cast<std::size_t>(nonzero_); ++j) {
    const LinearColumn& column = s_.columns[j];
    const auto place = static_cast<std::size_t>(column.index);
    const double residual = column.norm / column.rhs_norm;
    result_.residuals[place] = residual;
    result_.backward_errors[place] = backward_error(column);
    if (!(residual <= worst)) worst = residual;  // keeps a NaN
    converged += column.converged();
  }
  scale(result_.solution.columns(0, b),
        [](const LinearColumn& column) { return 1 / column.scale; });
  for (Index j = 0; j < b; ++j) {
    while (s_.columns[static_cast<std::size_t>(j)].index != j) {
      swap_columns(j, s_.columns[static_cast<std::size_t>(j)].index);
    }
  }
  result_.status = *ended_;
  result_.operator_applications = system_.A->columns_applied() - applications_before_;
  fmt::format_to(std::back_inserter(result_.reason),
                 "{}: {} of {} columns converged in {} iterations, worst residual {:.2e}", reason_,
                 converged, b, result_.iterations, worst);
}

template <Scalar T, class Ctx>
void LinearColumns<T, Ctx>::multiply_A(ConstBlockView<T, Space> P, Block Q) {
  system_.A->apply(context_, P, Q);
  if (P.cols() > 0) ++result_.matrix_passes;
}

template <Scalar T, class Ctx>
void LinearColumns<T, Ctx>::precondition(Block Z) {
  if (system_.preconditioner == nullptr) return copy<T>(context_, R(), Z);
  system_.preconditioner->apply(context_, R(), Z);
  energies_ = s_.packet.add(active_, 1);
  column_dots<T>(context_, R(), Z, energies_.there);
}

template <Scalar T, class Ctx>
bool LinearColumns<T, Ctx>::measure(ConstSmallView<HostSpace> norms) {
  Index j = 0;
  for (LinearColumn& column : columns()) {
    column.norm = norms(j, 0);
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

template <Scalar T, class Ctx>
void LinearColumns<T, Ctx>::end(SolveStatus status, std::string_view reason) {
  if (ended()) return;
  ended_ = status;
  reason_ = reason;
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
template <class Factor>
void LinearColumns<T, Ctx>::scale(Block X, const Factor& factor) {
  s_.packet.clear();
  const SmallView<HostSpace> here = s_.packet.add(X.cols(), 1).here;
  const SmallView<Space> there = s_.factors.view(X.cols(), 1);
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
  const SmallView<HostSpace> ones = norms.here;
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
      restart_due_ = true;
    }
  }
}

/// Whether fresh residuals confirm that all columns have converged; else those that have not are
/// the active ones.
template <Scalar T, class Ctx>
bool LinearColumns<T, Ctx>::verified() {
  const PhaseScope phase(context_, Phase::verify);
  fresh_residuals(nonzero_);
  active_ = bring_forward(nonzero_, [](const LinearColumn& column) { return !column.converged(); });
  if (active_ == 0) return true;
  restart_due_ = true;
  const double excess = worst_excess();
  if (!std::isfinite(excess)) {
    end(SolveStatus::breakdown, "a residual is not finite");
  } else if (excess > 0.5 * best_claim_ && ++fruitless_claims_ >= kMaxFruitlessClaims) {
    if (at_rounding()) {
      end(SolveStatus::stagnated, "residuals stopped falling at the level of rounding");
    } else {
      end(SolveStatus::verification_failed,
          "the iteration claims convergence, products made afresh do not confirm it");
    }
  }
  best_claim_ = std::min(best_claim_, excess);
  return false;
}

template <Scalar T, class Ctx>
void LinearColumns<T, Ctx>::shrink() {
  if (worst_excess() < stay_below_) return;
  const auto remaining = [](const LinearColumn& column) { return !column.converged(); };
  const auto left = std::count_if(columns().begin(), columns().end(), remaining);
  if (left <= narrower(active_)) active_ = bring_forward(active_, remaining);
}

template <Scalar T, class Ctx>
bool LinearColumns<T, Ctx>::stalled(Index iteration) {
  const double excess = worst_excess();
  if (excess < kProgress * best_excess_) {
    best_excess_ = excess;
    best_iteration_ = iteration;
  }
  if (iteration - best_iteration_ < std::max(kPatience, iteration / 3)) return false;
  best_iteration_ = iteration;
  refresh();
  return at_rounding();
}

/// Whether residuals have grown by 1/ε: by more than √κ(A), the most that CG allows, for every A
/// that is not singular to the precision.
template <Scalar T, class Ctx>
bool LinearColumns<T, Ctx>::diverged() const {
  const double first = std::max(1.0, result_.history.front().worst_residual);
  const double growth = result_.history.back().worst_residual / first;
  return growth * static_cast<double>(std::numeric_limits<T>::epsilon()) > 1;
}

template <Scalar T, class Ctx>
bool LinearColumns<T, Ctx>::at_rounding() const {
  return std::all_of(s_.columns.begin(), s_.columns.begin() + active_, [&](const auto& column) {
    return column.converged() || backward_error(column) <= kRounding<T>;
  });
}

/// Moves the columns among the first `count` that satisfy the predicate to the front; returns how
/// many there are.
template <Scalar T, class Ctx>
template <class Predicate>
Index LinearColumns<T, Ctx>::bring_forward(Index count, const Predicate& predicate) {
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
  if (tied_ != nullptr) swap(*tied_);
  std::swap(s_.columns[static_cast<std::size_t>(i)], s_.columns[static_cast<std::size_t>(j)]);
}

template <Scalar T, class Ctx>
double LinearColumns<T, Ctx>::backward_error(const LinearColumn& column) const {
  const double norm_A = system_.A->one_norm().value_or(rayleigh_);
  return column.norm == 0 ? 0 : column.norm / (norm_A * column.x_norm + column.rhs_norm);
}

/// The largest ‖r‖ of the active columns over what the criterion allows.
template <Scalar T, class Ctx>
double LinearColumns<T, Ctx>::worst_excess() const {
  double worst = 0;
  for (Index j = 0; j < active_; ++j) {
    const LinearColumn& column = s_.columns[static_cast<std::size_t>(j)];
    const double excess = column.norm / column.limit;
    if (!(excess <= worst)) worst = excess;  // keeps a NaN
  }
  return worst;
}

template <Scalar T, class Ctx>
void LinearColumns<T, Ctx>::record(Index iteration) {
  IterationRecord now;
  now.iteration = result_.iterations = iteration;
  for (const LinearColumn& column : s_.columns) {
    now.converged += column.converged();
    if (column.norm > 0) {
      now.worst_residual = std::max(now.worst_residual, column.norm / column.rhs_norm);
    }
  }
  now.seconds = seconds();
  now.active_columns = active_;
  now.operator_applications = system_.A->columns_applied() - applications_before_;
  result_.history.push_back(now);
}

template <Scalar T, class Ctx>
bool LinearColumns<T, Ctx>::monitor_agrees() {
  if (!monitor_) return true;
  s_.monitor_residuals.assign(s_.columns.size(), 0.0);
  for (const LinearColumn& column : s_.columns) {
    if (column.norm == 0) continue;
    s_.monitor_residuals[static_cast<std::size_t>(column.index)] = column.norm / column.rhs_norm;
  }
  return monitor_({result_.history.back(), system_.B.cols(), {}, s_.monitor_residuals});
}

template <Scalar T, class Ctx>
double LinearColumns<T, Ctx>::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class LinearColumns<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
