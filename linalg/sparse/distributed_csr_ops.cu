#include <bit>
#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/block_checks.hpp>
#include <heddle/linalg/data/halo_exchange.hpp>
#include <heddle/linalg/sparse/csr_kernels.cuh>
#include <heddle/linalg/sparse/csr_ops.hpp>
#include <memory>
#include <utility>

namespace heddle {
namespace {

/// The bits of a number that is not negative, which are ordered like the numbers.
using Count = unsigned long long;

using detail::grid_for;
using detail::lane_index;
using detail::thread_count;
using detail::thread_index;

/// The lane's share of Σ_j |A(i, j)|.
template <class T>
__device__ double absolute_share(const CsrView<T, DeviceSpace>& A, Index i, int lane) {
  double sum = 0;
  for (std::int64_t e = A.row_offsets[i] + lane; e < A.row_offsets[i + 1]; e += kWarp) {
    sum += magnitude(A.values[e]);
  }
  return sum;
}

/// The sum of the numbers of a warp's lanes, in the order of a binary tree. Lane 0 has it.
__device__ double warp_sum(double sum) {
  for (int half = kWarp / 2; half > 0; half /= 2) {
    sum += __shfl_down_sync(0xffffffffu, sum, static_cast<unsigned>(half));
  }
  return sum;
}

/// The rows of a matrix with, for the rows that have entries in remote columns, these entries too.
template <class T>
struct WholeRows {
  CsrView<T, DeviceSpace> own;
  CsrView<T, DeviceSpace> remote;      ///< no rows: `own` alone is meant, all rows of it
  const std::int32_t* rows = nullptr;  ///< of `own` that the rows of `remote` belong to

