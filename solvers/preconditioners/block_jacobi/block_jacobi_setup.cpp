#include <fmt/format.h>

#include <algorithm>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/distributed_csr.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/solvers/preconditioners/block_jacobi/block_jacobi.hpp>
#include <heddle/solvers/preconditioners/block_jacobi/block_jacobi_setup.hpp>
#include <heddle/solvers/preconditioners/block_jacobi/diagonal_blocks.hpp>
#include <heddle/solvers/preconditioners/rounded.hpp>
#include <utility>
#include <vector>

namespace heddle::detail {
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

}  // namespace

template <Scalar T, Scalar U>
BlockJacobiSetup<T, HostSpace> prepare_block_jacobi(HostContext& context,
                                                    DistributedCsrView<U, HostSpace> matrix,
                                                    Index block_size) {
  using Jacobi = BlockJacobiPreconditioner<T, HostContext>;
  const CsrView<U, HostSpace>& A = matrix.own;
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
  return {cost, row_range(matrix), rounded<T>(context, inverse_diagonal_blocks(context, A, begins)),
          std::ssize(begins) - 1, largest};
}

template <Scalar T, Scalar U>
BlockJacobiSetup<T, DeviceSpace> prepare_block_jacobi(CudaContext& context,
                                                      DistributedCsrView<U, DeviceSpace> A,
                                                      Index block_size) {
  const SetupCost cost(context);
  HostContext host;
  const HostCsrMatrix<U> own = fetch(context, host, A.own);
  auto setup = prepare_block_jacobi<T>(host, DistributedCsrView(own.view()), block_size);
  return {cost, row_range(A), place(context, std::move(setup.inverse)), setup.blocks,
          setup.largest_block};
}

#define HEDDLE_INSTANTIATE_FOR(T, U, Ctx)                        \
  template BlockJacobiSetup<T, Ctx::Space> prepare_block_jacobi( \
      Ctx&, DistributedCsrView<U, Ctx::Space>, Index);
#define HEDDLE_INSTANTIATE(Ctx) HEDDLE_INSTANTIATE_FOR(float, double, Ctx)
HEDDLE_FOR_EACH_ROUNDING(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE
#define HEDDLE_INSTANTIATE(T, Ctx) HEDDLE_INSTANTIATE_FOR(T, T, Ctx)
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE
#undef HEDDLE_INSTANTIATE_FOR

}  // namespace heddle::detail
