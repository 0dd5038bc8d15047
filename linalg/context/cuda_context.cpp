#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/context/cuda_libraries.hpp>
#include <heddle/linalg/context/gpu_connection.hpp>
#include <heddle/linalg/context/memory_cache.hpp>
#include <heddle/linalg/context/phase_clock.hpp>
#include <heddle/linalg/context/probe.hpp>
#include <heddle/linalg/context/travel_clock.hpp>
#include <limits>
#include <optional>
#include <utility>

namespace heddle {
namespace {

std::string version(int code) { return fmt::format("{}.{}", code / 1000, code % 1000 / 10); }

CudaDevice describe(int ordinal) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, ordinal));
  CudaDevice device;
  device.ordinal = ordinal;
  device.name = properties.name;
  device.compute_capability = 10 * properties.major + properties.minor;
  device.multiprocessors = properties.multiProcessorCount;
  device.threads_per_multiprocessor = properties.maxThreadsPerMultiProcessor;
  device.memory_bytes = properties.totalGlobalMem;
  device.l2_bytes = static_cast<std::size_t>(properties.l2CacheSize);
  device.shared_bytes_per_block = properties.sharedMemPerBlockOptin;
  check(cudaDriverGetVersion(&device.driver_version));
  check(cudaRuntimeGetVersion(&device.runtime_version));
  return device;
}

/// Device or page-locked memory that is replaced only by a larger allocation.
struct Reserve {
  void* data = nullptr;
  std::size_t bytes = 0;
};

/// Copies to the host of up to this many bytes pass through page-locked memory of the context.
constexpr std::size_t kLandingBytes = std::size_t{1} << 14;

/// At most this part of the device's memory is kept in freed blocks.
constexpr std::size_t kPartForFreed = 64;

constexpr std::size_t kReserveGranularity = std::size_t{1} << 16;

std::size_t reserve_size(std::size_t bytes) {
  return (bytes + kReserveGranularity - 1) / kReserveGranularity * kReserveGranularity;
}

}  // namespace

std::string cuda_unavailable_reason(int device) {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaErrorInsufficientDriver) {
    int driver = 0;
    int runtime = 0;
    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&runtime);
    if (driver == 0) return "no GPU: no CUDA driver is installed";
    return fmt::format("the GPU driver runs CUDA up to {}, this build needs {}", version(driver),
                       version(runtime));
  }
  if (status != cudaSuccess) return fmt::format("no GPU: {}", cudaGetErrorString(status));
  if (device < 0 || device >= count) {
    return fmt::format("GPU {} was asked for, {} present", device, count);
  }
  if (const cudaError_t chosen = cudaSetDevice(device); chosen != cudaSuccess) {
    return fmt::format("GPU {} refuses: {}", device, cudaGetErrorString(chosen));
  }
  if (const cudaError_t image = probe_kernel_image(); image != cudaSuccess) {
    const CudaDevice found = describe(device);
    return fmt::format("GPU {} ({}) has compute capability {}.{}, not among those compiled for: {}",
                       device, found.name, found.compute_capability / 10,
                       found.compute_capability % 10, cudaGetErrorString(image));
  }
  return {};
}

namespace {

/// How a context passes data to and from the GPUs of other processes.
struct Traffic {
  explicit Traffic(std::shared_ptr<Processes> those);
  ~Traffic();
  Traffic(const Traffic&) = delete;
  Traffic& operator=(const Traffic&) = delete;

  std::shared_ptr<Processes> processes;
  std::shared_ptr<detail::GpuConnection> connection;
  cudaStream_t stream = nullptr;  // in addition to that of the context
  cudaEvent_t ready = nullptr;    // what is sent has been written
  cudaEvent_t go = nullptr;       // an exchange is about to begin
  cudaEvent_t arrived = nullptr;  // all messages of the last exchange have. Of `clock`
  std::optional<TravelClock> clock;
  Reserve gathered;
};

Traffic::Traffic(std::shared_ptr<Processes> those) : processes(std::move(those)) {
  int device = 0;
  check(cudaGetDevice(&device));
  std::shared_ptr<detail::GpuConnection>& gpus = processes->gpus();
  if (!gpus || gpus->device() != device) {
    gpus = std::make_shared<detail::GpuConnection>(*processes, device);
  }
  connection = gpus;
  int least = 0;
  int greatest = 0;
  check(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  check(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest));
  check(cudaEventCreateWithFlags(&ready, cudaEventDisableTiming));
  check(cudaEventCreateWithFlags(&go, cudaEventDisableTiming));
  clock.emplace(stream);
}

Traffic::~Traffic() {
  clock.reset();
  if (go != nullptr) cudaEventDestroy(go);
  if (ready != nullptr) cudaEventDestroy(ready);
  if (stream != nullptr) cudaStreamDestroy(stream);
}

}  // namespace

