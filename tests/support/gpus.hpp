#pragma once

#include <gtest/gtest.h>

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/context/gpu_share.hpp>
#include <optional>
#include <string>
#include <support/processes.hpp>

namespace heddle::test {

/// A test that several processes run together, each with a GPU of its own.
class OnGpus : public OnProcesses {
 protected:
  static void TearDownTestSuite() {
    if (processes()) processes()->gpus().reset();  // before CUDA ends
  }

  void SetUp() override {
    OnProcesses::SetUp();
    if (!processes()) return;
    const detail::GpuShare share = detail::share_gpus(*processes());
    if (!share.refusal.empty()) GTEST_SKIP() << "skipped: " << share.refusal;
    gpu_.emplace(share.device, processes());
  }

  CudaContext& gpu() { return *gpu_; }

 private:
  std::optional<CudaContext> gpu_;
};

}  // namespace heddle::test
