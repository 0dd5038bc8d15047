#pragma once

#include <heddle/linalg/context/context.hpp>
#include <heddle/linalg/context/processes.hpp>
#include <memory>
#include <span>
#include <string>
#include <utility>

// Forward declarations of the toolkit's handle types, so that this header does not include the
// toolkit.
struct CUstream_st;
struct cublasContext;
struct cusolverDnContext;

namespace heddle {

/// How many threads a GPU can run at once. The rules that distribute work over threads depend on
/// it. The defaults are those of an NVIDIA H100 or H200, so that these rules can be evaluated
/// without a GPU.
struct DeviceSizes {
  int multiprocessors = 132;              ///< processors of the device
  int threads_per_multiprocessor = 2048;  ///< resident at once on one multiprocessor

  /// Threads resident at once on the whole device.
  constexpr Index resident_threads() const noexcept {
    return Index{multiprocessors} * threads_per_multiprocessor;
  }
};

/// A GPU: its sizes, its name and the CUDA versions it runs with.
struct CudaDevice : DeviceSizes {
  int ordinal = 0;  ///< its number, from 0
  std::string name;
  int compute_capability = 0;    ///< ten times the major number plus the minor: 90 for 9.0
  std::size_t memory_bytes = 0;  ///< memory of the device
  std::size_t l2_bytes = 0;      ///< cache that all multiprocessors share
  std::size_t shared_bytes_per_block = 0;  ///< the most that a kernel may use
  int driver_version = 0;                  ///< 1000·major + 10·minor of the newest CUDA it runs
  int runtime_version = 0;  ///< 1000·major + 10·minor of the CUDA that heddle runs with
};

/// Number of copies between host and device through a context, and their bytes.
struct CopyCount {
  std::size_t to_host = 0;          ///< copies to host memory
  std::size_t to_device = 0;        ///< copies to device memory
  std::size_t bytes_to_host = 0;    ///< their bytes
  std::size_t bytes_to_device = 0;  ///< their bytes
};

/// The reason why no `CudaContext` can be created on GPU `device`, in one line. Empty if one can.
std::string cuda_unavailable_reason(int device = 0);

/// The GPU backend: device memory, and one stream that executes all work in the order of the calls.
///
/// A call returns when its work is queued. A call that returns numbers to the host waits until they
/// are computed. Memory comes from a pool of the driver that keeps it until the context is
/// destroyed. Freed blocks up to 32 MiB are handed out again by the context itself, and up to a
/// quarter larger than asked for. With the environment variable HEDDLE_EXACT_MEMORY each request is
/// one of the pool, so that compute-sanitizer sees accesses behind its end. Only one thread at a
/// time may use a context.
///
/// With `processes`, blocks hold the rows of this process, as those of a `HostContext` do. Each
/// process has a GPU of its own, and data passes between GPUs over NCCL.
class CudaContext {
 public:
  using Space = DeviceSpace;

  /// `processes`: the processes that share the rows, which make their contexts together. Null: this
  /// process holds all rows. Throws `DeviceError` with the reason that `cuda_unavailable_reason`
  /// gives.
  explicit CudaContext(int device = 0, std::shared_ptr<Processes> processes = nullptr);
  ~CudaContext();
  CudaContext(const CudaContext&) = delete;
  CudaContext& operator=(const CudaContext&) = delete;

  /// The GPU of the context.
  const CudaDevice& device() const noexcept;
  /// The stream on which the context queues its work.
  CUstream_st* stream() const noexcept;
  cublasContext* cublas() const noexcept;        ///< bound to the stream
  cusolverDnContext* cusolver() const noexcept;  ///< bound to the stream

  /// Bytes that could be allocated now: free on the device, or unused in the pool.
  std::size_t free_bytes() const;

  /// Returns `bytes` of uninitialised device memory, aligned to 256 bytes, or nullptr for 0 bytes.
  /// Throws `OutOfMemory` with the bytes requested and the bytes available.
  void* allocate(std::size_t bytes);
  void deallocate(void* pointer, std::size_t bytes) noexcept;

