#include <heddle/linalg/context/host_parallel.hpp>
#include <heddle/spmm/plan/remote_product.hpp>

namespace heddle::detail {

template <Scalar T>
RemoteProduct<T>::RemoteProduct(HostContext& context, const RemoteColumns<T, HostSpace>& remote,
                                const SpmmOptions& options)
    : remote_(remote), exchange_(*remote.lists), plan_(context, remote.entries.view(), options) {}

template <Scalar T>
void RemoteProduct<T>::begin(HostContext& context, ConstBlockView<T, HostSpace> B) {
  exchange_.begin(context, B);
}

template <Scalar T>
void RemoteProduct<T>::add(HostContext& context, T alpha,
                           const SpmmEpilogue<T, HostSpace>& epilogue, BlockView<T, HostSpace> C) {
  const ConstBlockView<T, HostSpace> halo = exchange_.end(context);
  const Index rows = remote_.entries.rows();
  if (rows == 0) return;
  if (sums_.cols() < C.cols()) {
    sums_ = {};
    sums_ = MultiVector<T, HostSpace>(context, rows, C.cols());
  }
  const BlockView<T, HostSpace> sums = sums_.columns(0, C.cols());
  plan_.multiply(context, alpha, halo, T{0}, sums);
  const double bytes = 3 * static_cast<double>(rows * C.cols()) * sizeof(T);
  parallel_for(team_size(context.threads(), bytes, 0), rows, [&](Index k) {
    const Index row = remote_.rows[static_cast<std::size_t>(k)];
    for (Index j = 0; j < C.cols(); ++j) C(row, j) += sums(k, j);
    if (epilogue.eta == T{0}) return;
    for (Index j = 0; j < C.cols(); ++j) epilogue.Y(row, j) += epilogue.eta * sums(k, j);
  });
}

template class RemoteProduct<float>;
template class RemoteProduct<double>;

}  // namespace heddle::detail
