#pragma once

#include <gtest/gtest.h>

#include <heddle/linalg/context/cuda_context.hpp>
#include <optional>
#include <string>

namespace heddle::test {

/// A test fixture with a context on the GPU. Without a GPU the test is skipped with the reason.
class CudaTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string reason = cuda_unavailable_reason();
    if (!reason.empty()) GTEST_SKIP() << "skipped: " << reason;
    context_.emplace();
  }

  CudaContext& context() { return *context_; }

 private:
  std::optional<CudaContext> context_;
};

}  // namespace heddle::test
