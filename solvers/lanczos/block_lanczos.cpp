#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/lanczos/checks.hpp>
#include <heddle/solvers/lanczos/solve.hpp>
#include <utility>

namespace heddle {

template <Scalar T, class Ctx>
EigenResult<T, typename Ctx::Space>& block_lanczos(Ctx& context,
                                                   const EigenProblem<T, Ctx>& problem,
                                                   const BlockLanczosOptions& options,
                                                   BlockLanczosWorkspace<T, Ctx>& workspace,
                                                   const Monitor& monitor) {
  using Storage = typename BlockLanczosWorkspace<T, Ctx>::Storage;
  detail::check_block_lanczos(problem, options);
  const RowRange rows = problem.A->row_range();
  BlockLanczosShape shape = block_lanczos_shape(options, rows.global, problem.B != nullptr);
  std::unique_ptr<Storage>& storage = workspace.storage();
  BlockLanczosOptions complete = options;
  if (complete.tolerance == 0) complete.tolerance = kDefaultTolerance<T>;
  /// Solves with the memory of `shape`. True if a dense solve is to follow.
  const auto solve = [&] {
    if (!storage || storage->context != &context || storage->shape != shape ||
        storage->rows != rows) {
      storage.reset();
      storage = std::make_unique<Storage>(context, shape, rows);
    }
    storage->reset();
    return detail::BlockLanczosSolve<T, Ctx>(context, problem, complete, monitor, *storage).run();
  };
  if (!solve()) return storage->result;
  const Index applied = storage->result.operator_applications;
  const Index solved = storage->result.inverse_applications;
  shape.max_basis = 0;
  solve();
  storage->result.operator_applications += applied;
  storage->result.inverse_applications += solved;
  return storage->result;
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
