#include "support/allocations.hpp"

#include <atomic>
#include <cerrno>
#include <cstdlib>

namespace {

std::atomic<std::size_t> allocations{0};

}  // namespace

// GCC names the sanitizers that own the allocator by macros, clang by features.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HEDDLE_SANITIZER_ALLOCATES
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HEDDLE_SANITIZER_ALLOCATES
#endif

#if defined(__GLIBC__) && !defined(HEDDLE_SANITIZER_ALLOCATES)

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
