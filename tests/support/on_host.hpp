#pragma once

#include <gtest/gtest.h>

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
};

}  // namespace heddle::test
