#pragma once

#include <heddle/linalg/data/distributed_csr.hpp>
#include <heddle/linalg/data/row_range.hpp>

namespace heddle {

/// The rows of C = A B that this process holds, with columns in global numbers, ascending in each
/// row. A is distributed and `B_rows` are the rows of B on this process, as many as
/// A has columns here, with columns in global numbers. `columns`: those of B, and of C, that belong
/// to this process, in which most entries of its rows lie. The rows of B that belong to the halo of
/// A are fetched from the processes that hold them. Of an entry, the terms of own rows of B come
/// first, then those of the halo, each in their order, so that it has the same bits in every run.
/// All processes of the context call it together. Throws `InvalidArgument` if the shapes do not
/// fit, and `OutOfMemory`.
HostCsrMatrix<double> distributed_product(HostContext& context,
                                          DistributedCsrView<double, HostSpace> A,
                                          CsrView<double, HostSpace> B_rows,
                                          const RowRange& columns);

}  // namespace heddle
