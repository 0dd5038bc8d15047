#pragma once

/// Products of 8×4 tiles of A on the fp64 tensor cores.
namespace heddle::detail::cuda {

/// c += a·b with A 8×4, B 4×8, C 8×8 over a warp: lane 4i + k holds A(i, k), lane 4j + k holds
/// B(k, j), lane 4i + q holds C(i, 2q) and C(i, 2q + 1).
__device__ inline void multiply_tile(double a, double b, double (&c)[2]) {
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
      : "+d"(c[0]), "+d"(c[1])
      : "d"(a), "d"(b));
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
