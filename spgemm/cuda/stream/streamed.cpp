#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/spgemm/cuda/stream/page_lock.hpp>
#include <heddle/spgemm/cuda/stream/streamed.hpp>
#include <heddle/spgemm/spgemm.hpp>
#include <optional>
#include <vector>

namespace heddle {
namespace {

/// A second stream, for copies to the host. `record` and `wait` order it with the context's stream.
class CopyStream {
 public:
  CopyStream() {
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    check(cudaEventCreateWithFlags(&ready_, cudaEventDisableTiming));
  }
  ~CopyStream() {
    cudaStreamSynchronize(stream_);
    cudaEventDestroy(ready_);
    cudaStreamDestroy(stream_);
  }
  CopyStream(const CopyStream&) = delete;
  CopyStream& operator=(const CopyStream&) = delete;

  /// Copies queued from now on wait for the work that the context has been given.
  void follow(CudaContext& context) {
    check(cudaEventRecord(ready_, context.stream()));
    check(cudaStreamWaitEvent(stream_, ready_, 0));
  }

  template <class Value>
  void copy(Value* target, const Value* source, Index count) {
    check(cudaMemcpyAsync(target, source, static_cast<std::size_t>(count) * sizeof(Value),
                          cudaMemcpyDeviceToHost, stream_));
  }

  void finish() { check(cudaStreamSynchronize(stream_)); }

 private:
  cudaStream_t stream_ = nullptr;
  cudaEvent_t ready_ = nullptr;
};

/// The bytes of `rows` rows of C with `entries` entries in device memory.
template <class T>
std::size_t block_bytes(Index rows, Index entries) {
  return static_cast<std::size_t>(entries) * (sizeof(T) + sizeof(std::int32_t)) +
         static_cast<std::size_t>(rows + 1) * sizeof(std::int64_t);
}

/// The first rows of blocks of at most `most` bytes each, and the number of rows.
template <class T>
std::vector<Index> cut_rows(const std::int64_t* offsets, Index rows, std::size_t most) {
  std::vector<Index> begins{0};
  for (Index i = 0; i < rows; ++i) {
    const Index begin = begins.back();
    if (block_bytes<T>(i + 1 - begin, offsets[i + 1] - offsets[begin]) <= most) continue;
    if (block_bytes<T>(1, offsets[i + 1] - offsets[i]) > most) {
      throw OutOfMemory(block_bytes<T>(1, offsets[i + 1] - offsets[i]),
                        fmt::format("C = A B by blocks of rows: row {} of C has {} entries, which "
                                    "need more than half of the {} bytes of device memory allowed; "
                                    "allow more",
                                    i + 1, offsets[i + 1] - offsets[i], 2 * most));
    }
    begins.push_back(i);
  }
  if (begins.back() != rows) begins.push_back(rows);
  return begins;
}

/// Rows first … last − 1 of A. `offsets` are its row offsets in host memory.
template <class T>
CsrView<T, DeviceSpace> rows_of(const CsrView<T, DeviceSpace>& A, const std::vector<Index>& offsets,
                                Index first, Index last) {
  return {last - first,
          A.cols,
          offsets[static_cast<std::size_t>(last)] - offsets[static_cast<std::size_t>(first)],
          A.row_offsets + first,
          A.columns,
          A.values};
}

}  // namespace

namespace detail {

template <Scalar T>
void multiply_to_host(CudaContext& context, const SpgemmPlan<T, CudaContext>& plan,
                      CsrView<T, DeviceSpace> A, CsrView<T, DeviceSpace> B,
                      const Index* row_offsets, std::size_t device_bytes, std::int32_t* columns,
                      T* values) {
  const std::vector<Index> begins = cut_rows<T>(row_offsets, A.rows, device_bytes / 2);
  std::vector<Index> offsets_of_A;
  if (begins.size() > 2) {
    offsets_of_A.resize(static_cast<std::size_t>(A.rows) + 1);
    context.copy_to_host(offsets_of_A.data(), A.row_offsets, offsets_of_A.size() * sizeof(Index));
  }
  std::array<CsrMatrix<T, DeviceSpace>, 2> blocks;
  std::array<CopyStream, 2> copies;
  for (std::size_t b = 0; b + 1 < begins.size(); ++b) {
    CopyStream& copy = copies[b % 2];
    CsrMatrix<T, DeviceSpace>& block = blocks[b % 2];
    copy.finish();  // of the block before the last one, whose memory is freed here
    block = {};
    block = begins.size() == 2
                ? plan.multiply(context, A, B)
                : spgemm<T>(context, rows_of(A, offsets_of_A, begins[b], begins[b + 1]), B);
    const Index at = row_offsets[begins[b]] - row_offsets[0];
    copy.follow(context);
    copy.copy(columns + at, block.columns(), block.nnz());
    copy.copy(values + at, block.values(), block.nnz());
  }
  for (CopyStream& copy : copies) copy.finish();
}

}  // namespace detail

template <Scalar T>
HostCsrMatrix<T> spgemm_to_host(CudaContext& context, HostContext& host, CsrView<T, DeviceSpace> A,
                                CsrView<T, DeviceSpace> B, std::size_t device_bytes) {
  const SpgemmPlan<T, CudaContext> plan(context, A, B);
  HostCsrMatrix<T> C(host, A.rows, B.cols, plan.counts().nnz);
  plan.fetch_row_offsets(context, C.row_offsets());
  const auto entries = static_cast<std::size_t>(C.nnz());
  const detail::PageLock lock_columns(C.columns(), entries * sizeof(std::int32_t));
  const detail::PageLock lock_values(C.values(), entries * sizeof(T));
  detail::multiply_to_host(context, plan, A, B, C.row_offsets(), device_bytes, C.columns(),
                           C.values());
  return C;
}

#define HEDDLE_INSTANTIATE(T)                                                                   \
  template void detail::multiply_to_host(CudaContext&, const SpgemmPlan<T, CudaContext>&,       \
                                         CsrView<T, DeviceSpace>, CsrView<T, DeviceSpace>,      \
                                         const Index*, std::size_t, std::int32_t*, T*);         \
  template HostCsrMatrix<T> spgemm_to_host(CudaContext&, HostContext&, CsrView<T, DeviceSpace>, \
                                           CsrView<T, DeviceSpace>, std::size_t);
HEDDLE_FOR_EACH_REAL(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