  /// Returns at least `bytes` of device memory for partial results of the operation being queued.
  /// The next call may return the same memory. It grows to the largest size requested and is kept,
  /// so it allocates only for a larger size.
  void* scratch(std::size_t bytes);

  /// A second such memory, for an operation that calls others, which use `scratch`.
  void* outer_scratch(std::size_t bytes);

  /// Returns at least `bytes` of page-locked host memory as a staging area for copies. The next
  /// call may return the same memory. It grows like `scratch`.
  void* staging(std::size_t bytes);

  /// Copies `bytes` from device to host memory and waits for the copy to finish.
  void copy_to_host(void* target, const void* source, std::size_t bytes);

  /// Queues a copy of `bytes` from host to device memory. The caller may reuse `source` at once,
  /// unless it is page-locked.
  void copy_to_device(void* target, const void* source, std::size_t bytes);

  /// Copies `count` runs of `bytes` each. Runs begin `target_pitch` and `source_pitch` bytes apart.
  /// Waiting and reuse are as above.
  void copy_to_host(void* target, std::size_t target_pitch, const void* source,
                    std::size_t source_pitch, std::size_t bytes, std::size_t count);
  void copy_to_device(void* target, std::size_t target_pitch, const void* source,
                      std::size_t source_pitch, std::size_t bytes, std::size_t count);

  /// All work that is queued from now on waits for the work queued so far on `other`, a stream of
  /// the same GPU. Null: its default stream. Does not wait itself.
  void wait_for(CUstream_st* other);

  /// All work that is queued on `other` from now on waits for the work queued so far here.
  void let_wait(CUstream_st* other);

  /// Waits for all queued work, then updates the times of the profile.
  void synchronize();

  /// The processes that share the rows. Null: this process holds all rows, or works apart.
  Processes* processes() const noexcept;

  /// Whether this process works apart, see `HostContext::set_apart`.
  bool set_apart(bool apart) noexcept { return std::exchange(apart_, apart); }

  /// The numbers by which random entries are drawn, see `HostContext::row_numbers`.
  const std::int32_t* row_numbers() const noexcept { return row_numbers_; }
  void set_row_numbers(const std::int32_t* numbers) noexcept { row_numbers_ = numbers; }

  /// A logical OR over all processes of the context. See `HostContext::agree`.
  bool agree(bool here) const;

  /// Whether a number is the same on all processes of the context. See `HostContext::same`.
  bool same(std::uint64_t number) const;

  /// Queues the gathering of `count` numbers of each process, in device memory. Returns those of
  /// all processes in their order. They are valid until the next call. Needs processes.
  const double* gather_all(const double* here, std::size_t count);

  /// Queues an exchange of messages in device memory, concurrent with the work that is queued until
  /// `end_exchange`. See `Processes::begin_exchange`. Work that is queued after `end_exchange`
  /// begins when all messages have arrived. Needs processes.
  void begin_exchange(std::span<const Processes::Message> receive,
                      std::span<const Processes::Message> send);
  void end_exchange();

  /// Opens `phase` at this point of the stream and returns the phase that was open. Times are
  /// measured on the device by events, which are read without waiting for them. The phase is an
  /// NVTX range as well.
  Phase enter(Phase phase) noexcept;

  /// The profile. Its times are complete up to the last `synchronize`.
  Profile& profile() noexcept;
  const AllocationCount& allocation_count() const noexcept;
  const CopyCount& copy_count() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
  bool apart_ = false;
  const std::int32_t* row_numbers_ = nullptr;
};

/// Makes a GPU the current one of the calling thread, which every use of a context on that GPU
/// needs, until the end of its life. Then the one before is current again.
class CurrentGpu {
 public:
  /// Makes GPU `ordinal` the current one.
  explicit CurrentGpu(int ordinal);
  ~CurrentGpu();
  CurrentGpu(const CurrentGpu&) = delete;
  CurrentGpu& operator=(const CurrentGpu&) = delete;

 private:
  int before_ = -1;  // -1: none was current
};

template <>
struct ContextOf<DeviceSpace> {
  using type = CudaContext;
};

static_assert(Context<CudaContext>);

}  // namespace heddle
