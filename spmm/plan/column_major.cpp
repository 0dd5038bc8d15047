#include <fmt/format.h>

#include <algorithm>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/spmm/column_major.hpp>
#include <type_traits>

namespace heddle {
namespace {

/// `count` rows of a block from `first` on.
template <class Block>
Block rows_of(const Block& block, Index first, Index count) {
  return {block.data() + first * block.ld(), count, block.cols(), block.ld()};
}

}  // namespace

template <Scalar T, class Ctx>
void ColumnMajorProduct<T, Ctx>::prepare(Ctx& context, Index N) {
  const Index slab = std::min(N, kSlab);
  if constexpr (!std::is_same_v<Ctx, HostContext>) {
    plan_.prepare(context, slab);
    if (N > kSlab && N % kSlab != 0) plan_.prepare(context, N % kSlab);
  }
  if (N <= 1 || slab <= B_.cols()) return;
  B_ = MultiVector<T, Space>(context, cols_, slab);
  C_ = MultiVector<T, Space>(context, rows_, slab);
}

template <Scalar T, class Ctx>
void ColumnMajorProduct<T, Ctx>::multiply(Ctx& context, T alpha, ConstBlockView<T, Space> Bt,
                                          T beta, BlockView<T, Space> Ct) {
  const Index N = Ct.rows();
  if (Bt.cols() != cols_ || Ct.cols() != rows_ || Bt.rows() != N) {
    throw InvalidArgument(
        fmt::format("C = A B by columns does not fit: A is {}x{}, B is {}x{}, C is {}x{}", rows_,
                    cols_, Bt.cols(), Bt.rows(), Ct.cols(), Ct.rows()));
  }
  if (Ct.empty()) return;
  if (N == 1) {
    return plan_.multiply(context, alpha, ConstBlockView<T, Space>(Bt.data(), cols_, 1, 1), beta,
                          BlockView<T, Space>(Ct.data(), rows_, 1, 1));
  }
  prepare(context, N);
  for (Index first = 0; first < N; first += kSlab) {
    const Index count = std::min(kSlab, N - first);
    const BlockView<T, Space> B = B_.columns(0, count);
    const BlockView<T, Space> C = C_.columns(0, count);
    if (alpha != T{0}) {
      transpose_block<T, T>(context, rows_of(Bt, first, count), T{0}, B);
    }
    plan_.multiply(context, alpha, B, T{0}, C);
    transpose_block<T, T>(context, C, beta, rows_of(Ct, first, count));
  }
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class ColumnMajorProduct<T, Ctx>;
HEDDLE_FOR_EACH_REAL_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
