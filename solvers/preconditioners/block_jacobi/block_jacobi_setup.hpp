#pragma once

#include <heddle/linalg/data/distributed_csr.hpp>
#include <heddle/linalg/data/row_range.hpp>
#include <heddle/solvers/operators/preconditioner.hpp>

/// The setup that block Jacobi preconditioners of all number types share.
namespace heddle::detail {

/// The parts of the preconditioner, in the memory of `Space`.
template <Scalar T, class Space>
struct BlockJacobiSetup {
  SetupCost cost;
  RowRange rows;  // of A that this process holds
  CsrMatrix<T, Space> inverse;
  Index blocks = 0;
  Index largest_block = 0;
};

/// The blocks of A and their inverses, formed in double and rounded to T. Throws as the
/// constructors of `BlockJacobiPreconditioner`.
template <Scalar T, Scalar U>
BlockJacobiSetup<T, HostSpace> prepare_block_jacobi(HostContext& context,
                                                    DistributedCsrView<U, HostSpace> A,
                                                    Index block_size);

/// The same for a matrix on a GPU. The inverses are computed on the host, once per matrix.
template <Scalar T, Scalar U>
BlockJacobiSetup<T, DeviceSpace> prepare_block_jacobi(CudaContext& context,
                                                      DistributedCsrView<U, DeviceSpace> A,
                                                      Index block_size);

}  // namespace heddle::detail
