#pragma once

#include <cstddef>

namespace heddle::test {

/// Calls of malloc, calloc, realloc, aligned_alloc and posix_memalign (so of operator new too) in
/// this process so far, on any thread. Always 0 where a sanitizer owns the allocator.
std::size_t heap_allocations() noexcept;

/// Whether `heap_allocations` counts.
bool counts_heap_allocations() noexcept;

}  // namespace heddle::test
