#pragma once

#include <heddle/linalg/data/csr_matrix.hpp>
#include <heddle/linalg/data/distributed_csr.hpp>
#include <heddle/linalg/distributed/partition.hpp>

namespace heddle {

/// The distributed matrix whose rows on this process are `A_rows`, with columns in global numbers.
/// `rows`: those of A, and of Y = A X, that this process holds. `columns` tells which rows of X
/// each process of the context holds. The result has the entries of own columns in its arrays and
/// all others in its `RemoteColumns`, with the lists of the halo. All processes of the context call
/// it together.
template <Scalar T>
DistributedCsr<T, HostSpace> distribute(HostContext& context, const CsrView<T, HostSpace>& A_rows,
                                        const RowRange& rows, const RowRanges& columns);

}  // namespace heddle
