#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/lobpcg/checks.hpp>
#include <heddle/solvers/lobpcg/solve.hpp>
#include <utility>

namespace heddle {

template <Scalar T, class Ctx>
EigenResult<T, typename Ctx::Space>& lobpcg(Ctx& context, const EigenProblem<T, Ctx>& problem,
                                            const LobpcgOptions& options,
                                            LobpcgWorkspace<T, Ctx>& workspace,
                                            const Monitor& monitor) {
  using Storage = typename LobpcgWorkspace<T, Ctx>::Storage;
  detail::check_lobpcg(problem, options);
  const RowRange& rows = problem.A->row_range();
  const Index c = problem.constraints.cols();
  const detail::LobpcgShape shape{rows, options.nev, lobpcg_block_size(options, rows.global, c), c,
                                  problem.B != nullptr};
  std::unique_ptr<Storage>& storage = workspace.storage();
  if (!storage || storage->context != &context || storage->shape != shape) {
    storage.reset();
    storage = std::make_unique<Storage>(context, shape);
  }
  storage->reset();
  LobpcgOptions complete = options;
  if (complete.tolerance == 0) complete.tolerance = kDefaultTolerance<T>;
  detail::LobpcgSolve<T, Ctx>(context, problem, complete, monitor, *storage).run();
  return storage->result;
}

template <Scalar T, class Ctx>
EigenResult<T, typename Ctx::Space> lobpcg(Ctx& context, const EigenProblem<T, Ctx>& problem,
                                           const LobpcgOptions& options, const Monitor& monitor) {
  LobpcgWorkspace<T, Ctx> workspace;
  return std::move(lobpcg(context, problem, options, workspace, monitor));
}

#define HEDDLE_INSTANTIATE(T, Ctx)                                                                \
  template EigenResult<T, typename Ctx::Space>& lobpcg(Ctx&, const EigenProblem<T, Ctx>&,         \
                                                       const LobpcgOptions&,                      \
                                                       LobpcgWorkspace<T, Ctx>&, const Monitor&); \
  template EigenResult<T, typename Ctx::Space> lobpcg(Ctx&, const EigenProblem<T, Ctx>&,          \
                                                      const LobpcgOptions&, const Monitor&);
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
