#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/cg/solve.hpp>
#include <heddle/solvers/iteration/require.hpp>
#include <heddle/solvers/iteration/solve_identity.hpp>
#include <utility>

namespace heddle {
namespace {

template <Scalar T, class Ctx>
void check(const LinearSystem<T, Ctx>& system, const BlockCgOptions& options) {
  const Require require{"block_cg"};
  require(system.A != nullptr, "the system has no A");
  const Index n = system.A->rows();
  require(system.A->cols() == n, "A must be square, it is {}x{}", n, system.A->cols());
  const LinearOperator<T, Ctx>* M = system.preconditioner;
  require(M == nullptr || (M->rows() == n && M->cols() == n),
          "the preconditioner must be {}x{} like A, it is {}x{}", n, n, M ? M->rows() : 0,
          M ? M->cols() : 0);
  const auto& B = system.B;
  const auto& X = system.initial_guess;
  require(B.rows() == n && B.cols() >= 1,
          "B must have A's {} rows and at least one column, it is {}x{}", n, B.rows(), B.cols());
  require(X.cols() == 0 || (X.rows() == n && X.cols() == B.cols()),
          "the initial guess must be {}x{} like B, it is {}x{}", n, B.cols(), X.rows(), X.cols());
  require_linear_options(require, options);
  require(options.refresh_interval >= 1, "refresh_interval must be at least 1, it is {}",
          options.refresh_interval);
}

/// What must be the same in a solve that goes on from a checkpoint; nothing where none is kept. The
/// options are complete: a default and the same value given are the same.
template <Scalar T, class Ctx>
std::vector<std::string> identity(const LinearSystem<T, Ctx>& system,
                                  const BlockCgOptions& options) {
  if (options.checkpoint.file.empty()) return {};
  const bool block = options.algorithm == CgAlgorithm::breakdown_free;
  return {
      fact("solver", "block_cg"),
      fact("algorithm", block ? "breakdown_free" : "pseudo_block"),
      fact("bytes of a number", sizeof(T)),
      fact("n", system.A->rows()),
      fact("right-hand sides", system.B.cols()),
      operator_fact("A", system.A),
      operator_fact("preconditioner", system.preconditioner),
      fact("initial guess", system.initial_guess.cols() > 0 ? "given" : "zero"),
      fact("tolerance", options.tolerance),
      fact("criterion", options.criterion == LinearCriterion::relative ? "relative" : "absolute"),
      fact("refresh_interval", options.refresh_interval)};
}

}  // namespace

double block_cg_memory_bytes(Index n, Index b, std::size_t scalar_size) {
  constexpr double kBlocks = 5;         // X, R, Z, P, Q
  constexpr double kSmallMatrices = 9;  // of b×b, with those of the orthogonaliser
  const double columns = static_cast<double>(b);
  return static_cast<double>(scalar_size) * kBlocks * static_cast<double>(n) * columns +
         sizeof(double) * kSmallMatrices * columns * columns;
}

template <Scalar T, class Ctx>
LinearResult<T, typename Ctx::Space>& block_cg(Ctx& context, const LinearSystem<T, Ctx>& system,
                                               const BlockCgOptions& options,
                                               BlockCgWorkspace<T, Ctx>& workspace,
                                               const Monitor& monitor) {
  using Storage = typename BlockCgWorkspace<T, Ctx>::Storage;
  check(system, options);
  const Index n = system.B.rows();
  const Index b = system.B.cols();
  std::unique_ptr<Storage>& storage = workspace.storage();
  if (!storage || storage->context != &context || storage->Z.rows() != n ||
      storage->Z.cols() != b) {
    storage.reset();
    storage = std::make_unique<Storage>(context, n, b);
  }
  storage->columns.reset();
  BlockCgOptions complete = options;
  if (complete.tolerance == 0) complete.tolerance = kDefaultTolerance<T>;
  LinearColumns<T, Ctx> columns(context, system, complete, complete.refresh_interval, monitor,
                                identity(system, complete), storage->columns);
  if (complete.algorithm == CgAlgorithm::breakdown_free) {
    BreakdownFreeCg<T, Ctx>(context, columns, *storage).run();
  } else {
    PseudoBlockCg<T, Ctx>(context, columns, *storage).run();
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
