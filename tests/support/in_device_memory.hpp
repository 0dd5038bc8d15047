#pragma once

#include <cstddef>

#include "support/cuda_test.hpp"

namespace heddle::test {

/// The GPU, for tests with the backend as a type parameter that place their operands themselves.
template <class T>
struct InDeviceMemory {
  using Scalar = T;
  using Context = CudaContext;
  class Fixture : public CudaTest {
   protected:
    CudaContext& on() { return context(); }
  };

  static void write(CudaContext& context, void* target, const void* source, std::size_t bytes) {
    if (bytes > 0) context.copy_to_device(target, source, bytes);
  }
  static void read(CudaContext& context, void* target, const void* source, std::size_t bytes) {
    if (bytes > 0) context.copy_to_host(target, source, bytes);
  }
};

}  // namespace heddle::test
