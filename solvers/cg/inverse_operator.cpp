#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/cg/inverse_operator.hpp>
#include <heddle/solvers/preconditioners/jacobi/jacobi.hpp>
#include <limits>

namespace heddle {
namespace {

constexpr double kRoundings = 50;
constexpr Index kMaxIterations = 1000;  // mass matrices take some dozens

}  // namespace

template <Scalar T, class Ctx>
InverseOperator<T, Ctx>::InverseOperator(Ctx& context, LinearOperator<T, Ctx>& B,
                                         DistributedCsrView<T, Space> matrix)
    : LinearOperator<T, Ctx>(B.row_range(), B.column_range()),
      B_(&B),
      jacobi_(std::make_unique<JacobiPreconditioner<T, Ctx>>(context, matrix)) {}

template <Scalar T, class Ctx>
const LinearResult<T, typename Ctx::Space>& InverseOperator<T, Ctx>::solve(
    Ctx& context, ConstBlockView<T, Space> X) {
  BlockCgOptions options;
  options.algorithm = CgAlgorithm::pseudo_block;  // the variant with less dense work
  options.tolerance = kRoundings * std::numeric_limits<RealOf<T>>::epsilon();
  options.max_iterations = kMaxIterations;
  return block_cg<T, Ctx>(context, {.A = B_, .preconditioner = jacobi_.get(), .B = X}, options,
                          workspace_, monitor_);
}

template <Scalar T, class Ctx>
bool InverseOperator<T, Ctx>::works(Ctx& context) {
  MultiVector<T, Space> x(context, this->cols(), 1);
  fill_random<T>(context, 0, 0, x.view(), B_->row_range().first);
  constexpr double kEnough = 100 * kRoundings * std::numeric_limits<RealOf<T>>::epsilon();
  const LinearResult<T, Space>& solved = solve(context, x.view());
  return solved.status == SolveStatus::interrupted || solved.residuals.front() <= kEnough;
}

template <Scalar T, class Ctx>
void InverseOperator<T, Ctx>::apply_block(Ctx& context, ConstBlockView<T, Space> X,
                                          BlockView<T, Space> Y) {
  copy<T>(context, solve(context, X).solution.view(), Y);
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class InverseOperator<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
