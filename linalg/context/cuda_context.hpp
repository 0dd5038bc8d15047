#pragma once

#include <heddle/linalg/context/device_sizes.hpp>
#include <memory>
#include <string>

// The toolkit's handle types by their tags, so that this header needs no toolkit.
struct CUstream_st;
struct cublasContext;
struct cusolverDnContext;

namespace heddle {

/// A GPU: its sizes, its name and the CUDA versions it runs with.
struct CudaDevice : DeviceSizes {
  int ordinal = 0;
  std::string name;
  int compute_capability = 0;  ///< ten times the major number plus the minor: 90 for 9.0
  std::size_t memory_bytes = 0;
  std::size_t l2_bytes = 0;
  std::size_t shared_bytes_per_block = 0;  ///< the most that a kernel may ask for
  int driver_version = 0;                  ///< 1000·major + 10·minor of the newest CUDA it runs
  int runtime_version = 0;
};

/// Calls and bytes that crossed between host and device through a context.
struct CopyCount {
  std::size_t to_host = 0;
  std::size_t to_device = 0;
  std::size_t bytes_to_host = 0;
  std::size_t bytes_to_device = 0;
};

/// Why no `CudaContext` can be made on GPU `device`, in one line; empty if one can.
std::string cuda_unavailable_reason(int device = 0);

/// The GPU backend: device memory, and one stream on which everything runs in the order called.
///
/// Calls return when their work is queued, those that give numbers to the host when it is done.
/// Memory comes from a pool that keeps what it got until the context ends, so a freed block is
/// reused without a call to the driver. One thread at a time may use a context.
class CudaContext {
 public:
  using Space = DeviceSpace;

  /// Throws `DeviceError` with the reason that `cuda_unavailable_reason` gives.
  explicit CudaContext(int device = 0);
  ~CudaContext();
  CudaContext(const CudaContext&) = delete;
  CudaContext& operator=(const CudaContext&) = delete;

  const CudaDevice& device() const noexcept;
  CUstream_st* stream() const noexcept;
  cublasContext* cublas() const noexcept;        ///< bound to the stream
  cusolverDnContext* cusolver() const noexcept;  ///< bound to the stream

  /// Bytes that could be allocated now: free on the device, or kept by the pool and unused.
  std::size_t free_bytes() const;

  /// `bytes` of uninitialised device memory on a 256-byte boundary, nullptr for 0.
  /// Throws `OutOfMemory` with the bytes asked for and those to be had.
  void* allocate(std::size_t bytes);
  void deallocate(void* pointer, std::size_t bytes) noexcept;

  /// At least `bytes` of device memory for the partial results of the operation being queued; the
  /// next call may hand out the same. Grows, so it allocates only at a size not yet met.
  void* scratch(std::size_t bytes);

  /// At least `bytes` of page-locked host memory to stage a copy in; the next call may hand out the
  /// same. Grows likewise.
  void* staging(std::size_t bytes);

  /// Copies `bytes` from device to host memory and waits for them.
  void copy_to_host(void* target, const void* source, std::size_t bytes);

  /// Queues a copy of `bytes` from host to device memory; `source` may be reused on return unless
  /// it is page-locked.
  void copy_to_device(void* target, const void* source, std::size_t bytes);

  /// `count` runs of `bytes` each, `target_pitch` and `source_pitch` bytes apart; as above.
  void copy_to_host(void* target, std::size_t target_pitch, const void* source,
                    std::size_t source_pitch, std::size_t bytes, std::size_t count);
  void copy_to_device(void* target, std::size_t target_pitch, const void* source,
                      std::size_t source_pitch, std::size_t bytes, std::size_t count);

  /// Waits for all queued work, then brings the profile's times up to date.
  void synchronize();

  /// True where any process of the context says so: here the only one. See `HostContext::agree`.
  bool agree(bool here) const noexcept { return here; }

  /// Opens `phase` at this point of the stream and returns the one that was open. Times are those
  /// of the device, read from events without waiting for them; the phase is an NVTX range too.
  Phase enter(Phase phase) noexcept;

  /// Its times are complete up to the last `synchronize`.
  Profile& profile() noexcept;
  const AllocationCount& allocation_count() const noexcept;
  const CopyCount& copy_count() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

template <>
struct ContextOf<DeviceSpace> {
  using type = CudaContext;
};

static_assert(Context<CudaContext>);

}  // namespace heddle
