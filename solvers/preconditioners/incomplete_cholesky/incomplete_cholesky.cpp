#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/solvers/operators/triangular_solves.hpp>
#include <heddle/solvers/preconditioners/incomplete_cholesky/incomplete_cholesky.hpp>
#include <heddle/solvers/preconditioners/incomplete_cholesky/incomplete_factor.hpp>
#include <heddle/solvers/preconditioners/incomplete_cholesky/iterated_solves.hpp>
#include <utility>
#include <variant>

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

/// One of the two ways to apply the factor.
template <Scalar T, class Ctx>
struct IncompleteCholeskyPreconditioner<T, Ctx>::Solves {
  using Exact = detail::TriangularSolves<T, Ctx>;
  using Iterated = IteratedSolves<T, Ctx>;

  Solves(Ctx& context, HostContext& host, HostCsrMatrix<T> L, TriangularSolve solve)
      : way(solve == TriangularSolve::iterated
                ? std::variant<Exact, Iterated>(std::in_place_type<Iterated>, context, host,
                                                std::move(L))
                : std::variant<Exact, Iterated>(std::in_place_type<Exact>, context, L.view())) {}

  std::variant<Exact, Iterated> way;
};

template <Scalar T, class Ctx>
IncompleteCholeskyPreconditioner<T, Ctx>::IncompleteCholeskyPreconditioner(Ctx& context,
                                                                           CsrView<T, Space> A,
                                                                           TriangularSolve solve)
    : Preconditioner<T, Ctx>(A.rows, A.cols), cost_(context) {
  HostContext beside;
  // Parts of the setup stay in its memory where the matrix is there, too.
  HostContext& host = host_of(context, beside);
  IncompleteFactor<T> made = factor(context, host, A);
  shift_ = made.shift;
  solves_ = std::make_unique<Solves>(context, host, std::move(made.L), solve);
  const auto* exact = std::get_if<detail::TriangularSolves<T, Ctx>>(&solves_->way);
  if (exact != nullptr) levels_ = exact->levels();
  cost_.stop(context);
}

template <Scalar T, class Ctx>
IncompleteCholeskyPreconditioner<T, Ctx>::~IncompleteCholeskyPreconditioner() = default;

template <Scalar T, class Ctx>
void IncompleteCholeskyPreconditioner<T, Ctx>::apply_block(Ctx& context, ConstBlockView<T, Space> X,
                                                           BlockView<T, Space> Y) {
  const PhaseScope phase(context, Phase::preconditioner);
  std::visit([&](auto& way) { way.solve(context, X, Y); }, solves_->way);
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class IncompleteCholeskyPreconditioner<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
