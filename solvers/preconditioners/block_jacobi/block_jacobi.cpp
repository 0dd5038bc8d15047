#include <fmt/format.h>

#include <algorithm>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/remote_columns.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/solvers/preconditioners/block_jacobi/block_jacobi.hpp>
#include <heddle/solvers/preconditioners/block_jacobi/diagonal_blocks.hpp>
#include <heddle/solvers/preconditioners/rounded.hpp>
#include <utility>

namespace heddle {
namespace detail {

/// The parts of the preconditioner, in the memory of `Space`.
template <Scalar T, class Space>
struct BlockJacobiSetup {
  SetupCost cost;
  RowRange rows;  // of A that this process holds
  CsrMatrix<T, Space> inverse;
  Index blocks = 0;
  Index largest_block = 0;
};

namespace {

void check(Index rows, Index cols, Index block_size, Index max_block_size) {
  if (rows != cols) {
    throw InvalidArgument(fmt::format(
        "BlockJacobiPreconditioner: the matrix must be square, it is {}x{}", rows, cols));
  }
  if (block_size < 0 || block_size > max_block_size) {
    throw InvalidArgument(
        fmt::format("BlockJacobiPreconditioner: the block size must lie in 0 ... {}, it is {}",
                    max_block_size, block_size));
  }
}

/// Blocks of A, which is in the precision U, and their inverses rounded to T.
template <Scalar T, Scalar U>
BlockJacobiSetup<T, HostSpace> prepare(HostContext& context, CsrView<U, HostSpace> A,
                                       Index block_size) {
  using Jacobi = BlockJacobiPreconditioner<T, HostContext>;
  check(A.rows, A.cols, block_size, Jacobi::kMaxBlockSize);
  const SetupCost cost(context);
  std::vector<Index> begins;
  if (block_size == 0) {
    begins = runs_of_equal_rows(A, Jacobi::kMaxFoundBlockSize);
  } else {
    for (Index i = 0; i < A.rows; i += block_size) begins.push_back(i);
    begins.push_back(A.rows);
  }
  Index largest = 0;
  for (std::size_t k = 0; k + 1 < begins.size(); ++k) {
    largest = std::max(largest, begins[k + 1] - begins[k]);
  }
  return {cost, row_range(A), rounded<T>(context, inverse_diagonal_blocks(context, A, begins)),
          std::ssize(begins) - 1, largest};
}

/// The same for a matrix on a GPU. The inverses are computed on the host, once per matrix.
template <Scalar T, Scalar U>
BlockJacobiSetup<T, DeviceSpace> prepare(CudaContext& context, CsrView<U, DeviceSpace> A,
                                         Index block_size) {
  const SetupCost cost(context);
  HostContext host;
  auto setup = prepare<T>(host, fetch(context, host, A).view(), block_size);
  return {cost, row_range(A), place(context, std::move(setup.inverse)), setup.blocks,
          setup.largest_block};
}

}  // namespace
}  // namespace detail

template <Scalar T, class Ctx>
BlockJacobiPreconditioner<T, Ctx>::BlockJacobiPreconditioner(Ctx& context, CsrView<T, Space> A,
                                                             Index block_size,
                                                             const SpmmOptions& options)
    : BlockJacobiPreconditioner(context, detail::prepare<T>(context, A, block_size), options) {}

template <Scalar T, class Ctx>
template <std::same_as<double> U>
BlockJacobiPreconditioner<T, Ctx>::BlockJacobiPreconditioner(Ctx& context, CsrView<U, Space> A,
                                                             Index block_size,
                                                             const SpmmOptions& options)
    : BlockJacobiPreconditioner(context, detail::prepare<T>(context, A, block_size), options) {}

template <Scalar T, class Ctx>
BlockJacobiPreconditioner<T, Ctx>::BlockJacobiPreconditioner(
    Ctx& context, detail::BlockJacobiSetup<T, Space> setup, const SpmmOptions& options)
    : Preconditioner<T, Ctx>(setup.rows, setup.rows),
      cost_(setup.cost),
      blocks_(setup.blocks),
      largest_block_(setup.largest_block),
      inverse_(std::move(setup.inverse)),
      plan_(context, inverse_.view(), options) {
  cost_.stop(context);
}

template <Scalar T, class Ctx>
void BlockJacobiPreconditioner<T, Ctx>::apply_block(Ctx& context, ConstBlockView<T, Space> X,
                                                    BlockView<T, Space> Y) {
  const PhaseScope phase(context, Phase::preconditioner);
  plan_.multiply(context, T{1}, X, T{0}, Y);
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class BlockJacobiPreconditioner<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

#define HEDDLE_INSTANTIATE(Ctx)                                              \
  template BlockJacobiPreconditioner<float, Ctx>::BlockJacobiPreconditioner( \
      Ctx&, CsrView<double, Ctx::Space>, Index, const SpmmOptions&);
HEDDLE_FOR_EACH_ROUNDING(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
