#include <climits>
#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/dependent_launch.cuh>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/spmm/kernels/cuda/dispatch.hpp>
#include <heddle/spmm/kernels/cuda/epilogue.cuh>
#include <heddle/spmm/kernels/cuda/lanes.cuh>
#include <heddle/spmm/kernels/cuda/merge/merge_kernel.hpp>
#include <heddle/spmm/kernels/cuda/merge/merge_plan.hpp>

namespace heddle::detail::cuda {
namespace {

template <int kWidthOf, int kLanesOf>
struct MergeConfig {
  static constexpr int kWidth = kWidthOf;  // values a lane loads at once
  static constexpr int kLanes = kLanesOf;  // lanes of a group, which walks its part of the path
  static constexpr int kThreads = 256;
  static constexpr int kBlocks = 4;  // least number per multiprocessor: see lanes.cuh
  static constexpr int kGroups = kThreads / kLanes;  // per block
  static constexpr int kStripe = kLanes * kWidth;
  static constexpr int kUnroll = 4;
  // Whether four nonzeros are loaded at once. Groups of few lanes read many places of A at a time,
  // and that takes as long as reading B (one H200: up to 1.26 times as fast, wide groups slower).
  static constexpr bool kQuads = kLanes <= 4;
};

__device__ inline void load_four(const std::int32_t* from, std::int32_t (&to)[4]) {
  const int4 v = __ldg(reinterpret_cast<const int4*>(from));
  to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}
__device__ inline void load_four(const float* from, float (&to)[4]) {
  const float4 v = __ldg(reinterpret_cast<const float4*>(from));
  to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}
__device__ inline void load_four(const double* from, double (&to)[4]) {
  const double2 v = __ldg(reinterpret_cast<const double2*>(from));
  const double2 w = __ldg(reinterpret_cast<const double2*>(from) + 1);
  to[0] = v.x, to[1] = v.y, to[2] = w.x, to[3] = w.y;
}
__device__ inline void load_four(const std::complex<double>* from, std::complex<double> (&to)[4]) {
#pragma unroll
  for (int u = 0; u < 4; ++u) to[u] = load_value(from, u);
}
__device__ inline bool is_aligned(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer) % kVectorBytes == 0;
}

/// A group's traversal of its part of the path. Rows that end in the part are stored. The first of
/// them may have begun in an earlier part, so its sum is kept in `head`. `open` is the sum of the
/// row that is unfinished at the end. Nonzeros are counted from the first of the part, in 32 bits.
template <class Config, class Product>
struct Walk {
  using T = typename Product::Value;
  using Sum = Lane<T, Config::kWidth>;
  static constexpr int kUnroll = Config::kUnroll;

  const Product& p;
  Index column;
  PathPoint begin;
  PathPoint end;
  Index row;
  int row_end;
  Sum head;
  Sum open;

  __device__ Walk(const Product& product, Index column_of, PathPoint from, PathPoint to)
      : p(product), column(column_of), begin(from), end(to), row(from.row) {
    read_row_end();
  }

  __device__ void read_row_end() {
    const Index left = p.A.row_offsets[min(row + 1, p.A.rows)] - begin.nonzero;
    row_end = static_cast<int>(min(left, Index{INT_MAX}));
  }

  __device__ void finish_row() {
    if (row == begin.row) {
      head = open;
    } else {
      finish<Storing::streaming>(p, row, column, open);
    }
    open = Sum{};
    ++row;
    read_row_end();
  }

  /// Adds `count` ≤ kUnroll nonzeros from the k-th on, with their loads in flight together. Usually
  /// no row ends among them, and one check per nonzero would take as long as the sums. With
  /// `kQuad`, all four nonzeros are loaded at once, and the k-th must be aligned to 16 bytes in A.
  template <bool kAll, bool kQuad = false>
  __device__ void step(const std::int32_t* columns, const StoredValue<Product>* values, int k,
                       int count) {
    std::int32_t j[kUnroll];
    StoredValue<Product> a[kUnroll];
    Sum b[kUnroll];
    if constexpr (kQuad) {
      load_four(columns + k, j);
      load_four(values + k, a);
    }
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      if (kAll || u < count) {
        if constexpr (!kQuad) j[u] = __ldg(columns + k + u);
        b[u] = load_row<Config::kWidth>(p.B + column, j[u], b_pitch(p));
        if constexpr (!kQuad) a[u] = load_value(values + k, u);
      }
    }
    if (kAll && row_end >= k + kUnroll) {
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) multiply_add(static_cast<T>(a[u]), b[u], open);
      return;
    }
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      if (kAll || u < count) {
        while (row_end <= k + u) finish_row();
        multiply_add(static_cast<T>(a[u]), b[u], open);
      }
    }
  }

  __device__ void run() {
    const std::int32_t* columns = p.A.columns + begin.nonzero;
    const auto* values = values_from(p, begin.nonzero);
    const int length = static_cast<int>(end.nonzero - begin.nonzero);
    int k = 0;
    if constexpr (Config::kQuads) {
      const int first = static_cast<int>(-begin.nonzero & (kUnroll - 1));
      if (first <= length && is_aligned(columns + first) && is_aligned(values + first)) {
        step<false>(columns, values, 0, first);
        for (k = first; k + kUnroll <= length; k += kUnroll) {
          step<true, true>(columns, values, k, kUnroll);
        }
      }
    }
    for (; k + kUnroll <= length; k += kUnroll) step<true>(columns, values, k, kUnroll);
    if (k < length) step<false>(columns, values, k, length - k);
    while (row < end.row) finish_row();
  }
};

