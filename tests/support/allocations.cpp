#include "support/allocations.hpp"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <heddle/linalg/base/sanitizers.hpp>

namespace {

std::atomic<std::size_t> allocations{0};

}  // namespace

// Sanitizers own the allocator.
#if defined(__GLIBC__) && !defined(HEDDLE_ADDRESS_SANITIZER) && !defined(HEDDLE_THREAD_SANITIZER)

// The C library's own entry points behind the names that this file takes over.
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* pointer, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);

void* malloc(std::size_t size) {
  ++allocations;
  return __libc_malloc(size);
}

void* calloc(std::size_t count, std::size_t size) {
  ++allocations;
  return __libc_calloc(count, size);
}

void* realloc(void* pointer, std::size_t size) {
  ++allocations;
  return __libc_realloc(pointer, size);
}

void* aligned_alloc(std::size_t alignment, std::size_t size) {
  ++allocations;
  return __libc_memalign(alignment, size);
}

int posix_memalign(void** pointer, std::size_t alignment, std::size_t size) {
  ++allocations;
  *pointer = __libc_memalign(alignment, size);
  return *pointer == nullptr ? ENOMEM : 0;
}
}

namespace heddle::test {
bool counts_heap_allocations() noexcept { return true; }
}  // namespace heddle::test

#else

namespace heddle::test {
bool counts_heap_allocations() noexcept { return false; }
}  // namespace heddle::test

#endif

namespace heddle::test {

std::size_t heap_allocations() noexcept { return allocations; }

}  // namespace heddle::test
