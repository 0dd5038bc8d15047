#include <fmt/format.h>

#include <algorithm>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/iteration/earlier_parts.hpp>
#include <heddle/solvers/lanczos/checks.hpp>
#include <heddle/solvers/lanczos/solve.hpp>
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

  EigenResult<T, typename Ctx::Space>& run() {
    std::string growth;
    NextSolve next = solve();
    while (next == NextSolve::larger_basis) {
      growth = fmt::format(
          "residuals stopped falling in {} cycles, the basis grew from {} to {} columns; ",
          before_.iterations, first_basis_, 2 * shape_.max_basis);
      shape_.max_basis *= 2;
      next = solve();
    }
    if (next == NextSolve::dense) {
      shape_.max_basis = 0;
      before_.iterations = 0;
      history_.clear();
      solve();
    }
    if (!growth.empty()) storage_->result.reason.insert(0, growth);
    return storage_->result;
  }

 private:
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
    auto& result = storage_->result;
    if (!first) {
      before_.append(result.history, history_);
      result.history = history_;
    }
    before_.iterations = result.iterations += before_.iterations;
    before_.applications = result.operator_applications += before_.applications;
    solves_ = result.inverse_applications += solves_;
    if (next == NextSolve::none) return next;
    history_ = result.history;
    before_.seconds = history_.empty() ? 0 : history_.back().seconds;
    left_.max_iterations = std::max<Index>(1, options_.max_iterations - before_.iterations);
    left_.time_limit_s = std::max(0.0, options_.time_limit_s - before_.seconds);
    left_.max_applications =
        std::max(1.0, options_.max_applications - static_cast<double>(before_.applications));
    return next;
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
  Index solves_ = 0;  // columns to which an inverse was applied
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
