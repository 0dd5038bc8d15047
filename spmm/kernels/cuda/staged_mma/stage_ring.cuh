#pragma once

#include <cuda_pipeline.h>

#include <cstdint>
#include <cuda/ptx>
#include <heddle/spmm/kernels/cuda/product.hpp>

namespace heddle::detail::cuda {

/// A thread's place in a ring of stages of shared memory, which `kProducers` threads fill with
/// asynchronous copies while `kConsumers` others read earlier stages:
///
/// ```text
/// producer   wait_until_empty  copy_whole, other copies  arrive_when_copied  advance
/// consumer   wait_until_full   reads                     release             advance
/// ```
///
/// Nobody waits for all threads, so that consumers with little work in a stage go on to the next.
/// Whole warps call each function. Uses the barriers 1 … kStages of the thread block.
template <int kStages, int kProducers, int kConsumers>
class StageRing {
 public:
  /// In shared memory.
  struct Barriers {
    std::uint64_t full[kStages];
  };

  /// Called by one thread, before all threads synchronise.
  __device__ static void initialise(Barriers& barriers) {
    for (int s = 0; s < kStages; ++s) {
      ::cuda::ptx::mbarrier_init(&barriers.full[s], kProducers + 1);  // and `copy_whole`
    }
  }

  __device__ explicit StageRing(Barriers& barriers) : barriers_(barriers) {}

  __device__ int stage() const { return stage_; }

  /// Waits until all consumers have released what the stage held before.
  __device__ void wait_until_empty() const {
    if (round_ == 0) return;
    asm volatile("barrier.cta.sync %0, %1;" ::"r"(1 + stage_), "n"(kProducers + kConsumers)
                 : "memory");
  }
  __device__ void release() const {
    asm volatile("barrier.cta.arrive %0, %1;" ::"r"(1 + stage_), "n"(kProducers + kConsumers)
                 : "memory");
  }

  /// Starts the copy of `bytes`, a multiple of 16, to this stage, once per stage. `thread` is the
  /// number of the calling thread among the producers, all of which take part. Both
  /// addresses are aligned to 16 bytes.
  __device__ void copy_whole(char* to, const void* from, int bytes, int thread) const {
    std::uint64_t* const full = &barriers_.full[stage_];
#if __CUDA_ARCH__ >= 900
    if (thread != 0) return;
    // The unit for bulk copies sees this memory, and the barrier, by another way than the threads
    // that have initialised the barrier and used the stage. Without this, kernels hang now and
    // then.
    ::cuda::ptx::fence_proxy_async(::cuda::ptx::space_shared);
    const auto size = static_cast<std::uint32_t>(bytes);
    ::cuda::ptx::mbarrier_arrive_expect_tx(::cuda::ptx::sem_release, ::cuda::ptx::scope_cta,
                                           ::cuda::ptx::space_shared, full, size);
    ::cuda::ptx::cp_async_bulk(::cuda::ptx::space_cluster, ::cuda::ptx::space_global, to, from,
                               size, full);
#else
    for (int k = thread * kVectorBytes; k < bytes; k += kProducers * kVectorBytes) {
      __pipeline_memcpy_async(to + k, static_cast<const char*>(from) + k, kVectorBytes);
    }
    if (thread == 0) ::cuda::ptx::mbarrier_arrive(full);
#endif
  }

  /// The stage is full when the copies that all producers have started before have ended.
  __device__ void arrive_when_copied() const {
    ::cuda::ptx::cp_async_mbarrier_arrive_noinc(&barriers_.full[stage_]);
  }
  __device__ void wait_until_full() const {
    std::uint64_t* const full = &barriers_.full[stage_];
    const unsigned parity = round_ & 1u;
#if __CUDA_ARCH__ >= 900
    while (!::cuda::ptx::mbarrier_try_wait_parity(full, parity)) {
    }
#else
    while (!::cuda::ptx::mbarrier_test_wait_parity(full, parity)) {
    }
#endif
  }

  __device__ void advance() {
    if (++stage_ < kStages) return;
    stage_ = 0;
    ++round_;
  }

 private:
  Barriers& barriers_;
  int stage_ = 0;
  unsigned round_ = 0;
};

}  // namespace heddle::detail::cuda