struct CudaContext::State {
  explicit State(int ordinal);
  ~State();

  /// The size of the block that `allocate` hands out for `bytes`.
  std::size_t block_size(std::size_t bytes) const {
    return keeps_freed ? detail::MemoryCache::block_size(bytes) : bytes;
  }
  void* from_pool(std::size_t bytes);  // null: out of memory
  void give_freed_to_pool() noexcept {
    freed.clear([this](void* block) { cudaFreeAsync(block, stream); });
  }

  CudaDevice device;
  cudaStream_t stream = nullptr;
  cudaMemPool_t pool = nullptr;
  cublasHandle_t cublas = nullptr;
  cusolverDnHandle_t cusolver = nullptr;
  cudaEvent_t order = nullptr;     // a place in a stream that another stream waits for
  std::optional<Traffic> traffic;  // of several processes
  std::optional<PhaseClock> clock;
  Profile profile;
  AllocationCount allocation_count;
  CopyCount copy_count;
  detail::MemoryCache freed;
  bool keeps_freed;  // without HEDDLE_EXACT_MEMORY
  void* landing = nullptr;
  Reserve scratch;
  Reserve outer_scratch;
  Reserve staging;
};

CudaContext::State::State(int ordinal)
    : device(describe(ordinal)),
      freed(device.memory_bytes / kPartForFreed),
      keeps_freed(std::getenv("HEDDLE_EXACT_MEMORY") == nullptr) {
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = ordinal;
  check(cudaMemPoolCreate(&pool, &properties));
  std::uint64_t keep_all = std::numeric_limits<std::uint64_t>::max();
  check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep_all));
  const detail::CudaLibraries& cuda = detail::cuda_libraries();
  check(cuda.cublasCreate(&cublas));
  check(cuda.cublasSetStream(cublas, stream));
  check(cuda.cusolverDnCreate(&cusolver));
  check(cuda.cusolverDnSetStream(cusolver, stream));
  check(cudaEventCreateWithFlags(&order, cudaEventDisableTiming));
  check(cudaMallocHost(&landing, kLandingBytes));
  clock.emplace(stream);
}

CudaContext::State::~State() {
  if (stream != nullptr) cudaStreamSynchronize(stream);
  clock.reset();
  if (traffic && traffic->gathered.data != nullptr) cudaFreeAsync(traffic->gathered.data, stream);
  for (const Reserve& reserve : {scratch, outer_scratch}) {
    if (reserve.data != nullptr) cudaFreeAsync(reserve.data, stream);
  }
  give_freed_to_pool();
  if (staging.data != nullptr) cudaFreeHost(staging.data);
  if (landing != nullptr) cudaFreeHost(landing);
  if (cusolver != nullptr) detail::cuda_libraries().cusolverDnDestroy(cusolver);
  if (cublas != nullptr) detail::cuda_libraries().cublasDestroy(cublas);
  if (pool != nullptr) cudaMemPoolDestroy(pool);
  if (order != nullptr) cudaEventDestroy(order);
  if (stream != nullptr) cudaStreamDestroy(stream);
}

CudaContext::CudaContext(int device, std::shared_ptr<Processes> processes) {
  const std::string reason = cuda_unavailable_reason(device);
  if (!reason.empty()) throw DeviceError(reason);
  state_ = std::make_unique<State>(device);
  if (processes) state_->traffic.emplace(std::move(processes));
}

CudaContext::~CudaContext() = default;

const CudaDevice& CudaContext::device() const noexcept { return state_->device; }
CUstream_st* CudaContext::stream() const noexcept { return state_->stream; }
cublasContext* CudaContext::cublas() const noexcept { return state_->cublas; }
cusolverDnContext* CudaContext::cusolver() const noexcept { return state_->cusolver; }

