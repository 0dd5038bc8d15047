#include <omp.h>

#include <algorithm>
#include <cstdlib>
#include <heddle/linalg/context.hpp>
#include <heddle/linalg/error.hpp>
#include <limits>
#include <string>
#include <utility>

namespace heddle {
namespace {

constexpr std::size_t kAlignment = 64;

}  // namespace

HostContext::HostContext(int threads) : threads_(threads > 0 ? threads : omp_get_max_threads()) {
  if (threads < 0) {
    throw InvalidArgument("HostContext: threads must not be negative, got " +
                          std::to_string(threads));
  }
}

HostContext::~HostContext() { deallocate(scratch_, scratch_bytes_); }

void* HostContext::allocate(std::size_t bytes) {
  if (bytes == 0) return nullptr;
  void* pointer = nullptr;
  if (bytes <= std::numeric_limits<std::size_t>::max() - kAlignment) {
    pointer = std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
  }
  if (pointer == nullptr) {
    throw OutOfMemory(bytes, "out of host memory: asked for " + std::to_string(bytes) +
                                 " bytes with " + std::to_string(allocation_count_.live_bytes) +
                                 " in use");
  }
  ++allocation_count_.allocations;
  allocation_count_.live_bytes += bytes;
  allocation_count_.peak_bytes =
      std::max(allocation_count_.peak_bytes, allocation_count_.live_bytes);
  return pointer;
}

void HostContext::deallocate(void* pointer, std::size_t bytes) noexcept {
  if (pointer == nullptr) return;
  std::free(pointer);
  allocation_count_.live_bytes -= bytes;
}

void* HostContext::scratch(std::size_t bytes) {
  if (bytes > scratch_bytes_) {
    deallocate(scratch_, std::exchange(scratch_bytes_, 0));
    scratch_ = nullptr;
    scratch_ = allocate(bytes);
    scratch_bytes_ = bytes;
  }
  return scratch_;
}

}  // namespace heddle
