#if defined(__linux__)
#include <sys/mman.h>
#endif

#include <algorithm>
#include <cstdlib>
#include <heddle/linalg/base/available_cpus.hpp>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/context/context.hpp>
#include <limits>
#include <string>
#include <utility>

namespace heddle {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kHugePage = std::size_t{2} << 20;

// Returns uninitialised memory, nullptr if there is none. Large allocations request huge pages
// where the system offers them: with 4 KiB pages, a product with a large sparse matrix takes up to
// three times as long because of address translation.
void* allocate_aligned(std::size_t bytes) {
  const bool huge = bytes >= 4 * kHugePage;
  const std::size_t alignment = huge ? kHugePage : kAlignment;
  if (bytes > std::numeric_limits<std::size_t>::max() - alignment) return nullptr;
  const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  void* const pointer = std::aligned_alloc(alignment, rounded);
#if defined(__linux__)
  if (huge && pointer != nullptr) madvise(pointer, rounded, MADV_HUGEPAGE);
#endif
  return pointer;
}

}  // namespace

HostContext::HostContext(int threads, std::shared_ptr<Processes> processes)
    : threads_(threads > 0 ? threads : detail::default_threads()),
      processes_(std::move(processes)) {
  if (threads < 0) {
    throw InvalidArgument("HostContext: threads must not be negative, got " +
                          std::to_string(threads));
  }
}

HostContext::~HostContext() { deallocate(scratch_, scratch_bytes_); }

void* HostContext::allocate(std::size_t bytes) {
  if (bytes == 0) return nullptr;
  void* const pointer = allocate_aligned(bytes);
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