std::size_t CudaContext::free_bytes() const {
  std::size_t free = 0;
  std::size_t total = 0;
  check(cudaMemGetInfo(&free, &total));
  std::uint64_t reserved = 0;
  std::uint64_t used = 0;
  check(cudaMemPoolGetAttribute(state_->pool, cudaMemPoolAttrReservedMemCurrent, &reserved));
  check(cudaMemPoolGetAttribute(state_->pool, cudaMemPoolAttrUsedMemCurrent, &used));
  return free + (reserved - used) + state_->freed.bytes();
}

void* CudaContext::State::from_pool(std::size_t bytes) {
  void* pointer = nullptr;
  // Before the pool refuses more than the device has, it takes all that other processes left.
  if (bytes > device.memory_bytes) return nullptr;
  const cudaError_t status = cudaMallocFromPoolAsync(&pointer, bytes, pool, stream);
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    return nullptr;
  }
  check(status);
  return pointer;
}

void* CudaContext::allocate(std::size_t bytes) {
  if (bytes == 0) return nullptr;
  State& state = *state_;
  const std::size_t size = state.block_size(bytes);
  void* pointer = state.freed.take(size);
  if (pointer == nullptr) pointer = state.from_pool(size);
  if (pointer == nullptr && state.freed.bytes() > 0) {
    state.give_freed_to_pool();
    pointer = state.from_pool(size);
  }
  if (pointer == nullptr) {
    throw OutOfMemory(
        bytes, fmt::format("out of device memory: asked for {} bytes, {} of {} to be had on {}",
                           bytes, free_bytes(), state.device.memory_bytes, state.device.name));
  }
  AllocationCount& count = state.allocation_count;
  ++count.allocations;
  count.live_bytes += bytes;
  count.peak_bytes = std::max(count.peak_bytes, count.live_bytes);
  return pointer;
}

void CudaContext::deallocate(void* pointer, std::size_t bytes) noexcept {
  if (pointer == nullptr) return;
  State& state = *state_;
  state.allocation_count.live_bytes -= bytes;
  const bool kept = state.keeps_freed && state.freed.keep(pointer, state.block_size(bytes));
  if (!kept) cudaFreeAsync(pointer, state.stream);
}

namespace {

/// Memory of the context for at least `bytes` bytes, kept in `reserve`.
void* reserved(CudaContext& context, Reserve& reserve, std::size_t bytes) {
  if (bytes > reserve.bytes) {
    context.deallocate(reserve.data, reserve.bytes);
    reserve = {};
    const std::size_t size = reserve_size(bytes);
    reserve = {context.allocate(size), size};
  }
  return reserve.data;
}

}  // namespace

void* CudaContext::scratch(std::size_t bytes) { return reserved(*this, state_->scratch, bytes); }

void* CudaContext::outer_scratch(std::size_t bytes) {
  return reserved(*this, state_->outer_scratch, bytes);
}

void* CudaContext::staging(std::size_t bytes) {
  Reserve& reserve = state_->staging;
  if (bytes > reserve.bytes) {
    check(cudaStreamSynchronize(state_->stream));
    check(cudaFreeHost(reserve.data));
    reserve = {};
    const std::size_t size = reserve_size(bytes);
    check(cudaMallocHost(&reserve.data, size));
    reserve.bytes = size;
    ++state_->allocation_count.allocations;
  }
  return reserve.data;
}

void CudaContext::copy_to_host(void* target, const void* source, std::size_t bytes) {
  if (bytes == 0) return;
  const bool small = bytes <= kLandingBytes;
  check(cudaMemcpyAsync(small ? state_->landing : target, source, bytes, cudaMemcpyDeviceToHost,
                        state_->stream));
  check(cudaStreamSynchronize(state_->stream));
  if (small) std::memcpy(target, state_->landing, bytes);
  ++state_->copy_count.to_host;
  state_->copy_count.bytes_to_host += bytes;
}

void CudaContext::copy_to_device(void* target, const void* source, std::size_t bytes) {
  if (bytes == 0) return;
  check(cudaMemcpyAsync(target, source, bytes, cudaMemcpyHostToDevice, state_->stream));
  ++state_->copy_count.to_device;
  state_->copy_count.bytes_to_device += bytes;
}