  __host__ __device__ Index count() const { return rows != nullptr ? remote.rows : own.rows; }
};

/// sums(i, 0) for every row i of A, one warp per row.
template <class T>
__global__ void absolute_row_sums_kernel(WholeRows<T> A, T* sums, Index ld, Index terms) {
  const int lane = lane_index();
  for (Index k = thread_index() / kWarp; k < A.count(); k += thread_count() / kWarp) {
    const Index i = A.rows != nullptr ? A.rows[k] : k;
    double share = absolute_share(A.own, i, lane);
    std::int64_t length = A.own.row_offsets[i + 1] - A.own.row_offsets[i];
    if (A.rows != nullptr) {
      share += absolute_share(A.remote, k, lane);
      length += A.remote.row_offsets[k + 1] - A.remote.row_offsets[k];
    }
    const double sum = warp_sum(share);
    const auto entries = static_cast<double>(length);
    const double times = terms > 0 ? fmax(1.0, entries / static_cast<double>(terms)) : 1;
    if (lane == 0) sums[i * ld] = T(static_cast<RealOf<T>>(times * sum));
  }
}

/// *largest = the bits of the largest absolute row sum of A. NaN is above all numbers.
template <class T>
__global__ void largest_row_sum_kernel(WholeRows<T> A, Count* largest) {
  const int lane = lane_index();
  for (Index k = thread_index() / kWarp; k < A.count(); k += thread_count() / kWarp) {
    const Index i = A.rows != nullptr ? A.rows[k] : k;
    double share = absolute_share(A.own, i, lane);
    if (A.rows != nullptr) share += absolute_share(A.remote, k, lane);
    const double sum = fabs(warp_sum(share));
    if (lane == 0) atomicMax(largest, static_cast<Count>(__double_as_longlong(sum)));
  }
}

/// values[e] ← the entries of the remote columns of D A D, D = diag(d). `halo`: d in these columns.
template <class T>
__global__ void scale_remote_kernel(WholeRows<T> A, const T* d, const T* halo, T* values) {
  const int lane = lane_index();
  for (Index k = thread_index() / kWarp; k < A.count(); k += thread_count() / kWarp) {
    const T d_row = d[A.rows[k]];
    for (std::int64_t e = A.remote.row_offsets[k] + lane; e < A.remote.row_offsets[k + 1];
         e += kWarp) {
      values[e] = product(values[e], product(d_row, halo[A.remote.columns[e]]));
    }
  }
}

template <class T>
using Remote = RemoteColumns<T, DeviceSpace>;

/// A copy of the remote columns with their values rounded to U. The lists of the halo are shared.
template <class U, class T>
Remote<U> copy_of(CudaContext& context, const Remote<T>& source) {
  Remote<U> copy{
      convert<U>(context, source.entries.view()), {context, source.rows.size()}, source.lists};
  check(cudaMemcpyAsync(copy.rows.data(), source.rows.data(),
                        source.rows.size() * sizeof(std::int32_t), cudaMemcpyDeviceToDevice,
                        context.stream()));
  return copy;
}

/// The same of a matrix. Null if processes do not share it.
template <class U, class T>
std::shared_ptr<const Remote<U>> remote_of(CudaContext& context,
                                           const DistributedCsrView<T, DeviceSpace>& A) {
  if (!A.is_distributed()) return nullptr;
  return std::make_shared<const Remote<U>>(copy_of<U>(context, *A.remote));
}

/// The rows of A that have entries in remote columns.
template <class T>
WholeRows<T> remote_rows(const CsrView<T, DeviceSpace>& A, const Remote<T>& remote) {
  return {A, remote.entries.view(), remote.rows.data()};
}

/// Calls launch(rows, threads) for all rows of A and then for those with entries in remote columns.
template <class T, class Launch>
void for_own_and_remote_rows(const DistributedCsrView<T, DeviceSpace>& A, const Launch& launch) {
  if (A.own.rows > 0) launch(WholeRows<T>{A.own, {}, nullptr}, A.own.rows * kWarp);
  if (!A.is_distributed() || A.remote->entries.rows() == 0) return;
  launch(remote_rows(A.own, *A.remote), A.remote->entries.rows() * kWarp);
}

/// The largest absolute row sum of a distributed A, which is its 1-norm, as A is symmetric.
template <class T>
double largest_row_sum(CudaContext& context, const DistributedCsrView<T, DeviceSpace>& A) {
  Buffer<Count, DeviceSpace> bits(context, 1);
  check(cudaMemsetAsync(bits.data(), 0, sizeof(Count), context.stream()));
  for_own_and_remote_rows(A, [&](const WholeRows<T>& rows, Index threads) {
    largest_row_sum_kernel<<<grid_for(context, threads), kThreads, 0, context.stream()>>>(
        rows, bits.data());
    check_launch();
  });
  Count found = 0;
  context.copy_to_host(&found, bits.data(), sizeof(found));
  auto largest = std::bit_cast<double>(found);
  context.processes()->largest({&largest, 1});
  return largest;
}

/// The remote part of a distributed D A D, D = diag(d).
template <class T>
std::shared_ptr<const Remote<T>> scaled_remote(CudaContext& context,
                                               const Buffer<T, DeviceSpace>& d,
                                               const DistributedCsrView<T, DeviceSpace>& A) {
  HaloExchange<T, CudaContext> exchange(context, *A.remote->lists);
  exchange.begin(context, {d.data(), static_cast<Index>(d.size()), 1, 1});
  Remote<T> scaled = copy_of<T>(context, *A.remote);
  const ConstBlockView<T, DeviceSpace> halo = exchange.end(context);
  if (scaled.entries.rows() > 0) {
    scale_remote_kernel<<<grid_for(context, scaled.entries.rows() * kWarp), kThreads, 0,
                          context.stream()>>>(remote_rows(A.own, *A.remote), d.data(), halo.data(),
                                              scaled.entries.values());
    check_launch();
  }
  return std::make_shared<const Remote<T>>(std::move(scaled));
}

}  // namespace

template <Scalar T>
double norm_1(CudaContext& context, DistributedCsrView<T, DeviceSpace> A) {
  return A.is_distributed() ? largest_row_sum(context, A) : norm_1(context, A.own);
}

template <Scalar T>
void absolute_row_sums(CudaContext& context, DistributedCsrView<T, DeviceSpace> A,
                       BlockView<T, DeviceSpace> sums, Index terms) {
  require_same_shape("absolute_row_sums", Shape{sums.rows(), sums.cols()}, Shape{A.own.rows, 1});
  for_own_and_remote_rows(A, [&](const WholeRows<T>& rows, Index threads) {
    absolute_row_sums_kernel<<<grid_for(context, threads), kThreads, 0, context.stream()>>>(
        rows, sums.data(), sums.ld(), terms);
    check_launch();
  });
}

template <Scalar T>
DistributedCsr<T, DeviceSpace> with_stored_diagonal(CudaContext& context,
                                                    DistributedCsrView<T, DeviceSpace> A) {
  return {with_stored_diagonal(context, A.own), remote_of<T>(context, A)};
}

template <Scalar U, Scalar T>
DistributedCsr<U, DeviceSpace> convert(CudaContext& context, DistributedCsrView<T, DeviceSpace> A) {
  return {convert<U>(context, A.own), remote_of<U>(context, A)};
}

template <Scalar T>
void scale_symmetrically(CudaContext& context, const Buffer<T, DeviceSpace>& d,
                         DistributedCsr<T, DeviceSpace>& A) {
  scale_symmetrically(context, d, A.own());
  if (A.is_distributed()) A.set_remote(scaled_remote(context, d, std::as_const(A).view()));
}

#define HEDDLE_INSTANTIATE(T)                                                       \
  template double norm_1(CudaContext&, DistributedCsrView<T, DeviceSpace>);         \
  template void absolute_row_sums(CudaContext&, DistributedCsrView<T, DeviceSpace>, \
                                  BlockView<T, DeviceSpace>, Index);                \
  template DistributedCsr<T, DeviceSpace> with_stored_diagonal(                     \
      CudaContext&, DistributedCsrView<T, DeviceSpace>);                            \
  template void scale_symmetrically(CudaContext&, const Buffer<T, DeviceSpace>&,    \
                                    DistributedCsr<T, DeviceSpace>&);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

#define HEDDLE_INSTANTIATE(U, T) \
  template DistributedCsr<U, DeviceSpace> convert(CudaContext&, DistributedCsrView<T, DeviceSpace>);
HEDDLE_FOR_EACH_CONVERSION(HEDDLE_INSTANTIATE)
HEDDLE_INSTANTIATE(std::complex<double>, std::complex<double>)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
