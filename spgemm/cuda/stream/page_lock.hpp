#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <heddle/linalg/data/buffer.hpp>
#include <optional>

namespace heddle::detail {

/// Makes host memory that copies may use during kernels, if the system lets it be page-locked.
class PageLock {
 public:
  PageLock(void* memory, std::size_t bytes) : memory_(memory) {
    locked_ = bytes > 0 && cudaHostRegister(memory, bytes, cudaHostRegisterDefault) == cudaSuccess;
    if (!locked_) static_cast<void>(cudaGetLastError());
  }
  ~PageLock() {
    if (locked_) cudaHostUnregister(memory_);
  }
  PageLock(const PageLock&) = delete;
  PageLock& operator=(const PageLock&) = delete;

 private:
  void* memory_;
  bool locked_;
};

/// A page-locked array in host memory that is used again and again: memory that the system has to
/// provide and lock anew costs more than a copy to it.
template <class V>
class LockedArray {
 public:
  /// Makes room for `size` values, which are then uninitialised if there was less. Throws
  /// `OutOfMemory`.
  void reserve(HostContext& host, std::size_t size) {
    if (size <= values_.size()) return;
    lock_.reset();
    values_ = {};
    values_ = {host, size};
    lock_.emplace(values_.data(), size * sizeof(V));
  }
  V* data() noexcept { return values_.data(); }

 private:
  Buffer<V, HostSpace> values_;
  std::optional<PageLock> lock_;
};

}  // namespace heddle::detail
