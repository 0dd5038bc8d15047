#include <algorithm>
#include <cmath>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/cg/columns.hpp>
#include <heddle/solvers/iteration/worst.hpp>
#include <limits>

/// When a solve for the columns of a linear system ends, and with what; checkpoints on the way.
namespace heddle::detail {
namespace {

constexpr Index kPatience = 200;  // iterations without progress, or a third of all if that is more
constexpr double kProgress = 0.9;

/// Backward errors up to this are rounding: 10 ε.
template <Scalar T>
constexpr double kRounding = 10 * static_cast<double>(std::numeric_limits<T>::epsilon());

}  // namespace

template <Scalar T, class Ctx>
bool LinearColumns<T, Ctx>::finish_iteration(Index iteration) {
  if (ended()) return true;
  engine_.capture(*this);
  result_.iterations = iteration;
  engine_.finish_iteration(*this, "all columns converged and passed verification");
  if (!ended()) shrink();
  return ended();
}

template <Scalar T, class Ctx>
std::optional<StopControl::Stop> LinearColumns<T, Ctx>::trouble() const {
  if (std::isfinite(worst_excess())) return std::nullopt;
  return StopControl::Stop{SolveStatus::breakdown, "a residual is not finite"};
}

template <Scalar T, class Ctx>
Claim LinearColumns<T, Ctx>::claim() {
  const Index iteration = result_.iterations;
  if (iteration > 0 && iteration % refresh_interval_ == 0) refresh();
  const double excess = worst_excess();
  if (!std::isfinite(excess)) {
    end(SolveStatus::breakdown, "a residual is not finite");
  } else if (diverged()) {
    end(SolveStatus::breakdown, "residuals grow without bound: A is singular");
  } else if (excess <= 1) {
    return verify();
  }
  return Claim::none;
}

/// What an iteration begins with, but for the long blocks.
template <Scalar T, class Ctx>
void LinearColumns<T, Ctx>::archive(Archive& archive) {
  Index applied = applications();
  archive.values(applied, active_, nonzero_, rayleigh_, best_excess_, best_iteration_, best_claim_,
                 restart_requested_, measured_, result_.iterations, result_.matrix_passes,
                 result_.orthogonalization, s_.directions.count, s_.directions.careful);
  if (archive.loading()) applications_before_ = system_.A->columns_applied() - applied;
  archive.list(s_.columns);
}

template <Scalar T, class Ctx>
void LinearColumns<T, Ctx>::resume() {
  const std::vector<LinearColumn> given = s_.columns;
  engine_.resume(*this);
  for (const LinearColumn& column : s_.columns) {
    if (column.rhs_norm == given[static_cast<std::size_t>(column.index)].rhs_norm) continue;
    throw InputError(options_.checkpoint.file.string(), 0,
                     "is the checkpoint of another solve, with other right-hand sides");
  }
}

template <Scalar T, class Ctx>
void LinearColumns<T, Ctx>::finish() {
  const Index b = system_.B.cols();
  if (!measured_) fresh_residuals(nonzero_);
  restore_order();
  if (engine_.status() != SolveStatus::converged) take_back();
  Index converged = 0;
  double worst = 0;
  for (std::size_t j = 0; j < s_.columns.size(); ++j) {
    const LinearColumn& column = s_.columns[j];
    converged += column.converged();
    if (column.norm == 0) continue;
    result_.residuals[j] = column.norm / column.rhs_norm;
    result_.backward_errors[j] = backward_error(column);
    keep_worst(worst, result_.residuals[j]);
  }
  result_.operator_applications = applications();
  result_.status = engine_.conclude(
      {converged, b, "columns", result_.iterations, "iterations", worst}, result_.reason);
}

/// X in the order and the scale of B.
template <Scalar T, class Ctx>
void LinearColumns<T, Ctx>::restore_order() {
  const Index b = system_.B.cols();
  scale(result_.solution.columns(0, b),
        [](const LinearColumn& column) { return 1 / column.scale; });
  for (Index j = 0; j < b; ++j) {
    while (s_.columns[static_cast<std::size_t>(j)].index != j) {
      swap_columns(j, s_.columns[static_cast<std::size_t>(j)].index);
    }
  }
}

/// Columns that are worse than what they began with become that again.
template <Scalar T, class Ctx>
void LinearColumns<T, Ctx>::take_back() {
  const double growth = allowed_growth();
  for (LinearColumn& column : s_.columns) {
    if (!std::isfinite(column.first_norm) || column.norm <= growth * column.first_norm) continue;
    const Block x = result_.solution.columns(column.index, 1);
    if (system_.initial_guess.cols() > 0) {
      copy<T>(context_, system_.initial_guess.columns(column.index, 1), x);
    } else {
      set_zero<T>(context_, x);
    }
    column.norm = column.first_norm;
    column.x_norm = column.first_x_norm;
  }
}

/// How much larger ‖r‖ may be than at first. A solve that was stopped has lessened the energy norm
/// of each error, while ‖r‖ may grow by √κ(A): by less than 1/√ε if A is not singular to the
/// precision. After trouble, or if A is as good as singular, residuals are all that counts.
template <Scalar T, class Ctx>
double LinearColumns<T, Ctx>::allowed_growth() const {
  const SolveStatus status = engine_.status();
  const bool stopped = status == SolveStatus::max_iterations || status == SolveStatus::time_limit ||
                       status == SolveStatus::interrupted;
  if (!stopped || s_.directions.careful) return 1;
  return 1 / std::sqrt(static_cast<double>(std::numeric_limits<T>::epsilon()));
}

/// Whether fresh residuals confirm that all columns have converged. If not, the columns that have
/// not converged become the active ones. A claim counts as refuted where it brought less than a
/// halving of the excess over the best earlier one.
template <Scalar T, class Ctx>
Claim LinearColumns<T, Ctx>::verify() {
  const PhaseScope phase(context_, Phase::verify);
  fresh_residuals(nonzero_);
  active_ = bring_forward(nonzero_, [](const LinearColumn& column) { return !column.converged(); });
  if (active_ == 0) return Claim::confirmed;
  restart_requested_ = true;
  const double excess = worst_excess();
  if (!std::isfinite(excess)) {
    end(SolveStatus::breakdown, "a residual is not finite");
    return Claim::none;
  }
  const bool fruitless = excess > 0.5 * best_claim_;
  best_claim_ = std::min(best_claim_, excess);
  return fruitless ? Claim::refuted : Claim::none;
}

template <Scalar T, class Ctx>
bool LinearColumns<T, Ctx>::stagnated() {
  const Index iteration = result_.iterations;
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

/// The largest ‖r‖ of the active columns over what the criterion allows; NaN if one is.
template <Scalar T, class Ctx>
double LinearColumns<T, Ctx>::worst_excess() const {
  double worst = 0;
  for (Index j = 0; j < active_; ++j) {
    const LinearColumn& column = s_.columns[static_cast<std::size_t>(j)];
    keep_worst(worst, column.norm / column.limit);
  }
  return worst;
}

template <Scalar T, class Ctx>
IterationRecord LinearColumns<T, Ctx>::record() const {
  IterationRecord now;
  now.iteration = result_.iterations;
  for (const LinearColumn& column : s_.columns) {
    now.converged += column.converged();
    if (column.norm == 0) continue;
    keep_worst(now.worst_residual, column.norm / column.rhs_norm);
  }
  now.active_columns = active_;
  now.operator_applications = applications();
  return now;
}

template <Scalar T, class Ctx>
MonitorState LinearColumns<T, Ctx>::shown(const IterationRecord& record) {
  s_.monitor_residuals.assign(s_.columns.size(), 0.0);
  for (const LinearColumn& column : s_.columns) {
    if (column.norm == 0) continue;
    s_.monitor_residuals[static_cast<std::size_t>(column.index)] = column.norm / column.rhs_norm;
  }
  return {record, system_.B.cols(), {}, s_.monitor_residuals};
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class LinearColumns<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
