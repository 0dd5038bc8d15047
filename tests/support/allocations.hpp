#pragma once

#include <cstddef>

namespace heddle::test {

/// The number of calls of malloc, calloc, realloc, aligned_alloc and posix_memalign (hence of
/// operator new) on all threads of this process so far. Always 0 if a sanitizer replaces the
/// allocator.
std::size_t heap_allocations() noexcept;

/// Whether `heap_allocations` counts in this build.
bool counts_heap_allocations() noexcept;

}  // namespace heddle::test
