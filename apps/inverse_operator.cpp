#include <heddle/apps/inverse_operator.hpp>
#include <heddle/linalg/block_ops.hpp>
#include <heddle/linalg/instantiate.hpp>
#include <limits>
#include <utility>

namespace heddle::apps {

template <Scalar T, class Ctx>
InverseOperator<T, Ctx>::InverseOperator(Ctx& context, LinearOperator<T, Ctx>& B,
                                         CsrView<T, Space> matrix)
    : LinearOperator<T, Ctx>(B.rows(), B.cols()), B_(&B), jacobi_(context, matrix) {}

template <Scalar T, class Ctx>
void InverseOperator<T, Ctx>::apply_block(Ctx& context, ConstBlockView<T, Space> X,
                                          BlockView<T, Space> Y) {
  constexpr double kRoundings = 50;
  BlockCgOptions options;
  options.algorithm = CgAlgorithm::pseudo_block;
  options.tolerance = kRoundings * std::numeric_limits<T>::epsilon();
  const auto& result =
      block_cg<T, Ctx>(context, {.A = B_, .preconditioner = &jacobi_, .B = X}, options, workspace_);
  copy<T>(context, result.solution.view(), Y);
}

template <Scalar T>
bool is_diagonal(CsrView<T, HostSpace> A) {
  for (Index i = 0; i < A.rows; ++i) {
    for (std::int64_t k = A.row_offsets[i]; k < A.row_offsets[i + 1]; ++k) {
      if (A.columns[k] != i && A.values[k] != 0) return false;
    }
  }
  return true;
}

template bool is_diagonal(CsrView<float, HostSpace>);
template bool is_diagonal(CsrView<double, HostSpace>);

#define HEDDLE_INSTANTIATE(T, Ctx) template class InverseOperator<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::apps
