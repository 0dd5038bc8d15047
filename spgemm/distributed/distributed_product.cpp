#include <algorithm>
#include <heddle/linalg/data/distributed_csr.hpp>
#include <heddle/linalg/distributed/global_rows.hpp>
#include <heddle/spgemm/distributed.hpp>
#include <heddle/spgemm/spgemm.hpp>
#include <initializer_list>
#include <iterator>
#include <vector>

namespace heddle {
namespace {

/// [A_own A_remote]: the rows of this process, with the columns of the halo behind its own.
HostCsrMatrix<double> side_by_side(HostContext& context, const CsrView<double, HostSpace>& A,
                                   const RemoteColumns<double, HostSpace>& remote) {
  const CsrView<double, HostSpace> R = remote.entries.view();
  HostCsrMatrix<double> both(context, A.rows, A.cols + remote.lists->halo(), A.nnz + R.nnz);
  std::int64_t place = 0;
  both.row_offsets()[0] = 0;
  const auto append = [&](const CsrView<double, HostSpace>& M, Index row, Index first_column) {
    for (std::int64_t e = M.row_offsets[row]; e < M.row_offsets[row + 1]; ++e) {
      both.columns()[place] = static_cast<std::int32_t>(first_column + M.columns[e]);
      both.values()[place++] = M.values[e];
    }
  };
  Index k = 0;
  for (Index i = 0; i < A.rows; ++i) {
    append(A, i, 0);
    if (k < R.rows && remote.rows[static_cast<std::size_t>(k)] == i) append(R, k++, A.cols);
    both.row_offsets()[i + 1] = place;
  }
  return both;
}

/// The columns in which some rows have entries, numbered 0, 1, 2, … in ascending order: all of a
/// range, and those outside of it that occur.
class FewColumns {
 public:
  FewColumns(const RowRange& range, std::initializer_list<CsrView<double, HostSpace>> rows)
      : first_(range.first), local_(range.local) {
    for (const CsrView<double, HostSpace>& A : rows) {
      std::copy_if(A.columns, A.columns + A.nnz, std::back_inserter(others_),
                   [this](std::int32_t number) { return !in_range(number); });
    }
    std::sort(others_.begin(), others_.end());
    others_.erase(std::unique(others_.begin(), others_.end()), others_.end());
    before_ = std::lower_bound(others_.begin(), others_.end(), first_) - others_.begin();
  }

  Index count() const noexcept { return local_ + std::ssize(others_); }
  std::int32_t number(std::int32_t place) const {
    if (place >= before_ && place < before_ + local_) {
      return static_cast<std::int32_t>(place - before_ + first_);
    }
    return others_[static_cast<std::size_t>(place < before_ ? place : place - local_)];
  }
  std::int32_t place(std::int32_t number) const {
    if (in_range(number)) return static_cast<std::int32_t>(number - first_ + before_);
    const Index k = std::lower_bound(others_.begin(), others_.end(), number) - others_.begin();
    return static_cast<std::int32_t>(number < first_ ? k : k + local_);
  }

 private:
  bool in_range(std::int32_t number) const noexcept {
    return number >= first_ && number < first_ + local_;
  }

  Index first_, local_;
  Index before_ = 0;  // others that are less than those of the range
  std::vector<std::int32_t> others_;
};

/// The rows of A above those of B, with their columns in the numbers of `columns`.
HostCsrMatrix<double> stacked(HostContext& context, const CsrView<double, HostSpace>& A,
                              const CsrView<double, HostSpace>& B, const FewColumns& columns) {
  HostCsrMatrix<double> both(context, A.rows + B.rows, columns.count(), A.nnz + B.nnz);
  const auto place = [&columns](std::int32_t number) { return columns.place(number); };
  std::transform(A.columns, A.columns + A.nnz, both.columns(), place);
  std::transform(B.columns, B.columns + B.nnz, both.columns() + A.nnz, place);
  std::copy_n(A.values, A.nnz, both.values());
  std::copy_n(B.values, B.nnz, both.values() + A.nnz);
  std::copy_n(A.row_offsets, A.rows + 1, both.row_offsets());
  for (Index k = 0; k < B.rows; ++k) {
    both.row_offsets()[A.rows + k + 1] = A.nnz + B.row_offsets[k + 1];
  }
  return both;
}

}  // namespace

HostCsrMatrix<double> distributed_product(HostContext& context,
                                          DistributedCsrView<double, HostSpace> A,
                                          CsrView<double, HostSpace> B_rows,
                                          const RowRange& columns) {
  const HostCsrMatrix<double> halo = halo_rows(context, *A.others().lists, B_rows);
  const CsrView<double, HostSpace> H = halo.view();
  const FewColumns few_columns(columns, {B_rows, H});
  const HostCsrMatrix<double> few =
      spgemm<double>(context, side_by_side(context, A.own, A.others()).view(),
                     stacked(context, B_rows, H, few_columns).view());
  const CsrView<double, HostSpace> C = few.view();
  HostCsrMatrix<double> product(context, C.rows, B_rows.cols, C.nnz);
  std::copy_n(C.row_offsets, C.rows + 1, product.row_offsets());
  std::transform(C.columns, C.columns + C.nnz, product.columns(),
                 [&](std::int32_t place) { return few_columns.number(place); });
  std::copy_n(C.values, C.nnz, product.values());
  return product;
}

}  // namespace heddle
