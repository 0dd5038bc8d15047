#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/distributed_csr.hpp>
#include <heddle/linalg/sparse/csr_ops.hpp>
#include <heddle/solvers/operators/sparse_operator.hpp>
#include <utility>

namespace heddle {

template <Scalar T, class Ctx>
SparseOperator<T, Ctx>::SparseOperator(Ctx& context, DistributedCsr<T, Space> A,
                                       const SpmmOptions& options)
    : LinearOperator<T, Ctx>(row_range(A.view()), column_range(A.view())),
      owned_(std::move(A)),
      matrix_(std::as_const(owned_).view()),
      plan_(context, matrix_, options),
      one_norm_(norm_1(context, matrix_)) {}

template <Scalar T, class Ctx>
SparseOperator<T, Ctx>::SparseOperator(Ctx& context, DistributedCsrView<T, Space> A,
                                       const SpmmOptions& options)
    : LinearOperator<T, Ctx>(row_range(A), column_range(A)),
      matrix_(A),
      plan_(context, matrix_, options),
      one_norm_(norm_1(context, matrix_)) {}

template <Scalar T, class Ctx>
void SparseOperator<T, Ctx>::apply_block(Ctx& context, ConstBlockView<T, Space> X,
                                         BlockView<T, Space> Y) {
  const PhaseScope phase(context, Phase::spmm);
  plan_.multiply(context, T{1}, X, T{0}, Y);
}

template <Scalar T, class Ctx>
bool SparseOperator<T, Ctx>::accumulate_block(Ctx& context, double alpha,
                                              ConstBlockView<T, Space> B,
                                              const SpmmEpilogue<T, Space>& epilogue,
                                              BlockView<T, Space> C) {
  const PhaseScope phase(context, Phase::spmm);
  plan_.multiply(context, static_cast<RealOf<T>>(alpha), B, epilogue, C);
  return true;
}

template <Scalar T, class Ctx>
bool SparseOperator<T, Ctx>::absolute_row_sums_into(Ctx& context, BlockView<T, Space> sums,
                                                    Index terms) const {
  heddle::absolute_row_sums(context, matrix_, sums, terms);
  return true;
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class SparseOperator<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