void CudaContext::copy_to_host(void* target, std::size_t target_pitch, const void* source,
                               std::size_t source_pitch, std::size_t bytes, std::size_t count) {
  if (bytes == 0 || count == 0) return;
  if (target_pitch == bytes && source_pitch == bytes) {
    return copy_to_host(target, source, bytes * count);
  }
  check(cudaMemcpy2DAsync(target, target_pitch, source, source_pitch, bytes, count,
                          cudaMemcpyDeviceToHost, state_->stream));
  check(cudaStreamSynchronize(state_->stream));
  ++state_->copy_count.to_host;
  state_->copy_count.bytes_to_host += bytes * count;
}

void CudaContext::copy_to_device(void* target, std::size_t target_pitch, const void* source,
                                 std::size_t source_pitch, std::size_t bytes, std::size_t count) {
  if (bytes == 0 || count == 0) return;
  if (target_pitch == bytes && source_pitch == bytes) {
    return copy_to_device(target, source, bytes * count);
  }
  check(cudaMemcpy2DAsync(target, target_pitch, source, source_pitch, bytes, count,
                          cudaMemcpyHostToDevice, state_->stream));
  ++state_->copy_count.to_device;
  state_->copy_count.bytes_to_device += bytes * count;
}

void CudaContext::wait_for(CUstream_st* other) {
  check(cudaEventRecord(state_->order, other));
  check(cudaStreamWaitEvent(state_->stream, state_->order));
}

void CudaContext::let_wait(CUstream_st* other) {
  check(cudaEventRecord(state_->order, state_->stream));
  check(cudaStreamWaitEvent(other, state_->order));
}

void CudaContext::synchronize() {
  state_->clock->mark(state_->profile.open_phase(), state_->profile);
  check(cudaStreamSynchronize(state_->stream));
  state_->clock->read(state_->profile);
  if (state_->traffic) state_->traffic->clock->read(state_->profile);
}

Processes* CudaContext::processes() const noexcept {
  return state_->traffic && !apart_ ? state_->traffic->processes.get() : nullptr;
}

bool CudaContext::agree(bool here) const { return processes() ? processes()->any(here) : here; }

bool CudaContext::same(std::uint64_t number) const {
  return processes() == nullptr || processes()->same(number);
}

const double* CudaContext::gather_all(const double* here, std::size_t count) {
  Traffic& traffic = *state_->traffic;
  const std::size_t bytes = count * sizeof(double);
  const auto size = static_cast<std::size_t>(traffic.processes->size());
  void* const all = reserved(*this, traffic.gathered, size * bytes);
  traffic.connection->gather_all(here, all, bytes, state_->stream);
  return static_cast<const double*>(all);
}

void CudaContext::begin_exchange(std::span<const Processes::Message> receive,
                                 std::span<const Processes::Message> send) {
  Traffic& traffic = *state_->traffic;
  check(cudaEventRecord(traffic.ready, state_->stream));
  check(cudaStreamWaitEvent(traffic.stream, traffic.ready, 0));
  std::size_t bytes = 0;
  for (const Processes::Message& message : send) bytes += message.bytes;
  traffic.clock->begin(static_cast<double>(bytes), state_->profile);
  // The kernel that sends must get its multiprocessors before a product takes all of them.
  check(cudaEventRecord(traffic.go, traffic.stream));
  check(cudaStreamWaitEvent(state_->stream, traffic.go, 0));
  traffic.connection->exchange(receive, send, traffic.stream);
  traffic.arrived = traffic.clock->end();
}

void CudaContext::end_exchange() {
  check(cudaStreamWaitEvent(state_->stream, state_->traffic->arrived, 0));
}

Phase CudaContext::enter(Phase phase) noexcept {
  state_->clock->mark(phase, state_->profile);
  return state_->profile.open(phase);
}

Profile& CudaContext::profile() noexcept { return state_->profile; }
const AllocationCount& CudaContext::allocation_count() const noexcept {
  return state_->allocation_count;
}
const CopyCount& CudaContext::copy_count() const noexcept { return state_->copy_count; }

CurrentGpu::CurrentGpu(int ordinal) {
  int before = 0;
  if (cudaGetDevice(&before) != cudaSuccess || before == ordinal) return;
  if (cudaSetDevice(ordinal) == cudaSuccess) before_ = before;
}

CurrentGpu::~CurrentGpu() {
  if (before_ >= 0) cudaSetDevice(before_);
}

}  // namespace heddle
