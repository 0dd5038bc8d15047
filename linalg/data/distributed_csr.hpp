#pragma once

#include <cstdint>
#include <heddle/linalg/data/csr_matrix.hpp>
#include <heddle/linalg/data/row_range.hpp>
#include <memory>
#include <utility>
#include <vector>

namespace heddle {

/// The rows of a distributed vector that pass between processes in a product with a distributed
/// matrix. The halo of a process is the rows that its part of the matrix needs and other processes
/// hold, in ascending order of their global numbers.
struct HaloLists {
  /// A run of rows for or from one process.
  struct Run {
    int process = 0;  ///< who sends or receives the rows
    Index count = 0;  ///< the number of rows
  };

  RowRange rows;                        ///< of Y = A X that this process holds
  RowRange columns;                     ///< rows of X that this process holds
  std::vector<Run> receive;             ///< who sends the halo, in its order
  std::vector<Run> send;                ///< who needs rows of this process
  std::vector<std::int32_t> send_rows;  ///< local numbers of these rows, run by run

  /// The number of rows of the halo.
  Index halo() const noexcept {
    Index count = 0;
    for (const Run& run : receive) count += run.count;
    return count;
  }
};

/// The entries of a distributed matrix in the rows of this process and in columns that belong to
/// other processes. Most rows have none, so that the others are stored alone: row k of `entries` is
/// row rows[k] of the matrix on this process. The columns of `entries` are the rows of the halo.
template <class T, class Space>
struct RemoteColumns {
  CsrMatrix<T, Space> entries;             ///< as many rows as `rows`, as many columns as the halo
  Buffer<std::int32_t, Space> rows;        ///< ascending
  std::shared_ptr<const HaloLists> lists;  ///< which rows of vectors travel
};

namespace detail {

/// Throws `InvalidArgument`: a whole matrix is needed, and processes share this one.
[[noreturn]] void refuse_shared_rows(const RowRange& rows, const RowRange& columns);

/// Throws `InvalidArgument`: a matrix that processes share is needed, and this one is whole.
[[noreturn]] void refuse_whole_matrix(Index rows, Index cols);

}  // namespace detail

/// A read-only view of a matrix whose rows processes may share. `own` has the rows of this process
/// and, numbered from 0, the columns that belong to the rows of vectors in its memory. `remote` has
/// the entries of these rows in all other columns.
///
/// A `CsrView` converts to it, so that functions with such an argument serve whole matrices as
/// well. It does not convert back: a function with a `CsrView` refuses it at compile time.
template <class T, class Space>
struct DistributedCsrView {
  DistributedCsrView() = default;
  /// The rows of this process, and its entries in columns of other processes.
  DistributedCsrView(const CsrView<T, Space>& rows,
                     const RemoteColumns<T, Space>* others = nullptr) noexcept
      : own(rows), remote(others) {}

  /// The whole matrix of these arrays, see `CsrView`.
  DistributedCsrView(Index rows, Index cols, Index nnz = 0,
                     const std::int64_t* row_offsets = nullptr,
                     const std::int32_t* columns = nullptr, const T* values = nullptr) noexcept
      : own{rows, cols, nnz, row_offsets, columns, values} {}

  /// Whether processes share the rows. If not, `own` is the whole matrix.
  bool is_distributed() const noexcept { return remote != nullptr; }

  /// The matrix, for work that one process does alone. Throws `InvalidArgument` if processes share
  /// the rows.
  CsrView<T, Space> whole() const {
    if (remote != nullptr) detail::refuse_shared_rows(remote->lists->rows, remote->lists->columns);
    return own;
  }

  /// The entries in columns of other processes. Throws `InvalidArgument` if this process holds the
  /// whole matrix.
  const RemoteColumns<T, Space>& others() const {
    if (remote == nullptr) detail::refuse_whole_matrix(own.rows, own.cols);
    return *remote;
  }

  CsrView<T, Space> own{};                          ///< the rows of this process
  const RemoteColumns<T, Space>* remote = nullptr;  ///< null: this process holds the whole matrix
};

/// An owning matrix whose rows processes may share. A `CsrMatrix` converts to it.
template <Scalar T, class Space>
class DistributedCsr {
 public:
  /// A whole matrix without arrays.
  DistributedCsr() = default;

  /// The rows of this process, with the entries in columns of other processes, see
  /// `DistributedCsrView`. A null `remote`: the whole matrix.
  DistributedCsr(CsrMatrix<T, Space> own,
                 std::shared_ptr<const RemoteColumns<T, Space>> remote = nullptr) noexcept
      : own_(std::move(own)), remote_(std::move(remote)) {}

  Index rows() const noexcept { return own_.rows(); }  ///< of this process
  Index cols() const noexcept { return own_.cols(); }  ///< of this process
  bool is_distributed() const noexcept { return remote_ != nullptr; }

  /// The rows of this process, in the columns of its part of vectors.
  CsrMatrix<T, Space>& own() noexcept { return own_; }
  const CsrMatrix<T, Space>& own() const noexcept { return own_; }
  /// The entries in columns of other processes. Null: this process holds the whole matrix.
  const std::shared_ptr<const RemoteColumns<T, Space>>& remote() const noexcept { return remote_; }
  void set_remote(std::shared_ptr<const RemoteColumns<T, Space>> remote) noexcept {
    remote_ = std::move(remote);
  }

  DistributedCsrView<T, Space> view() const noexcept { return {own_.view(), remote_.get()}; }

 private:
  CsrMatrix<T, Space> own_;
  std::shared_ptr<const RemoteColumns<T, Space>> remote_;
};

/// The rows of A x that this process holds, and those of x.
template <class T, class Space>
RowRange row_range(const DistributedCsrView<T, Space>& A) noexcept {
  return A.remote != nullptr ? A.remote->lists->rows : RowRange::all(A.own.rows);
}
template <class T, class Space>
RowRange column_range(const DistributedCsrView<T, Space>& A) noexcept {
  return A.remote != nullptr ? A.remote->lists->columns : RowRange::all(A.own.cols);
}

/// The stored entries of A in the rows of this process.
template <class T, class Space>
Index local_entries(const DistributedCsrView<T, Space>& A) noexcept {
  return A.own.nnz + (A.remote != nullptr ? A.remote->entries.nnz() : 0);
}

}  // namespace heddle
