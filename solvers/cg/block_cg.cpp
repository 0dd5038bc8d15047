#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/cg/breakdown_free_cg.hpp>
#include <heddle/solvers/cg/checks.hpp>
#include <heddle/solvers/cg/pseudo_block_cg.hpp>
#include <heddle/solvers/iteration/solve_identity.hpp>
#include <heddle/solvers/preconditioners/schedule/schedule.hpp>
#include <utility>

namespace heddle {
namespace {

/// The facts that must be the same in a solve that resumes from a checkpoint. Empty if no
/// checkpoint is kept. Defaults have been filled in, so that a default and the same explicit value
/// give the same facts.
template <Scalar T, class Ctx>
std::vector<std::string> identity(const LinearSystem<T, Ctx>& system,
                                  const BlockCgOptions& options) {
  if (options.checkpoint.file.empty()) return {};
  const bool block = options.algorithm == CgAlgorithm::breakdown_free;
  auto* const schedule = system.preconditioner ? system.preconditioner->schedule() : nullptr;
  return {detail::fact("solver", "block_cg"),
          detail::fact("algorithm", block ? "breakdown_free" : "pseudo_block"),
          detail::fact("bytes of a number", sizeof(T)),
          detail::fact("n", system.A->row_range().global),
          detail::fact("right-hand sides", system.B.cols()),
          detail::operator_fact("A", system.A),
          detail::operator_fact("preconditioner", system.preconditioner),
          detail::fact("preconditioner in lower precision", schedule && schedule->is_lowered()),
          detail::fact("initial guess", system.initial_guess.cols() > 0 ? "given" : "zero"),
          detail::fact("tolerance", options.tolerance),
          detail::fact("criterion",
                       options.criterion == LinearCriterion::relative ? "relative" : "absolute"),
          detail::fact("refresh_interval", options.refresh_interval)};
}

}  // namespace

template <Scalar T, class Ctx>
LinearResult<T, typename Ctx::Space>& block_cg(Ctx& context, const LinearSystem<T, Ctx>& system,
                                               const BlockCgOptions& options,
                                               BlockCgWorkspace<T, Ctx>& workspace,
                                               const Monitor& monitor) {
  using Storage = typename BlockCgWorkspace<T, Ctx>::Storage;
  detail::check_block_cg(system, options);
  const Index n = system.B.rows();
  const Index b = system.B.cols();
  std::unique_ptr<Storage>& storage = workspace.storage();
  if (!storage || storage->context != &context || storage->columns.R.rows() != n ||
      storage->columns.R.cols() != b) {
    storage.reset();
    storage = std::make_unique<Storage>(context, n, b);
  }
  storage->columns.reset();
  BlockCgOptions complete = options;
  if (complete.tolerance == 0) complete.tolerance = kDefaultTolerance<T>;
  detail::LinearColumns<T, Ctx> columns(context, system, complete, complete.refresh_interval,
                                        monitor, identity(system, complete), storage->columns);
  if (complete.algorithm == CgAlgorithm::breakdown_free) {
    detail::BreakdownFreeCg<T, Ctx>(context, columns, *storage).run();
  } else {
    detail::PseudoBlockCg<T, Ctx>(context, columns, *storage).run();
  }
  return storage->columns.result;
}

template <Scalar T, class Ctx>
LinearResult<T, typename Ctx::Space> block_cg(Ctx& context, const LinearSystem<T, Ctx>& system,
                                              const BlockCgOptions& options,
                                              const Monitor& monitor) {
  BlockCgWorkspace<T, Ctx> workspace;
  return std::move(block_cg(context, system, options, workspace, monitor));
}

#define HEDDLE_INSTANTIATE(T, Ctx)                                                          \
  template LinearResult<T, typename Ctx::Space>& block_cg(                                  \
      Ctx&, const LinearSystem<T, Ctx>&, const BlockCgOptions&, BlockCgWorkspace<T, Ctx>&,  \
      const Monitor&);                                                                      \
  template LinearResult<T, typename Ctx::Space> block_cg(Ctx&, const LinearSystem<T, Ctx>&, \
                                                         const BlockCgOptions&, const Monitor&);
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
