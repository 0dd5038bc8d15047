#pragma once

#include <algorithm>
#include <heddle/linalg/data/distributed_csr.hpp>
#include <memory>
#include <utility>

namespace heddle {

/// A copy of `source` with its values rounded to U. The lists of the halo are shared.
template <Scalar U, Scalar T>
RemoteColumns<U, HostSpace> copy_of(HostContext& context,
                                    const RemoteColumns<T, HostSpace>& source) {
  const CsrView<T, HostSpace> A = source.entries.view();
  RemoteColumns<U, HostSpace> copy{
      {context, A.rows, A.cols, A.nnz}, {context, source.rows.size()}, source.lists};
  std::copy_n(A.row_offsets, A.rows + 1, copy.entries.row_offsets());
  std::copy_n(A.columns, A.nnz, copy.entries.columns());
  std::transform(A.values, A.values + A.nnz, copy.entries.values(),
                 [](T value) { return static_cast<U>(value); });
  std::copy_n(source.rows.data(), source.rows.size(), copy.rows.data());
  return copy;
}

/// A copy of the remote columns of A with their values rounded to U. Null if processes do not share
/// A.
template <Scalar U, Scalar T>
std::shared_ptr<const RemoteColumns<U, HostSpace>> remote_of(
    HostContext& context, const DistributedCsrView<T, HostSpace>& A) {
  if (!A.is_distributed()) return nullptr;
  return std::make_shared<const RemoteColumns<U, HostSpace>>(copy_of<U>(context, *A.remote));
}

}  // namespace heddle
