#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace heddle::detail {

/// Makes host memory that copies may use beside kernels, if the system lets it be page-locked.
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

}  // namespace heddle::detail
