#include <fmt/format.h>

#include <algorithm>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/iteration/earlier_parts.hpp>
#include <heddle/solvers/iteration/worst.hpp>
#include <heddle/solvers/lanczos/checks.hpp>
#include <heddle/solvers/lanczos/solve.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace heddle {
namespace detail {
namespace {

/// The solves that follow one another until one needs no other.
template <Scalar T, class Ctx>
class LanczosSolves {
 public:
  using Storage = typename BlockLanczosWorkspace<T, Ctx>::Storage;
  using Result = EigenResult<T, typename Ctx::Space>;

  LanczosSolves(Ctx& context, const EigenProblem<T, Ctx>& problem,
                const BlockLanczosOptions& options, std::unique_ptr<Storage>& storage,
                const Monitor& monitor)
      : context_(context),
        problem_(problem),
        options_(options),
        left_(options),
        storage_(storage),
        monitor_(monitor),
        shape_(block_lanczos_shape(options, problem.A->row_range().global, problem.B != nullptr)),
        first_basis_(shape_.max_basis) {
    if (left_.tolerance == 0) left_.tolerance = kDefaultTolerance<T>;
  }

  Result& run() {
    NextSolve next = solve();
    while (next == NextSolve::larger_basis) {
      keep();
      shape_.max_basis *= 2;
      if (!has_memory()) return storage_->result;
      next = solve();
    }
    if (next != NextSolve::dense) {
      if (kept_) report_growth();
      return storage_->result;
    }
    const Index cycles = before_.iterations;
    shape_.max_basis = 0;
    solve();
    storage_->result.reason += fmt::format("; it replaced an iteration after {} cycles", cycles);
    return storage_->result;
  }

 private:
  /// Keeps the result if it is better than the one kept so far.
  void keep() {
    Result& found = storage_->result;
    if (!kept_ || is_better(found, *kept_)) kept_ = std::move(found);
  }

  static bool is_better(const Result& one, const Result& other) {
    const auto worst = [](const Result& result) {
      double residual = 0;
      for (const double each : result.residuals) keep_worst(residual, each);
      return residual;
    };
    const Index passed = passed_pairs(one), others = passed_pairs(other);
    return passed != others ? passed > others : worst(one) < worst(other);
  }

  /// Whether there is memory for a larger basis. Otherwise the storage has the kept result.
  bool has_memory() {
    const RowRange rows = problem_.A->row_range();
    storage_.reset();
    bool fits = true;
    try {
      storage_ = std::make_unique<Storage>(context_, shape_, rows);
    } catch (const OutOfMemory&) {
      fits = false;
    }
    if (!context_.agree(!fits)) return true;
    shape_.max_basis /= 2;
    storage_.reset();
    storage_ = std::make_unique<Storage>(context_, shape_, rows);
    storage_->result = *std::move(kept_);
    storage_->result.reason += "; a larger basis does not fit into memory";
    return false;
  }

  /// Says how the basis grew, and takes the kept pairs where the last solve ended with worse ones.
  void report_growth() {
    Result& last = storage_->result;
    std::string growth = fmt::format(
        "after {} cycles, in which residuals stopped falling, the basis grew from {} to {} "
        "columns; "
        "then ",
        last.iterations - last_iterations_, first_basis_, shape_.max_basis);
    if (last.status != SolveStatus::converged && is_better(*kept_, last)) {
      kept_->status = last.status;
      kept_->reason =
          fmt::format("{}; the pairs are those of the smaller basis, {} of {} converged",
                      last.reason, passed_pairs(*kept_), options_.nev);
      kept_->iterations = last.iterations;
      kept_->operator_applications = last.operator_applications;
      kept_->inverse_applications = last.inverse_applications;
      kept_->orthogonalization = last.orthogonalization;
      kept_->history = std::move(last.history);
      last = *std::move(kept_);
    }
    last.reason.insert(0, growth);
  }

