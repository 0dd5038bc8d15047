#pragma once

#include <algorithm>
#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/csr_matrix.hpp>
#include <heddle/linalg/data/distributed_csr.hpp>
#include <heddle/linalg/data/multivector.hpp>
#include <heddle/linalg/data/small_matrix.hpp>
#include <utility>

/// Copies between host memory and a context's memory. Code templated on the context copies small
/// matrices to the host with `fetch`, decides there, and copies coefficients back with `send`. With
/// a host context both are plain copies. Each `fetch` waits for the context's work. Source and
/// target must have equal shapes.
namespace heddle {

/// The host context for the part of a computation that runs on the host: `context` itself if it is
/// a host context, else `beside`.
inline HostContext& host_of(HostContext& context, HostContext&) { return context; }
inline HostContext& host_of(CudaContext&, HostContext& beside) { return beside; }

namespace detail {
/// target = source, in host memory.
template <WideScalar W>
void copy_small(ConstSmallView<W, HostSpace> source, SmallView<W, HostSpace> target) {
  assert(source.rows == target.rows && source.cols == target.cols);
  if (source.data == target.data) return;
  for (Index j = 0; j < source.cols; ++j) {
    std::copy_n(source.data + j * source.ld, source.rows, target.data + j * target.ld);
  }
}
}  // namespace detail

/// target = source, from the context's memory.
inline void fetch(HostContext&, ConstSmallView<double, HostSpace> source,
                  SmallView<double, HostSpace> target) {
  detail::copy_small(source, target);
}

/// The same for complex numbers.
inline void fetch(HostContext&, ConstSmallView<std::complex<double>, HostSpace> source,
                  SmallView<std::complex<double>, HostSpace> target) {
  detail::copy_small(source, target);
}

/// target = source, into the context's memory.
inline void send(HostContext& context, ConstSmallView<double, HostSpace> source,
                 SmallView<double, HostSpace> target) {
  fetch(context, source, target);
}

/// The same for complex numbers.
inline void send(HostContext& context, ConstSmallView<std::complex<double>, HostSpace> source,
                 SmallView<std::complex<double>, HostSpace> target) {
  fetch(context, source, target);
}

/// target = source for blocks, from the context's memory.
template <Scalar T>
void fetch(HostContext&, ConstBlockView<T, HostSpace> source, BlockView<T, HostSpace> target) {
  assert(source.rows() == target.rows() && source.cols() == target.cols());
  for (Index i = 0; i < source.rows(); ++i) {
    std::copy_n(source.data() + i * source.ld(), source.cols(), target.data() + i * target.ld());
  }
}

/// target = source for blocks, into the context's memory.
template <Scalar T>
void send(HostContext& context, ConstBlockView<T, HostSpace> source,
          BlockView<T, HostSpace> target) {
  fetch<T>(context, source, target);
}

/// A copy of A in the context's memory. With a host context it is A itself.
template <Scalar T>
HostCsrMatrix<T> place(HostContext&, HostCsrMatrix<T> A) {
  return A;
}
template <Scalar T>
DistributedCsr<T, HostSpace> place(HostContext&, DistributedCsr<T, HostSpace> A) {
  return A;
}

/// A copy of the values in the context's memory. With a host context it is the same buffer.
template <class T>
Buffer<T, HostSpace> place(HostContext&, Buffer<T, HostSpace> values) {
  return values;
}

/// A copy of the values in host memory, or the same buffer if it is there already.
template <class T>
Buffer<T, HostSpace> fetch(HostContext&, HostContext&, Buffer<T, HostSpace> values) {
  return values;
}

/// A copy of X in the context's memory. With a host context it is X itself.
template <Scalar T>
MultiVector<T, HostSpace> place(HostContext&, MultiVector<T, HostSpace> X) {
  return X;
}

/// A copy of X in host memory, or X itself if it is there already.
template <Scalar T>
MultiVector<T, HostSpace> fetch(HostContext&, HostContext&, MultiVector<T, HostSpace> X) {
  return X;
}

void fetch(CudaContext& context, ConstSmallView<double, DeviceSpace> source,
           SmallView<double, HostSpace> target);
void fetch(CudaContext& context, ConstSmallView<std::complex<double>, DeviceSpace> source,
           SmallView<std::complex<double>, HostSpace> target);
void send(CudaContext& context, ConstSmallView<double, HostSpace> source,
          SmallView<double, DeviceSpace> target);
void send(CudaContext& context, ConstSmallView<std::complex<double>, HostSpace> source,
          SmallView<std::complex<double>, DeviceSpace> target);

template <Scalar T>
CsrMatrix<T, DeviceSpace> place(CudaContext& context, CsrView<T, HostSpace> A);
template <Scalar T>
DistributedCsr<T, DeviceSpace> place(CudaContext& context, DistributedCsrView<T, HostSpace> A);

template <Scalar T>
CsrMatrix<T, DeviceSpace> place(CudaContext& context, HostCsrMatrix<T> A) {
  return place(context, std::as_const(A).view());
}
template <Scalar T>
DistributedCsr<T, DeviceSpace> place(CudaContext& context, DistributedCsr<T, HostSpace> A) {
  return place(context, std::as_const(A).view());
}

template <class T>
Buffer<T, DeviceSpace> place(CudaContext& context, Buffer<T, HostSpace> values) {
  Buffer<T, DeviceSpace> placed(context, values.size());
  context.copy_to_device(placed.data(), values.data(), values.size() * sizeof(T));
  context.synchronize();
  return placed;
}

template <class T>
Buffer<T, HostSpace> fetch(CudaContext& context, HostContext& host, Buffer<T, DeviceSpace> values) {
  Buffer<T, HostSpace> fetched(host, values.size());
  context.copy_to_host(fetched.data(), values.data(), values.size() * sizeof(T));
  return fetched;
}

/// target = source for blocks.
template <Scalar T>
void fetch(CudaContext& context, ConstBlockView<T, DeviceSpace> source,
           BlockView<T, HostSpace> target);
template <Scalar T>
void send(CudaContext& context, ConstBlockView<T, HostSpace> source,
          BlockView<T, DeviceSpace> target);

template <Scalar T>
MultiVector<T, DeviceSpace> place(CudaContext& context, MultiVector<T, HostSpace> X) {
  MultiVector<T, DeviceSpace> placed(context, X.rows(), X.cols());
  send<T>(context, X.view(), placed.view());
  context.synchronize();
  return placed;
}

template <Scalar T>
MultiVector<T, HostSpace> fetch(CudaContext& context, HostContext& host,
                                MultiVector<T, DeviceSpace> X) {
  MultiVector<T, HostSpace> fetched(host, X.rows(), X.cols());
  fetch<T>(context, X.view(), fetched.view());
  return fetched;
}

/// A copy of A in host memory. Without arrays if A has none.
template <Scalar T>
HostCsrMatrix<T> fetch(CudaContext& context, HostContext& host, CsrView<T, DeviceSpace> A);
template <Scalar T>
DistributedCsr<T, HostSpace> fetch(CudaContext& context, HostContext& host,
                                   DistributedCsrView<T, DeviceSpace> A);

}  // namespace heddle
