#pragma once

#include <heddle/linalg/data/block_source.hpp>
#include <heddle/linalg/data/distributed_csr.hpp>
#include <heddle/linalg/data/multivector.hpp>
#include <heddle/linalg/distributed/partition.hpp>

/// Matrices and blocks between process 0, which holds all of their rows, and the processes of a
/// context, which hold their ranges. All processes call these functions together.
namespace heddle {

/// `ranges` of process 0 on all processes.
RowRanges shared_ranges(HostContext& context, RowRanges ranges);

/// The ranges of rows of which each process holds `local`.
RowRanges ranges_of_all(Processes& processes, Index local);

/// The distributed matrix of A, see `distribute`. Only the A of process 0 is read. Its rows travel
/// straight from its arrays.
template <Scalar T>
DistributedCsr<T, HostSpace> scatter(HostContext& context, const CsrView<T, HostSpace>& A,
                                     const RowRanges& rows, const RowRanges& columns);

/// The rows of X that this process holds, n×b on process 0. Only the X of process 0 is read.
template <Scalar T>
MultiVector<T, HostSpace> scatter(HostContext& context, const ConstBlockView<T, HostSpace>& X,
                                  const RowRanges& rows);

/// The same in the memory of `memory`, which need not know the processes.
template <Scalar T>
MultiVector<T, HostSpace> scatter(Processes& processes, HostContext& memory,
                                  const ConstBlockView<T, HostSpace>& X, const RowRanges& rows);

/// values[first …] of process 0 for the rows that this process holds. Only the values of process 0
/// are read. Their number is that of all rows.
template <class Value>
std::vector<Value> scatter(HostContext& context, const std::vector<Value>& values,
                           const RowRanges& rows);

/// The block on process 0, in the memory of `target`, whose rows are those of X on all processes.
/// 0×0 on the others.
template <Scalar T>
MultiVector<T, HostSpace> gather(Processes& processes, const MultiVector<T, HostSpace>& X,
                                 HostContext& target);

/// The rows of this process, as `rows` has them, of the block whose columns the processes hold, in
/// the order of the processes. `X`: all rows of the columns of this process.
template <Scalar T>
MultiVector<T, HostSpace> rows_of_columns(Processes& processes, HostContext& memory,
                                          const ConstBlockView<T, HostSpace>& X,
                                          const RowRanges& rows);

/// Sends the rows of this process that lie in `window` of a block with `rows`, of which this
/// process holds X, to process 0, which has them in `part`, window.rows × window.columns.
/// `numbers`: those of the own rows in the block, ascending, where they are not consecutive, else
/// empty on all processes. `part` is used on process 0 alone.
template <Scalar T>
void gather_part(Processes& processes, const ConstBlockView<T, HostSpace>& X, const RowRanges& rows,
                 const std::vector<std::int32_t>& numbers, const BlockWindow& window,
                 BlockView<T, HostSpace> part);

}  // namespace heddle
