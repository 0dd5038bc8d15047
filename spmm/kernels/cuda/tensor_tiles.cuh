#pragma once

/// Products of 8×4 and 16×4 tiles of A on the fp64 tensor cores.
namespace heddle::detail::cuda {

/// c += a·b with A 8×4, B 4×8, C 8×8 over a warp: lane 4i + k holds A(i, k), lane 4j + k holds
/// B(k, j), lane 4i + q holds C(i, 2q) and C(i, 2q + 1).
__device__ inline void multiply_tile(double a, double b, double (&c)[2]) {
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
      : "+d"(c[0]), "+d"(c[1])
      : "d"(a), "d"(b));
}

/// c += a·b with A 16×4, B 4×8, C 16×8 over a warp: lane 4i + k holds A(i, k) and A(8 + i, k), lane
/// 4j + k holds B(k, j), lane 4i + q holds C(i, 2q), C(i, 2q + 1), C(8 + i, 2q), C(8 + i, 2q + 1).
/// On Hopper, this product takes as long as that of an 8×4 tile (one H200: 127 and 64
/// multiplications per cycle and multiprocessor).
__device__ inline void multiply_tall_tile(const double (&a)[2], double b, double (&c)[4]) {
#if __CUDA_ARCH__ >= 900
  asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
      "{%0, %1, %2, %3};"
      : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
      : "d"(a[0]), "d"(a[1]), "d"(b));
#else
  double upper[2] = {c[0], c[1]};
  double lower[2] = {c[2], c[3]};
  multiply_tile(a[0], b, upper);
  multiply_tile(a[1], b, lower);
  c[0] = upper[0];
  c[1] = upper[1];
  c[2] = lower[0];
  c[3] = lower[1];
#endif
}

/// A lane's part of a panel's product, C = A B over 8 rows. Column j of the tensor cores' operand B
/// is column kWidth·j + v of the block in the v-th of kWidth products, so that a lane loads several
/// neighbouring values at once and its sums are neighbours: sums[l][v][e] belongs to column (8l +
/// 2q + e)·kWidth + v of the stripe.
template <class Config>
struct PanelSums {
  double values[Config::kLoads][Config::kWidth][2] = {};
};

}  // namespace heddle::detail::cuda
