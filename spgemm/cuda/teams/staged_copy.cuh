#pragma once

#include <cuda_pipeline.h>

#include <heddle/linalg/sparse/csr_kernels.cuh>

/// Asynchronous copies of numbers from device to shared memory, by one warp. They end with
/// `__pipeline_wait_prior`.
namespace heddle::detail {

template <class T>
inline constexpr int kNumbersIn16Bytes = static_cast<int>(16 / sizeof(T));

/// How many numbers an address is behind a multiple of 16 bytes.
template <class T>
__device__ int numbers_behind_16_bytes(const T* address) {
  return static_cast<int>(reinterpret_cast<std::uintptr_t>(address) % 16 / sizeof(T));
}

/// Copies `count` numbers by one warp. Both addresses have the same distance to a multiple of 16
/// bytes.
template <class T>
__device__ void copy_numbers(T* target, const T* source, int count) {
  constexpr int kUnit = kNumbersIn16Bytes<T>;
  const int lane = lane_index();
  const int head = min(count, (kUnit - numbers_behind_16_bytes(source)) % kUnit);
  const int tail = head + (count - head) / kUnit * kUnit;
  if (lane < head) __pipeline_memcpy_async(target + lane, source + lane, sizeof(T));
#pragma unroll 4
  for (int t = head + lane * kUnit; t < tail; t += kWarp * kUnit) {
    __pipeline_memcpy_async(target + t, source + t, kUnit * sizeof(T));
  }
  if (tail + lane < count) {
    __pipeline_memcpy_async(target + tail + lane, source + tail + lane, sizeof(T));
  }
}

/// Copies `rows` rows of `width` numbers, which follow each other, to rows of `pitch`. One warp.
template <class T>
__device__ void copy_rows(T* target, int pitch, const T* source, int rows, int width) {
  if (pitch == width) {
    copy_numbers(target, source, rows * width);
    return;
  }
  for (int t = lane_index(); t < rows * width; t += kWarp) {
    __pipeline_memcpy_async(target + t / width * pitch + t % width, source + t, sizeof(T));
  }
}

}  // namespace heddle::detail