template <class Config, class Product>
__global__ __launch_bounds__(Config::kThreads,
                             Config::kBlocks) void merge_kernel(Product p, const PathPoint* points,
                                                                Index stretches, Index span,
                                                                typename Product::Value* carries) {
  using T = typename Product::Value;
  using Sum = Lane<T, Config::kWidth>;
  __shared__ Sum open_sums[Config::kGroups][Config::kLanes];
  __shared__ bool finishes[Config::kGroups];

  const int group = threadIdx.x / Config::kLanes;
  const int lane = threadIdx.x % Config::kLanes;
  const Index column = static_cast<Index>(blockIdx.y) * Config::kStripe + lane * Config::kWidth;
  const Index stretch =
      min((static_cast<Index>(blockIdx.x) * Config::kGroups + group) * span, stretches);
  const bool active = column < p.N;

  Walk<Config, Product> walk(p, column, points[stretch], points[min(stretch + span, stretches)]);
  wait_for_previous_kernel();
  allow_next_kernel();
  if (active) walk.run();
  const bool finished = walk.begin.row < walk.end.row;
  open_sums[group][lane] = walk.open;
  if (lane == 0) finishes[group] = finished;
  __syncthreads();
  if (!active) return;

  // The row that is open at the end of group g begins in the last group up to g that finishes a
  // row.
  const auto sum_until = [&](int last) {
    int first = last;
    while (first > 0 && !finishes[first]) --first;
    Sum sum;
    for (int g = first; g <= last; ++g) add(open_sums[g][lane], sum);
    return sum;
  };
  if (finished) {
    Sum sum;
    if (group > 0) sum = sum_until(group - 1);
    add(walk.head, sum);
    finish<Storing::streaming>(p, walk.begin.row, column, sum);
  }
  if (group == Config::kGroups - 1) {
    const Sum carry = sum_until(group);
    store(carry, carries + blockIdx.x * p.N + column);
  }
}

/// The largest number of lanes per group.
constexpr Index kMostLanes = kWarpSize;

/// The number of stretches per group of `lanes` lanes. It is one, unless there are more stretches
/// than groups that fill the device twice. Then it grows, up to kLongestWalk rows or nonzeros per
/// group.
Index stretches_per_group(const MergePath& path, int lanes, const DeviceSizes& device) {
  constexpr Index kLongestWalk = 128;
  return std::clamp<Index>(path.stretches() * lanes / (2 * device.resident_threads()), 1,
                           std::max<Index>(1, kLongestWalk / path.step()));
}

template <class T, class V>
using Plan = MergePlan<T, V, PathMeasure::nonzeros>;

}  // namespace

KernelMakers<DeviceSpace> MergeKernel::makers() { return makers_by_values<MergeKernel, Plan>(); }

template <class T>
Index merge_carries(const MergePath& path, Index N) {
  constexpr Index kFewestGroups = MergeConfig<1, kWarpSize>::kGroups;
  return blocks_for(path.stretches(), kFewestGroups) * N;
}

template <class T, class V>
void launch_merge(CudaContext& context, const SpmmProduct<T>& product,
                  const StoredValues<T, V>& values, const MergePath& path, T* carries) {
  dispatch_lanes(product, kMostLanes, [&]<int kWidth, int kLanes>() {
    using Config = MergeConfig<kWidth, kLanes>;
    const Index span = stretches_per_group(path, kLanes, context.device());
    const dim3 grid(blocks_for(path.stretches(), Config::kGroups * span),
                    blocks_for(product.N, Config::kStripe));
    dispatch_terms(product, [&](const auto& typed) {
      const auto complete = values.in(typed);
      launch_dependent(merge_kernel<Config, std::remove_const_t<decltype(complete)>>,
                       {grid, Config::kThreads}, context.stream(), complete, path.points(),
                       path.stretches(), span, carries);
    });
    launch_add_carries(context, product, path, Config::kGroups * span, carries);
  });
}

#define HEDDLE_INSTANTIATE(T, V)                                                             \
  template void launch_merge(CudaContext&, const SpmmProduct<T>&, const StoredValues<T, V>&, \
                             const MergePath&, T*);
HEDDLE_FOR_EACH_STORED_VALUE(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE
#define HEDDLE_INSTANTIATE(T) template Index merge_carries<T>(const MergePath&, Index);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail::cuda
