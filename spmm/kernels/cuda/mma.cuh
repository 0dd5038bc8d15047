#pragma once

/// The tensor cores' product in double precision.
namespace heddle::detail::cuda {

/// c += a·b with A 8×4, B 4×8, C 8×8 over a warp: lane 4i + k holds A(i, k), lane 4j + k holds
/// B(k, j), lane 4i + q holds C(i, 2q) and C(i, 2q + 1).
__device__ inline void multiply_tile(double a, double b, double (&c)[2]) {
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
      : "+d"(c[0]), "+d"(c[1])
      : "d"(a), "d"(b));
}

}  // namespace heddle::detail::cuda