  /// Solves with the memory of `shape_`, and adds the counts of the solves before.
  NextSolve solve() {
    const RowRange rows = problem_.A->row_range();
    if (!storage_ || storage_->context != &context_ || storage_->shape != shape_ ||
        storage_->rows != rows) {
      storage_.reset();
      storage_ = std::make_unique<Storage>(context_, shape_, rows);
    }
    storage_->reset();
    const bool first = before_.iterations == 0;
    const Monitor watched = first ? Monitor{} : before_.watch(monitor_);
    const NextSolve next =
        BlockLanczosSolve<T, Ctx>(context_, problem_, left_, first ? monitor_ : watched, *storage_)
            .run();
    Result& result = storage_->result;
    last_iterations_ = result.iterations;
    if (!first) {
      before_.append(result.history, history_);
      result.history = history_;
    }
    before_.iterations = result.iterations += before_.iterations;
    before_.applications = result.operator_applications += before_.applications;
    solves_ = result.inverse_applications += solves_;
    orthogonalization_ = result.orthogonalization += orthogonalization_;
    if (next != NextSolve::none) limit_next(result);
    return next;
  }

  /// What `result` leaves to the next solve. An inverse that was worth its cost still is.
  void limit_next(const Result& result) {
    history_ = result.history;
    before_.seconds = history_.empty() ? 0 : history_.back().seconds;
    left_.max_iterations = std::max<Index>(1, options_.max_iterations - before_.iterations);
    left_.time_limit_s = std::max(0.0, options_.time_limit_s - before_.seconds);
    left_.max_applications =
        std::max(1.0, options_.max_applications - static_cast<double>(before_.applications));
    if (solves_ > 0) left_.filter = LanczosFilter::inverse;
  }

  Ctx& context_;
  const EigenProblem<T, Ctx>& problem_;
  const BlockLanczosOptions& options_;
  BlockLanczosOptions left_;  // with what the solves so far have left of the limits
  std::unique_ptr<Storage>& storage_;
  const Monitor& monitor_;
  BlockLanczosShape shape_;
  Index first_basis_;
  EarlierParts before_;
  std::vector<IterationRecord> history_;
  std::optional<Result> kept_;  // of the solves whose basis was too small, the best
  OrthoCounts orthogonalization_;
  Index solves_ = 0;           // columns to which an inverse was applied
  Index last_iterations_ = 0;  // of the last solve alone
};

}  // namespace
}  // namespace detail

template <Scalar T, class Ctx>
EigenResult<T, typename Ctx::Space>& block_lanczos(Ctx& context,
                                                   const EigenProblem<T, Ctx>& problem,
                                                   const BlockLanczosOptions& options,
                                                   BlockLanczosWorkspace<T, Ctx>& workspace,
                                                   const Monitor& monitor) {
  detail::check_block_lanczos(problem, options);
  return detail::LanczosSolves<T, Ctx>(context, problem, options, workspace.storage(), monitor)
      .run();
}

template <Scalar T, class Ctx>
EigenResult<T, typename Ctx::Space> block_lanczos(Ctx& context, const EigenProblem<T, Ctx>& problem,
                                                  const BlockLanczosOptions& options,
                                                  const Monitor& monitor) {
  BlockLanczosWorkspace<T, Ctx> workspace;
  return std::move(block_lanczos(context, problem, options, workspace, monitor));
}

#define HEDDLE_INSTANTIATE(T, Ctx)                                   \
  template EigenResult<T, typename Ctx::Space>& block_lanczos(       \
      Ctx&, const EigenProblem<T, Ctx>&, const BlockLanczosOptions&, \
      BlockLanczosWorkspace<T, Ctx>&, const Monitor&);               \
  template EigenResult<T, typename Ctx::Space> block_lanczos(        \
      Ctx&, const EigenProblem<T, Ctx>&, const BlockLanczosOptions&, const Monitor&);
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
