#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/block_checks.hpp>
#include <heddle/linalg/data/distributed_csr.hpp>
#include <heddle/linalg/data/transfer.hpp>

namespace heddle {

namespace {

template <WideScalar W>
void fetch_small(CudaContext& context, const ConstSmallView<W, DeviceSpace>& source,
                 const SmallView<W, HostSpace>& target) {
  require_same_shape("fetch", Shape{source.rows, source.cols}, Shape{target.rows, target.cols});
  const auto size = [](Index count) { return static_cast<std::size_t>(count) * sizeof(W); };
  context.copy_to_host(target.data, size(target.ld), source.data, size(source.ld),
                       size(source.rows), static_cast<std::size_t>(source.cols));
}

template <WideScalar W>
void send_small(CudaContext& context, const ConstSmallView<W, HostSpace>& source,
                const SmallView<W, DeviceSpace>& target) {
  require_same_shape("send", Shape{source.rows, source.cols}, Shape{target.rows, target.cols});
  const auto size = [](Index count) { return static_cast<std::size_t>(count) * sizeof(W); };
  context.copy_to_device(target.data, size(target.ld), source.data, size(source.ld),
                         size(source.rows), static_cast<std::size_t>(source.cols));
}

}  // namespace

void fetch(CudaContext& context, ConstSmallView<double, DeviceSpace> source,
           SmallView<double, HostSpace> target) {
  fetch_small(context, source, target);
}
void fetch(CudaContext& context, ConstSmallView<std::complex<double>, DeviceSpace> source,
           SmallView<std::complex<double>, HostSpace> target) {
  fetch_small(context, source, target);
}

void send(CudaContext& context, ConstSmallView<double, HostSpace> source,
          SmallView<double, DeviceSpace> target) {
  send_small(context, source, target);
}
void send(CudaContext& context, ConstSmallView<std::complex<double>, HostSpace> source,
          SmallView<std::complex<double>, DeviceSpace> target) {
  send_small(context, source, target);
}

template <Scalar T>
void fetch(CudaContext& context, ConstBlockView<T, DeviceSpace> source,
           BlockView<T, HostSpace> target) {
  require_same_shape("fetch", Shape{source.rows(), source.cols()},
                     Shape{target.rows(), target.cols()});
  const auto size = [](Index count) { return static_cast<std::size_t>(count) * sizeof(T); };
  context.copy_to_host(target.data(), size(target.ld()), source.data(), size(source.ld()),
                       size(source.cols()), static_cast<std::size_t>(source.rows()));
}

template <Scalar T>
void send(CudaContext& context, ConstBlockView<T, HostSpace> source,
          BlockView<T, DeviceSpace> target) {
  require_same_shape("send", Shape{source.rows(), source.cols()},
                     Shape{target.rows(), target.cols()});
  const auto size = [](Index count) { return static_cast<std::size_t>(count) * sizeof(T); };
  context.copy_to_device(target.data(), size(target.ld()), source.data(), size(source.ld()),
                         size(source.cols()), static_cast<std::size_t>(source.rows()));
}

template <Scalar T>
CsrMatrix<T, DeviceSpace> place(CudaContext& context, CsrView<T, HostSpace> A) {
  CsrMatrix<T, DeviceSpace> placed(context, A.rows, A.cols, A.nnz);
  const auto send_array = [&context]<class Value>(Value* to, const Value* from, Index count) {
    context.copy_to_device(to, from, static_cast<std::size_t>(count) * sizeof(Value));
  };
  send_array(placed.row_offsets(), A.row_offsets, A.rows + 1);
  send_array(placed.columns(), A.columns, A.nnz);
  send_array(placed.values(), A.values, A.nnz);
  context.synchronize();
  return placed;
}

template <Scalar T>
DistributedCsr<T, DeviceSpace> place(CudaContext& context, DistributedCsrView<T, HostSpace> A) {
  CsrMatrix<T, DeviceSpace> own = place(context, A.own);
  if (!A.is_distributed()) return own;
  const RemoteColumns<T, HostSpace>& source = *A.remote;
  RemoteColumns<T, DeviceSpace> remote{
      place(context, source.entries.view()), {context, source.rows.size()}, source.lists};
  context.copy_to_device(remote.rows.data(), source.rows.data(),
                         source.rows.size() * sizeof(std::int32_t));
  context.synchronize();
  return {std::move(own), std::make_shared<const RemoteColumns<T, DeviceSpace>>(std::move(remote))};
}

template <Scalar T>
HostCsrMatrix<T> fetch(CudaContext& context, HostContext& host, CsrView<T, DeviceSpace> A) {
  if (A.row_offsets == nullptr) return {};  // a matrix made by the default constructor
  HostCsrMatrix<T> fetched(host, A.rows, A.cols, A.nnz);
  const auto rows = static_cast<std::size_t>(A.rows);
  const auto nnz = static_cast<std::size_t>(A.nnz);
  context.copy_to_host(fetched.row_offsets(), A.row_offsets, (rows + 1) * sizeof(std::int64_t));
  context.copy_to_host(fetched.columns(), A.columns, nnz * sizeof(std::int32_t));
  context.copy_to_host(fetched.values(), A.values, nnz * sizeof(T));
  return fetched;
}

template <Scalar T>
DistributedCsr<T, HostSpace> fetch(CudaContext& context, HostContext& host,
                                   DistributedCsrView<T, DeviceSpace> A) {
  HostCsrMatrix<T> own = fetch(context, host, A.own);
  if (!A.is_distributed()) return own;
  const RemoteColumns<T, DeviceSpace>& source = *A.remote;
  RemoteColumns<T, HostSpace> remote{
      fetch(context, host, source.entries.view()), {host, source.rows.size()}, source.lists};
  context.copy_to_host(remote.rows.data(), source.rows.data(),
                       source.rows.size() * sizeof(std::int32_t));
  return {std::move(own), std::make_shared<const RemoteColumns<T, HostSpace>>(std::move(remote))};
}

#define HEDDLE_INSTANTIATE(T)                                                                    \
  template void fetch(CudaContext&, ConstBlockView<T, DeviceSpace>, BlockView<T, HostSpace>);    \
  template void send(CudaContext&, ConstBlockView<T, HostSpace>, BlockView<T, DeviceSpace>);     \
  template CsrMatrix<T, DeviceSpace> place(CudaContext&, CsrView<T, HostSpace>);                 \
  template DistributedCsr<T, DeviceSpace> place(CudaContext&, DistributedCsrView<T, HostSpace>); \
  template HostCsrMatrix<T> fetch(CudaContext&, HostContext&, CsrView<T, DeviceSpace>);          \
  template DistributedCsr<T, HostSpace> fetch(CudaContext&, HostContext&,                        \
                                              DistributedCsrView<T, DeviceSpace>);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
