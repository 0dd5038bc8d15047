#include <algorithm>
#include <heddle/linalg/data/remote_columns.hpp>
#include <heddle/linalg/distributed/global_rows.hpp>
#include <heddle/spgemm/distributed.hpp>
#include <heddle/spgemm/spgemm.hpp>
#include <vector>

namespace heddle {
namespace {

/// [A_own A_remote]: the rows of this process, with the columns of the halo behind its own.
HostCsrMatrix<double> side_by_side(HostContext& context, const CsrView<double, HostSpace>& A) {
  const RemoteColumns<double, HostSpace>& remote = *A.remote;
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

/// Ascending numbers of columns, in place of which a matrix of few of them has 0, 1, 2, ….
class FewColumns {
 public:
  explicit FewColumns(std::vector<std::int32_t> numbers) : numbers_(std::move(numbers)) {
    std::sort(numbers_.begin(), numbers_.end());
    numbers_.erase(std::unique(numbers_.begin(), numbers_.end()), numbers_.end());
  }

  Index count() const noexcept { return std::ssize(numbers_); }
  std::int32_t number(std::int32_t place) const {
    return numbers_[static_cast<std::size_t>(place)];
  }
  std::int32_t place(std::int32_t number) const {
    return static_cast<std::int32_t>(
        std::lower_bound(numbers_.begin(), numbers_.end(), number) - numbers_.begin());
  }

 private:
  std::vector<std::int32_t> numbers_;
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

HostCsrMatrix<double> distributed_product(HostContext& context, CsrView<double, HostSpace> A,
                                          CsrView<double, HostSpace> B_rows) {
  const HostCsrMatrix<double> halo = halo_rows(context, *A.remote->lists, B_rows);
  std::vector<std::int32_t> numbers(B_rows.columns, B_rows.columns + B_rows.nnz);
  const CsrView<double, HostSpace> H = halo.view();
  numbers.insert(numbers.end(), H.columns, H.columns + H.nnz);
  const FewColumns columns(std::move(numbers));
  const HostCsrMatrix<double> few =
      spgemm<double>(context, side_by_side(context, A).view(),
                     stacked(context, B_rows, H, columns).view());
  const CsrView<double, HostSpace> C = few.view();
  HostCsrMatrix<double> product(context, C.rows, B_rows.cols, C.nnz);
  std::copy_n(C.row_offsets, C.rows + 1, product.row_offsets());
  std::transform(C.columns, C.columns + C.nnz, product.columns(),
                 [&columns](std::int32_t place) { return columns.number(place); });
  std::copy_n(C.values, C.nnz, product.values());
  return product;
}

}  // namespace heddle
