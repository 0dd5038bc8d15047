#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/iteration/dense_solve.hpp>
#include <heddle/solvers/lanczos/slices/slice_sizes.hpp>
#include <heddle/solvers/lanczos/slices/solve.hpp>
#include <limits>
#include <utility>

/// The loop over slices. The counts that place them are in placing.cpp, the end in ending.cpp.
namespace heddle::detail {
namespace {

/// A slice takes all eigenvalues up to its upper limit if they are at most so many times the number
/// that is searched for at once.
constexpr double kWhole = 1.5;

/// Pairs within this part of a slice beyond its limits are known eigenvectors for it, up to so
/// many.
constexpr double kNear = 1e-4;
constexpr std::size_t kMostNear = 64;

template <Scalar T, class Ctx>
EigenConvergence convergence_of_slices(const EigenProblem<T, Ctx>& problem,
                                       const IntervalOptions& options) {
  const double norm_A = problem.A->one_norm().value_or(1);
  const double norm_B = problem.B == nullptr ? 1 : problem.B->one_norm().value_or(1);
  return {options.criterion, options.tolerance, norm_A, norm_B,
          static_cast<double>(std::numeric_limits<RealOf<T>>::epsilon())};
}

}  // namespace

template <Scalar T, class Ctx>
SliceSolve<T, Ctx>::SliceSolve(Ctx& context, const EigenProblem<T, Ctx>& problem,
                               const EigenProblem<T, Ctx>& whole,
                               IndefiniteInverse<T, Ctx>& inverse, const IntervalOptions& options,
                               const Monitor& monitor)
    : context_(context),
      problem_(problem),
      whole_(whole),
      team_(context.processes()),
      inverse_(inverse),
      options_(options),
      monitor_(monitor),
      rows_(problem.A->row_range()),
      n_(rows_.global),
      products_before_(products()),
      solves_before_(inverse.columns_applied()),
      engine_(context, options, {}, monitor, unused_, 1),
      convergence_(convergence_of_slices(problem, options)),
      tolerance_(options.tolerance) {
  NearestOptions nearest;
  nearest.block_size = options.block_size;
  block_ = nearest_block_size(nearest, n_);
}

template <Scalar T, class Ctx>
EigenResult<T, typename Ctx::Space> SliceSolve<T, Ctx>::run() {
  plan();                    // numbers of eigenvalues below both ends
  divide();                  // the part of this process
  while (goes_on()) next();  // the pairs of the lowest slice
  join();                    // the rows of the pairs of all processes
  finish();                  // XᵀA X = Λ, XᵀB X = I, over all slices
  return std::move(result_);
}

template <Scalar T, class Ctx>
void SliceSolve<T, Ctx>::end_with(SolveStatus status, std::string reason) {
  reason_ = std::move(reason);
  engine_.end(status, reason_);
}

template <Scalar T, class Ctx>
void SliceSolve<T, Ctx>::plan() {
  if (n_ <= kDenseOrder && solve_dense()) return;
  if (!count_ends()) return;
  const Index count = interval_.counts.between();
  if (count == 0) {
    return engine_.end(SolveStatus::converged, "no eigenvalue lies in the interval");
  }
  if (count > options_.nev) {
    return end_with(SolveStatus::max_iterations,
                    fmt::format("the interval holds {} eigenvalues, more than nev = {}: raise nev",
                                count, options_.nev));
  }
  if (context_.agree(dense_pays(count)) && solve_dense()) return;
  const int processes = team_ == nullptr ? 1 : team_->size();
  const double bytes =
      (team_ == nullptr ? 1 : team_->on_this_machine()) *
      sliced_memory_bytes(options_, n_, count, problem_.B != nullptr, sizeof(T), processes);
  if (context_.agree(bytes > options_.dense_bytes)) {
    return end_with(SolveStatus::max_iterations,
                    fmt::format("the interval holds {} eigenvalues, whose vectors need {:.1f} GiB "
                                "of memory, {:.1f} GiB may be used",
                                count, bytes / 0x1p30, options_.dense_bytes / 0x1p30));
  }
  slices_.push_back(interval_);
}

/// Whether a dense solve takes less time than all slices. Process 0 decides, which has counted.
template <Scalar T, class Ctx>
bool SliceSolve<T, Ctx>::dense_pays(Index pairs) const {
  if (team_ != nullptr && !team_->leads()) return false;
  if (!dense_solve_may_follow(n_, options_.dense_bytes, sizeof(T))) return false;
  const Index each = interval_.pairs;
  const double slices = static_cast<double>((pairs + each - 1) / each);
  return dense_operations(n_) <
         slices * slice_operations(n_, inverse_.factor_entries(), block_, std::min(each, pairs));
}

/// Solves the lowest slice or a part of it. A process that has no slice left does nothing.
template <Scalar T, class Ctx>
void SliceSolve<T, Ctx>::next() {
  if (slices_.empty()) return;
  const Apart<Ctx> apart(context_);
  Slice slice = slices_.back();
  if (engine_.stop_requested()) return engine_.end_as_requested();
  if (result_.iterations >= options_.max_iterations) {
    return engine_.end(SolveStatus::max_iterations, "the iteration limit was reached");
  }
  slices_.pop_back();
  if (slice.counts.between() == 0) return;
  Index wanted = 0;
  const std::optional<double> sigma = place(slice, wanted);
  if (!sigma) return;
  if (static_cast<double>(slice.counts.between()) <=
      kWhole * static_cast<double>(std::max(wanted, slice.pairs))) {
    wanted = slice.counts.between();
  }
  solve_slice(slice, *sigma, wanted);
}

/// Finds `wanted` pairs of the slice nearest to σ.
template <Scalar T, class Ctx>
void SliceSolve<T, Ctx>::solve_slice(const Slice& slice, double sigma, Index wanted) {
  NearestOptions options;
  static_cast<EigenOptions&>(options) = options_;
  options.nev = wanted;
  options.tolerance = tolerance_;
  options.sigma = sigma;
  options.lower = slice.lower;
  options.upper = slice.upper;
  options.counts = slice.counts;
  options.seed = options_.seed + static_cast<std::uint64_t>(solved_);
  options.max_iterations = options_.max_iterations - result_.iterations;
  options.time_limit_s = std::max(options_.time_limit_s - seconds_since(begin_), 1e-3);
  const MultiVector<T, Space> near = vectors_near(slice);
  const Monitor monitor = monitor_of_part();
  NearestSolve<T, Ctx> solve(context_, whole_, near.view(), inverse_, options, monitor);
  EigenResult<T, Space> part = solve.run();
  ++solved_;
  append_history(part);
  take(slice, part, solve.pairs(), wanted == slice.counts.between());
}

/// The vectors of other slices whose values lie next to this one.
template <Scalar T, class Ctx>
MultiVector<T, typename Ctx::Space> SliceSolve<T, Ctx>::vectors_near(const Slice& slice) {
  const double width = kNear * (slice.upper - slice.lower);
  std::vector<Index> places;
  for (std::size_t j = 0; j < found_.size() && places.size() < kMostNear; ++j) {
    const double value = found_[j].value;
    if (value > slice.lower - width && value < slice.upper + width) {
      places.push_back(static_cast<Index>(j));
    }
  }
  MultiVector<T, Space> near(context_, n_, std::ssize(places));
  for (std::size_t l = 0; l < places.size(); ++l) {
    copy<T>(context_, X_.columns(places[l], 1), near.columns(static_cast<Index>(l), 1));
  }
  return near;
}

/// The caller's monitor for a slice: what it is shown counts the pairs of earlier slices, too.
template <Scalar T, class Ctx>
Monitor SliceSolve<T, Ctx>::monitor_of_part() const {
  if (!monitor_.iteration) return monitor_;
  return monitor_.with_iteration([this, began = seconds_since(begin_)](const MonitorState& state) {
    IterationRecord record = state.record;
    record.iteration += result_.iterations;
    record.converged += std::ssize(found_) + found_elsewhere_;
    record.seconds += began;
    record.operator_applications = products() - products_before_;
    return monitor_.iteration(
        {record, interval_.counts.between(), state.eigenvalues, state.residuals});
  });
}

template <Scalar T, class Ctx>
void SliceSolve<T, Ctx>::append_history(const EigenResult<T, Space>& part) {
  const double spent = part.history.empty() ? 0 : part.history.back().seconds;
  const double began = std::max(seconds_since(begin_) - spent, 0.0);
  const Index before = result_.history.empty() ? 0 : result_.history.back().operator_applications;
  for (IterationRecord record : part.history) {
    record.iteration += result_.iterations;
    record.converged += std::ssize(found_) + found_elsewhere_;
    record.seconds += began;
    record.operator_applications += before;
    result_.history.push_back(record);
  }
  result_.iterations += part.iterations;
  result_.orthogonalization += part.orthogonalization;
}

/// Takes the pairs of a slice that were found. What is left of it becomes slices.
template <Scalar T, class Ctx>
void SliceSolve<T, Ctx>::take(const Slice& slice, EigenResult<T, Space>& part,
                              const NearestPairs& pairs, bool all) {
  const CountedInterval limits{slice.lower, slice.upper};
  // A solve that stagnates with as many pairs as were counted has them to rounding, which is judged
  // at the end.
  const bool there = part.status == SolveStatus::stagnated && all &&
                     std::ssize(part.eigenvalues) == slice.counts.between();
  // Where rounding ends a slice, its tolerance was too small: residuals are judged at the end.
  const double noise = convergence_.noise_floor();
  const double most = EigenConvergence::kAboveNoise * noise;
  if (part.status == SolveStatus::stagnated && !there && convergence_.is_relative_to_norms() &&
      tolerance_ < most && convergence_.all_at_noise(part.residuals)) {
    tolerance_ = tolerance_ < noise ? noise : most;
    slices_.push_back(slice);
    return;
  }
  if (part.status != SolveStatus::converged && !there) {
    keep(part, limits, true);
    slices_.push_back(slice);
    return end_with(part.status, part.reason);
  }
  const bool counted = pairs.counted.has_value();
  if (!counted && !all) {
    slices_.push_back(slice);
    return end_with(SolveStatus::breakdown,
                    fmt::format("no certain factor by {} ends a slice", inverse_.library()));
  }
  proven_ = proven_ && (there || part.completeness.proven);
  const CountedInterval covered = counted ? *pairs.counted : limits;
  const LimitCounts numbers = counted ? pairs.numbers : slice.counts;
  const Index kept = keep(part, covered, false);
  if (kept == 0 && !all) {  // copies of one value fill a search
    Slice larger = slice;
    larger.pairs = 2 * std::max(slice.pairs, std::ssize(part.eigenvalues));
    slices_.push_back(larger);
    return;
  }
  spacing_ = kept > 0 ? (covered.upper - covered.lower) / static_cast<double>(kept) : 0;
  if (slice.counts.upper > numbers.upper) {
    slices_.push_back(
        {covered.upper, slice.upper, {numbers.upper, slice.counts.upper}, interval_.pairs});
  }
  if (numbers.lower > slice.counts.lower) {
    slices_.push_back(
        {slice.lower, covered.lower, {slice.counts.lower, numbers.lower}, interval_.pairs});
  }
}

/// Appends the pairs between these ends to those found. Returns their number.
template <Scalar T, class Ctx>
Index SliceSolve<T, Ctx>::keep(EigenResult<T, Space>& part, const CountedInterval& covered,
                               bool passed_only) {
  Index kept = 0;
  for (std::size_t j = 0; j < part.eigenvalues.size() && j < part.error_bounds.size(); ++j) {
    if (!covered.has(part.eigenvalues[j]) || (passed_only && !part.converged[j])) continue;
    if (std::ssize(found_) == X_.cols()) break;
    copy<T>(context_, std::as_const(part.eigenvectors).view().columns(static_cast<Index>(j), 1),
            X_.columns(std::ssize(found_), 1));
    found_.push_back({part.eigenvalues[j], part.error_bounds[j]});
    ++kept;
  }
  return kept;
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class SliceSolve<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
