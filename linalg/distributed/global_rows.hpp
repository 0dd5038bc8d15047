#pragma once

#include <heddle/linalg/data/distributed_csr.hpp>
#include <heddle/linalg/data/multivector.hpp>

/// Rows of distributed matrices with columns in global numbers, for setups on the host that compute
/// with rows of other processes. All processes of the context call these functions together.
namespace heddle {

/// The rows of a distributed A that this process holds, with columns in global numbers, ascending
/// in each row: what `distribute` makes A of.
template <WideScalar W>
HostCsrMatrix<W> global_rows(HostContext& context, const DistributedCsrView<W, HostSpace>& A);

/// The rows of B that are the halo of `lists`, in the order of the halo. `B_rows`: the rows of B
/// that this process holds, as many as `lists.columns` has, with columns in global numbers, which
/// those of the result are, too.
HostCsrMatrix<double> halo_rows(HostContext& context, const HaloLists& lists,
                                const CsrView<double, HostSpace>& B_rows);

/// The rows of Aᵀ that belong to the columns of a distributed A that this process holds, with
/// columns in global numbers, ascending in each row.
HostCsrMatrix<double> transposed_rows(HostContext& context,
                                      const DistributedCsrView<double, HostSpace>& A);

/// All rows of A, on every process. `A_rows`: those that this process holds, with columns in global
/// numbers.
template <WideScalar W>
HostCsrMatrix<W> all_rows(HostContext& context, const CsrView<W, HostSpace>& A_rows);

/// All rows of X, on every process. `X`: the rows that this process holds.
MultiVector<double, HostSpace> all_rows(HostContext& context,
                                        const ConstBlockView<double, HostSpace>& X);

}  // namespace heddle
