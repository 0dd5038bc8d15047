#include <heddle/linalg/error.hpp>
#include <heddle/linalg/instantiate.hpp>
#include <heddle/linalg/transfer.hpp>
#include <heddle/solvers/detail/incomplete_factor.hpp>
#include <heddle/solvers/detail/triangular_solves.hpp>
#include <heddle/solvers/preconditioners/incomplete_cholesky.hpp>
#include <optional>
#include <utility>

namespace heddle {
namespace {

template <Scalar T>
IncompleteFactor<T> factor(HostContext& context, HostContext&, CsrView<T, HostSpace> A) {
  return incomplete_cholesky(context, A);
}

/// The same for a matrix on a GPU, by way of the host: once for each matrix.
template <Scalar T>
IncompleteFactor<T> factor(CudaContext& context, HostContext& host, CsrView<T, DeviceSpace> A) {
  return incomplete_cholesky(host, fetch(context, host, A).view());
}

}  // namespace

/// One of the two ways to apply the factor; substitution by levels has no version for a GPU.
template <Scalar T, class Ctx>
struct IncompleteCholeskyPreconditioner<T, Ctx>::Solves {
  std::optional<LevelScheduledSolves<T>> scheduled;
  std::optional<IteratedSolves<T, Ctx>> iterated;
};

template <Scalar T, class Ctx>
IncompleteCholeskyPreconditioner<T, Ctx>::IncompleteCholeskyPreconditioner(Ctx& context,
                                                                           CsrView<T, Space> A,
                                                                           TriangularSolve solve)
    : Preconditioner<T, Ctx>(A.rows, A.cols), cost_(context), solves_(std::make_unique<Solves>()) {
  constexpr bool kOnHost = std::same_as<Ctx, HostContext>;
  if (!kOnHost && solve == TriangularSolve::level_scheduled) {
    throw InvalidArgument(
        "IncompleteCholeskyPreconditioner: level-scheduled solves run on the host, "
        "the matrix is on a GPU");
  }
  HostContext host;
  IncompleteFactor<T> made = factor(context, host, A);
  shift_ = made.shift;
  if constexpr (kOnHost) {
    if (solve != TriangularSolve::iterated) {
      levels_ = solves_->scheduled.emplace(context, std::move(made.L)).levels();
    }
  }
  if (!solves_->scheduled) solves_->iterated.emplace(context, host, std::move(made.L));
  cost_.stop(context);
}

template <Scalar T, class Ctx>
IncompleteCholeskyPreconditioner<T, Ctx>::~IncompleteCholeskyPreconditioner() = default;

template <Scalar T, class Ctx>
void IncompleteCholeskyPreconditioner<T, Ctx>::apply_block(Ctx& context, ConstBlockView<T, Space> X,
                                                           BlockView<T, Space> Y) {
  const PhaseScope phase(context, Phase::preconditioner);
  if constexpr (std::same_as<Ctx, HostContext>) {
    if (solves_->scheduled) return solves_->scheduled->solve(context, X, Y);
  }
  solves_->iterated->solve(context, X, Y);
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class IncompleteCholeskyPreconditioner<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
