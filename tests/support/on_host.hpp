#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <heddle/linalg/context/context.hpp>

namespace heddle::test {

/// The host backend with two threads, for tests with the backend as a type parameter.
template <class T>
struct OnHost {
  using Scalar = T;
  using Context = HostContext;
  class Fixture : public ::testing::Test {
   protected:
    HostContext& on() { return context_; }

   private:
    HostContext context_{2};
  };

  /// Copies of bytes to and from the memory of the context, as `InDeviceMemory` has them.
  static void write(HostContext&, void* target, const void* source, std::size_t bytes) {
    if (bytes > 0) std::memcpy(target, source, bytes);
  }
  static void read(HostContext& context, void* target, const void* source, std::size_t bytes) {
    write(context, target, source, bytes);
  }
};

}  // namespace heddle::test
