#include <algorithm>
#include <heddle/linalg/base/available_cpus.hpp>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/context/context.hpp>
#include <heddle/linalg/context/host_memory.hpp>
#include <mutex>
#include <string>
#include <utility>

namespace heddle {
namespace {

/// Buffers may be allocated and freed on any thread.
std::mutex counting;

}  // namespace

HostContext::HostContext(int threads, std::shared_ptr<Processes> processes)
    : threads_(threads > 0 ? threads : detail::default_threads()),
      processes_(std::move(processes)),
      memory_(std::make_unique<detail::HostMemory>()) {
  if (threads < 0) {
    throw InvalidArgument("HostContext: threads must not be negative, got " +
                          std::to_string(threads));
  }
}

HostContext::~HostContext() {
  for (const Scratch& scratch : {scratch_, outer_scratch_}) deallocate(scratch.data, scratch.bytes);
}

void* HostContext::allocate(std::size_t bytes) {
  if (bytes == 0) return nullptr;
  void* const pointer = memory_->allocate(bytes);
  if (pointer == nullptr) {
    throw OutOfMemory(bytes, "out of host memory: asked for " + std::to_string(bytes) +
                                 " bytes with " + std::to_string(allocation_count_.live_bytes) +
                                 " in use");
  }
  const std::lock_guard lock(counting);
  ++allocation_count_.allocations;
  allocation_count_.live_bytes += bytes;
  allocation_count_.peak_bytes =
      std::max(allocation_count_.peak_bytes, allocation_count_.live_bytes);
  return pointer;
}

void HostContext::deallocate(void* pointer, std::size_t bytes) noexcept {
  if (pointer == nullptr) return;
  memory_->deallocate(pointer, bytes);
  const std::lock_guard lock(counting);
  allocation_count_.live_bytes -= bytes;
}

std::size_t HostContext::kept_bytes() const noexcept { return memory_->kept_bytes(); }

void HostContext::release_kept_memory() noexcept { memory_->release(); }

void* HostContext::scratch(std::size_t bytes) { return grown(scratch_, bytes); }

void* HostContext::outer_scratch(std::size_t bytes) { return grown(outer_scratch_, bytes); }

void* HostContext::grown(Scratch& scratch, std::size_t bytes) {
  if (bytes > scratch.bytes) {
    deallocate(scratch.data, scratch.bytes);
    scratch = {};
    scratch = {allocate(bytes), bytes};
  }
  return scratch.data;
}

}  // namespace heddle
