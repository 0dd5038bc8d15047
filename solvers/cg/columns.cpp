#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/cg/columns.hpp>
#include <heddle/solvers/cg/digits.hpp>
#include <heddle/solvers/iteration/worst.hpp>
#include <limits>

namespace heddle::detail {
namespace {

/// Refuted claims of convergence with too little progress that end a solve.
constexpr Index kMostRefuted = 3;
constexpr double kResidualGap = 10;  // ratio of the recomputed residual to that of the recurrence

constexpr StopControl::Stop kResidualNotFinite = {SolveStatus::breakdown,
                                                  "a residual is not finite"};

/// Backward errors up to this value are due to rounding: 10 ε.
template <Scalar T>
constexpr double kRounding = 10 * static_cast<double>(std::numeric_limits<RealOf<T>>::epsilon());

/// Backward errors at which a solve that makes no progress for long, or finds no direction, has
/// come to rest by rounding. Rounding errors of large intermediate iterates stay in the last one.
template <Scalar T>
constexpr double kRestingRounding = 100 * kRounding<T>;

constexpr StopControl::Stop kAtRounding = {SolveStatus::stagnated,
                                           "residuals stopped falling at the level of rounding"};

constexpr StopControl::Stop kUnrepresentable = {
    SolveStatus::breakdown, "a solution overflows or underflows: scale A or the right-hand side"};

bool remains(const LinearColumn& column) { return !column.converged(); }

/// Gives up columns whose solution overflows or underflows at the scale of B. Such a column becomes
/// its initial guess again. Returns whether there is one.
template <Scalar T>
bool give_up_unrepresentable(ColumnLedger& ledger) {
  using Number = std::numeric_limits<RealOf<T>>;
  bool any = false;
  for (LinearColumn& column : ledger.columns) {
    if (column.representable(Number::min(), Number::max())) continue;
    column.norm = std::numeric_limits<double>::infinity();
    any = true;
  }
  return any;
}

template <Scalar T>
const double kSmall = std::sqrt(static_cast<double>(std::numeric_limits<RealOf<T>>::epsilon()));

/// Whether ‖r‖ ≤ √ε‖b‖. This is not so for a singular system without a solution, whose x grows
/// until any residual is small against ‖A‖‖x‖.
template <Scalar T>
bool small_residual(const LinearColumn& column) {
  return column.norm <= kSmall<T> * column.rhs_norm;
}

/// Whether all active columns that have not converged have backward errors that are rounding. A
/// `resting` solve makes no progress. Its backward errors may be larger if its residuals are small.
template <Scalar T, class Ctx>
bool at_rounding_errors(const ColumnLedger& ledger, const OperatorNorm<T, Ctx>& norm_A,
                        bool resting) {
  const auto columns = ledger.active_columns();
  return std::all_of(columns.begin(), columns.end(), [&](const LinearColumn& column) {
    const double error = norm_A.backward_error(column);
    if (column.converged() || error <= kRounding<T>) return true;
    return resting && error <= kRestingRounding<T> && small_residual<T>(column);
  });
}

/// The next narrower block that products have a kernel for: the largest power of two below.
Index narrower(Index columns) {
  Index width = 1;
  while (2 * width < columns) width *= 2;
  return width;
}

/// Removes converged columns from the block once the others fit into a narrower one, unless all ‖r‖
/// are below `stay_below` times their limits.
template <Scalar T, class Ctx>
void shrink(ColumnLedger& ledger, ColumnOrder<T, Ctx>& order, double stay_below) {
  if (ledger.worst_excess() < stay_below) return;
  const auto columns = ledger.active_columns();
  const auto left = std::count_if(columns.begin(), columns.end(), remains);
  if (left <= narrower(ledger.active)) {
    ledger.active = order.bring_forward(ledger.active, remains);
  }
}

/// Whether residuals have grown by more than 1/ε. In CG, ‖r‖ can grow by at most √κ(A), which is
/// less than 1/ε for every A that is not singular to working precision.
bool diverged(const std::vector<IterationRecord>& history, double epsilon) {
  const double first = std::max(1.0, history.front().worst_residual);
  const double growth = history.back().worst_residual / first;
  return growth * epsilon > 1;
}

/// The largest allowed ratio of ‖r‖ at the end to ‖r‖ at the start. A solve that was stopped has
/// reduced the energy norm of each error, although ‖r‖ may have grown by √κ(A). This factor is less
/// than 1/√ε if A is not singular to working precision. After numerical trouble, or if A is nearly
/// singular, ‖r‖ must not have grown.
double allowed_growth(SolveStatus status, bool careful, double epsilon) {
  const bool stopped = status == SolveStatus::max_iterations || status == SolveStatus::time_limit ||
                       status == SolveStatus::interrupted;
  return stopped && !careful ? 1 / std::sqrt(epsilon) : 1;
}

/// Resets columns whose ‖r‖ has grown by more than `growth` to their initial guess, or zero. X is
/// in the order and the scale of B.
template <Scalar T, class Ctx>
void take_back(Ctx& context, const LinearSystem<T, Ctx>& system,
               LinearColumnsStorage<T, Ctx>& storage, double growth) {
  for (LinearColumn& column : storage.ledger.columns) {
    if (!std::isfinite(column.first_norm) || column.norm <= growth * column.first_norm) continue;
    const auto x = storage.result.solution.columns(column.index, 1);
    if (system.initial_guess.cols() > 0 && !column.without_guess) {
      copy<T>(context, system.initial_guess.columns(column.index, 1), x);
    } else {
      set_zero<T>(context, x);
    }
    column.norm = column.first_norm;
    column.x_norm = column.first_x_norm;
  }
}

/// Whether the solution that will be written has converged: not only X at the scale of the solve.
/// Columns for which that may differ get fresh residuals.
template <Scalar T, class Ctx>
bool is_representable(ColumnLedger& ledger, const OperatorNorm<T, Ctx>& norm_A, Index rows,
                      ColumnOrder<T, Ctx>& order, ColumnProducts<T, Ctx>& products) {
  if (give_up_unrepresentable<T>(ledger)) return false;
  const double lost = norm_A.value() * static_cast<double>(std::numeric_limits<RealOf<T>>::min()) *
                      std::sqrt(static_cast<double>(rows));
  const auto loses = [&](const LinearColumn& column) {
    return lost * column.scale > column.limit / 10;
  };
  if (std::none_of(ledger.columns.begin(), ledger.columns.end(), loses)) return true;
  order.round_as_restored();
  products.fresh_residuals(ledger.nonzero);
  return std::none_of(ledger.columns.begin(), ledger.columns.end(), remains);
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
      order_(context, storage),
      products_(context, system, order_, storage),
      norm_A_(*system.A),
      engine_(context, options, std::move(identity), monitor, storage.result.history,
              kMostRefuted) {}

template <Scalar T, class Ctx>
Index LinearColumns<T, Ctx>::start() {
  const Index b = system_.B.cols();
  const Block X = s_.result.solution.columns(0, b);
  ColumnLedger& ledger = s_.ledger;
  set_zero(context_, X);
  end(order_.begin(system_.B, options_));
  if (engine_.resumes() && !ended()) {
    resume();
    return std::ssize(s_.result.history);
  }
  const bool guess = system_.initial_guess.cols() > 0;
  ledger.nonzero =
      order_.bring_forward(b, [](const LinearColumn& column) { return column.rhs_norm != 0; });
  if (guess) order_.gather(system_.initial_guess, X.columns(0, ledger.nonzero));
  if (!ended()) end(products_.probe_preconditioner());
  if (ended()) return 0;
  if (guess) {
    fresh_residuals(ledger.nonzero);
    products_.drop_useless_guesses(ledger.nonzero);
  } else {
    order_.gather(system_.B, s_.R.columns(0, ledger.nonzero));
    for (LinearColumn& column : ledger.columns) column.norm = column.rhs_norm;
  }
  for (LinearColumn& column : ledger.columns) {
    column.first_norm = column.norm;
    column.first_x_norm = column.x_norm;
  }
  ledger.active = order_.bring_forward(ledger.nonzero, remains);
  return 0;
}

template <Scalar T, class Ctx>
void LinearColumns<T, Ctx>::resume() {
  const std::vector<LinearColumn> given = s_.ledger.columns;
  engine_.resume(*this);
  for (const LinearColumn& column : s_.ledger.columns) {
    if (column.rhs_norm == given[static_cast<std::size_t>(column.index)].rhs_norm) continue;
    throw InputError(options_.checkpoint.file.string(), 0,
                     "is the checkpoint of another solve, with other right-hand sides");
  }
}

template <Scalar T, class Ctx>
bool LinearColumns<T, Ctx>::finish_iteration(Index iteration) {
  if (ended()) return true;
  engine_.capture(*this);
  s_.result.iterations = iteration;
  engine_.finish_iteration(*this, "all columns converged and passed verification");
  if (!ended() && progress_.slow(iteration, s_.ledger.worst_excess())) {
    restart_requested_ |= products_.raise_preconditioner();
  }
  if (!ended()) restart_requested_ |= products_.choose_preconditioner();
  if (!ended()) shrink(s_.ledger, order_, stay_below_);
  return ended();
}

template <Scalar T, class Ctx>
void LinearColumns<T, Ctx>::finish() {
  if (!measured_) fresh_residuals(s_.ledger.nonzero);
  order_.restore();
  const SolveStatus status = engine_.status();
  give_up_unrepresentable<T>(s_.ledger);
  if (status != SolveStatus::converged) {
    have_digits(s_.ledger, *system_.A, s_.loose_rows);
    take_back(
        context_, system_, s_,
        allowed_growth(status, s_.directions.careful, std::numeric_limits<RealOf<T>>::epsilon()));
  }
  LinearResult<T, Space>& result = s_.result;
  s_.ledger.list_residuals(result.residuals);
  for (const LinearColumn& column : s_.ledger.columns) {
    const auto j = static_cast<std::size_t>(column.index);
    result.backward_errors[j] = norm_A_.backward_error(column);
    result.error_estimates[j] = column.rhs_norm == 0 ? 0 : column.error_estimate();
    result.converged[j] = column.converged();
  }
  result.operator_applications = products_.applications();
  result.status = engine_.conclude({s_.ledger.converged(), system_.B.cols(), "columns",
                                    result.iterations, "iterations", s_.ledger.worst_residual()},
                                   result.reason);
  const auto unsettled = [](const LinearColumn& column) {
    return column.doubted && remains(column);
  };
  if (std::any_of(s_.ledger.columns.begin(), s_.ledger.columns.end(), unsettled)) {
    result.reason += "; where |b - A x| met the tolerance, error estimates show no digits of x";
  }
}

template <Scalar T, class Ctx>
IterationRecord LinearColumns<T, Ctx>::record() const {
  IterationRecord now;
  now.iteration = s_.result.iterations;
  now.converged = s_.ledger.converged();
  now.worst_residual = s_.ledger.worst_residual();
  now.active_columns = active();
  now.operator_applications = products_.applications();
  return now;
}

template <Scalar T, class Ctx>
MonitorState LinearColumns<T, Ctx>::shown(const IterationRecord& record) {
  s_.ledger.list_residuals(s_.monitor_residuals);
  return {record, system_.B.cols(), {}, s_.monitor_residuals};
}

template <Scalar T, class Ctx>
auto LinearColumns<T, Ctx>::trouble() const -> std::optional<Stop> {
  if (std::isfinite(s_.ledger.worst_excess())) return std::nullopt;
  return kResidualNotFinite;
}

template <Scalar T, class Ctx>
Claim LinearColumns<T, Ctx>::claim() {
  const Index iteration = s_.result.iterations;
  if (iteration > 0 && iteration % refresh_interval_ == 0) refresh();
  const double excess = s_.ledger.worst_excess();
  if (!std::isfinite(excess)) {
    end(kResidualNotFinite);
  } else if (diverged(s_.result.history, std::numeric_limits<RealOf<T>>::epsilon())) {
    end(Stop{SolveStatus::breakdown,
             "residuals grow without bound: A is singular to working precision"});
  } else if (excess <= 1) {
    return verify();
  }
  return Claim::none;
}

/// Whether fresh residuals confirm that all columns have converged. If not, the columns that have
/// not converged become the active ones. A claim counts as refuted where it brought less than a
/// halving of the excess over the best earlier one.
template <Scalar T, class Ctx>
Claim LinearColumns<T, Ctx>::verify() {
  const PhaseScope phase(context_, Phase::verify);
  fresh_residuals(s_.ledger.nonzero);
  s_.ledger.active = order_.bring_forward(s_.ledger.nonzero, remains);
  if (active() == 0) {
    if (!is_representable(s_.ledger, norm_A_, system_.A->row_range().global, order_, products_)) {
      end(kUnrepresentable);
      return Claim::none;
    }
    if (have_digits(s_.ledger, *system_.A, s_.loose_rows)) return Claim::confirmed;
    s_.ledger.active = order_.bring_forward(s_.ledger.nonzero, remains);
  }
  restart_requested_ = true;
  const double excess = s_.ledger.worst_excess();
  if (!std::isfinite(excess)) {
    end(kResidualNotFinite);
    return Claim::none;
  }
  return progress_.fruitless_claim(excess) ? Claim::refuted : Claim::none;
}

template <Scalar T, class Ctx>
std::string LinearColumns<T, Ctx>::refutation() const {
  return fmt::format("|b - A x| of a column is {:.1e} times what is allowed",
                     s_.ledger.worst_excess());
}

template <Scalar T, class Ctx>
bool LinearColumns<T, Ctx>::at_rounding() const {
  return at_rounding_errors<T>(s_.ledger, norm_A_, false);
}

template <Scalar T, class Ctx>
void LinearColumns<T, Ctx>::end_without_energy() {
  refresh();
  const auto columns = std::as_const(s_.ledger).active_columns();
  const bool small = std::all_of(columns.begin(), columns.end(), small_residual<T>);
  if (small && at_rounding_errors<T>(s_.ledger, norm_A_, true)) return end(kAtRounding);
  end(Stop{SolveStatus::breakdown,
           "no direction of positive energy is left: A is singular to working precision"});
}

template <Scalar T, class Ctx>
bool LinearColumns<T, Ctx>::stagnated() {
  if (!progress_.stalled(s_.result.iterations, s_.ledger.worst_excess())) return false;
  if (products_.raise_preconditioner()) {
    restart_requested_ = true;
    return false;
  }
  refresh();
  return at_rounding_errors<T>(s_.ledger, norm_A_, true);
}

/// Saves or loads all numbers with which an iteration begins.
template <Scalar T, class Ctx>
void LinearColumns<T, Ctx>::archive(Archive& archive) {
  products_.archive(archive);
  archive.values(s_.ledger.active, s_.ledger.nonzero);
  norm_A_.archive(archive);
  progress_.archive(archive);
  archive.values(restart_requested_, measured_, s_.result.iterations, s_.result.matrix_passes,
                 s_.result.orthogonalization, s_.directions.count, s_.directions.orthonormal,
                 s_.directions.least_square, s_.directions.careful);
  archive.list(s_.ledger.columns);
}

template <Scalar T, class Ctx>
bool LinearColumns<T, Ctx>::measure(ConstSmallView<double, HostSpace> norms) {
  measured_ = false;
  const std::optional<Stop> stop = products_.measure(norms);
  if (stop && products_.raise_preconditioner()) {
    restart_requested_ = true;
    return false;
  }
  end(stop);
  return !ended();
}

template <Scalar T, class Ctx>
bool LinearColumns<T, Ctx>::have_converged(ConstSmallView<double, Space> norms) {
  if constexpr (std::same_as<Space, HostSpace>) {
    for (Index j = 0; j < active(); ++j) {
      if (!(norms(j, 0) <= s_.ledger[j].limit)) return false;
    }
    for (Index j = 0; j < active(); ++j) s_.ledger[j].norm = norms(j, 0);
    measured_ = false;
    restart_requested_ = true;
    return true;
  }
  return false;
}

template <Scalar T, class Ctx>
void LinearColumns<T, Ctx>::fresh_residuals(Index count) {
  products_.fresh_residuals(count);
  measured_ = count == s_.ledger.nonzero;
}

/// Computes R of the active columns as B − A X. Requests a restart if the R of the recurrence
/// differs much from this, because the search directions are then not consistent with R. At the
/// level of rounding, replaced residuals spoil the directions little by little. A restart follows
/// where residuals have grown again by much (van der Vorst and Ye, SIAM J. Sci. Comput. 22 (2000)
/// 835).
template <Scalar T, class Ctx>
void LinearColumns<T, Ctx>::refresh() {
  for (LinearColumn& column : columns()) column.recurrence_norm = column.norm;
  fresh_residuals(active());
  for (const LinearColumn& column : columns()) {
    if (!column.converged() && column.norm > kResidualGap * column.recurrence_norm) {
      restart_requested_ = true;
    }
  }
  const auto was_small = [](const LinearColumn& column) {
    return column.norm <= ColumnProgress::kLost * kSmall<T> * column.rhs_norm;
  };
  if (progress_.lost(s_.ledger.worst_excess()) && std::ranges::all_of(columns(), was_small)) {
    restart_requested_ = true;
  }
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class LinearColumns<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
