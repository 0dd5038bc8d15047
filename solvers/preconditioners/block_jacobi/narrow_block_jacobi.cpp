#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/sparse/csr_ops.hpp>
#include <heddle/solvers/preconditioners/block_jacobi/block_jacobi_setup.hpp>
#include <heddle/solvers/preconditioners/block_jacobi/narrow_block_jacobi.hpp>
#include <heddle/solvers/preconditioners/inverse_diagonal.hpp>
#include <heddle/solvers/preconditioners/rounded.hpp>
#include <utility>

namespace heddle {

template <class V, class Ctx>
NarrowBlockJacobi<V, Ctx>::NarrowBlockJacobi(Ctx& context, DistributedCsrView<double, Space> A,
                                             Index block_size)
    : NarrowBlockJacobi(context, detail::prepare_block_jacobi<double>(context, A, block_size)) {}

template <class V, class Ctx>
NarrowBlockJacobi<V, Ctx>::NarrowBlockJacobi(Ctx& context,
                                             detail::BlockJacobiSetup<double, Space> setup)
    : NarrowBlockJacobi(context, setup.rows, scaled(context, std::move(setup.inverse))) {}

template <class V, class Ctx>
NarrowBlockJacobi<V, Ctx>::NarrowBlockJacobi(Ctx& context, const RowRange& rows, Scaled scaled)
    : Preconditioner<float, Ctx>(rows, rows),
      plan_(context, std::as_const(scaled.E).view(), {.scaling = RangeScaling::none}),
      columns_(detail::rounded<float>(context, std::move(scaled.D))) {}

template <class V, class Ctx>
auto NarrowBlockJacobi<V, Ctx>::scaled(Ctx& context, CsrMatrix<double, Space> inverse) -> Scaled {
  const Index n = inverse.rows();
  Buffer<double, Space> D =
      detail::inverse_root_diagonal<double>(context, std::as_const(inverse).view());
  scale_symmetrically(context, D, inverse);
  const BlockView<double, Space> d(D.data(), n, 1, 1);
  reciprocals<double>(context, d, d);
  return {std::move(inverse), std::move(D)};
}

template <class V, class Ctx>
void NarrowBlockJacobi<V, Ctx>::apply_block(Ctx& context, ConstBlockView<float, Space> X,
                                            BlockView<float, Space> Y) {
  const PhaseScope phase(context, Phase::preconditioner);
  const Index b = X.cols();
  if (width_ < b) {
    width_ = 0;  // so that a call after `OutOfMemory` begins anew
    for (NarrowBlock<V, Space>* block : {&x_, &y_}) {
      *block = NarrowBlock<V, Space>();
      *block = NarrowBlock<V, Space>(context, this->rows(), b);
    }
    columns_.reserve(context, b);
    width_ = b;
  }
  columns_.load(context, X, x_.columns(b));
  plan_.multiply(context, 1, x_.columns(b), {}, y_.columns(b));
  columns_.store(context, y_.columns(b), Y);
}

#define HEDDLE_INSTANTIATE(Ctx)                    \
  template class NarrowBlockJacobi<Half, Ctx>;     \
  template class NarrowBlockJacobi<Bfloat16, Ctx>; \
  template class NarrowBlockJacobi<Tf32, Ctx>;
HEDDLE_FOR_EACH_ROUNDING(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
