#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/spmm/kernels/cuda/dispatch.hpp>
#include <heddle/spmm/kernels/cuda/lanes.cuh>
#include <heddle/spmm/triangular/row_signals.cuh>
#include <heddle/spmm/triangular/triangular_kernels.hpp>

namespace heddle::detail::cuda {
namespace {

constexpr int kThreads = 256;

/// Entries of a row that one thread has in flight.
constexpr int kUnroll = 4;

template <int kWidthOf, int kLanesOf, int kGroupsOf>
struct TeamConfig {
  static constexpr int kWidth = kWidthOf;         // values a lane loads at once
  static constexpr int kLanes = kLanesOf;         // lanes for the columns of a row
  static constexpr int kGroups = kGroupsOf;       // such lane groups for the entries of a row
  static constexpr int kTeam = kLanes * kGroups;  // threads of a row
  static constexpr int kRows = kThreads / kTeam;
  static_assert(kTeam <= kWarpSize, "a team shares its entries by shuffles");
};

/// The threads that solve one row together. Each holds one of the row's next kTeam entries. Then
/// these are added: group g adds entries g, g + kGroups, …, with all its lanes.
template <class Config, class T>
class RowTeam {
 public:
  /// For the row at `position`; there is nothing to solve from `end` on.
  __device__ RowTeam(const Substitution<T>& s, Index position, Index end)
      : s_(s), solved_(position >= end) {
    if (solved_) return;
    const Index begin = s.entries.row_offsets[position];
    columns_ = s.entries.columns + begin;
    values_ = s.entries.values + begin;
    length_ = static_cast<int>(s.entries.row_offsets[position + 1] - begin);
    row_ = __ldg(s.rows + position);
    inverse_ = load_value(s.inverse_diagonal, static_cast<int>(position));
    if (stores()) right_ = *reinterpret_cast<const Columns*>(s.X + row_ * s.ldx + first_column());
    take_entry();
  }

  __device__ bool solved() const { return solved_; }
  __device__ Index row() const { return row_; }
  __device__ bool leads() const { return member() == 0; }

  /// The bits of the team's threads in its warp.
  __device__ unsigned mask() const {
    const int first = static_cast<int>(threadIdx.x) % kWarpSize / Config::kTeam * Config::kTeam;
    return kFullWarp >> (kWarpSize - Config::kTeam) << first;
  }

  /// Whether this thread's entry depends on a row that is not yet known to be solved.
  __device__ bool waits() const { return waits_; }

  __device__ void look(const RowSignals& signals) {
    if (waits_) waits_ = !is_signalled(signals, column_);
  }

  /// sum += the held entries. Then takes the next entries. All threads of the team call it
  /// together.
  __device__ void add_entries() {
    const int count = min(length_ - taken_, Config::kTeam);
    for (int first = 0; first < count; first += kUnroll * Config::kGroups) {
      T a[kUnroll] = {};
      Columns b[kUnroll];
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) {
        const int k = first + u * Config::kGroups + group();
        const std::int32_t column = __shfl_sync(mask(), column_, k, Config::kTeam);
        const T value = by_parts(
            value_, [&](auto part) { return __shfl_sync(mask(), part, k, Config::kTeam); });
        if (k < count && has_columns()) {
          a[u] = value;
          b[u] = *reinterpret_cast<const Columns*>(s_.Y + column * s_.ldy + first_column());
        }
      }
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) multiply_add(a[u], b[u], sum_);
    }
    taken_ += Config::kTeam;
    take_entry();
  }

  /// Whether all entries have been added.
  __device__ bool complete() const { return taken_ >= length_; }

  /// Stores the row. All threads of the team call it together.
  __device__ void finish() {
#pragma unroll
    for (int step = Config::kGroups / 2; step > 0; step /= 2) {
#pragma unroll
      for (int i = 0; i < Config::kWidth; ++i) {
        const auto from_lane = [&](auto part) {
          return __shfl_down_sync(mask(), part, step * Config::kLanes, Config::kTeam);
        };
        add(by_parts(sum_[i], from_lane), sum_[i]);
      }
    }
    if (stores()) {
      Columns y;
#pragma unroll
      for (int i = 0; i < Config::kWidth; ++i) {
        add(-sum_[i], right_[i]);
        y[i] = product(inverse_, right_[i]);
      }
      *reinterpret_cast<Columns*>(s_.Y + row_ * s_.ldy + first_column()) = y;
    }
    solved_ = true;
  }

 private:
  using Columns = Lane<T, Config::kWidth>;

  __device__ static int member() { return static_cast<int>(threadIdx.x) % Config::kTeam; }
  __device__ static int group() { return member() / Config::kLanes; }
  __device__ static int first_column() { return member() % Config::kLanes * Config::kWidth; }
  __device__ bool has_columns() const { return first_column() < s_.N; }
  __device__ bool stores() const { return group() == 0 && has_columns(); }

  __device__ void take_entry() {
    const int k = taken_ + member();
    waits_ = k < length_;
    if (!waits_) return;
    column_ = __ldg(columns_ + k);
    value_ = load_value(values_, k);
  }

  const Substitution<T>& s_;
  const std::int32_t* columns_ = nullptr;
  const T* values_ = nullptr;
  int length_ = 0;
  int taken_ = 0;            // entries before those held
  std::int32_t column_ = 0;  // of the entry held
  T value_ = 0;
  bool waits_ = false;
  bool solved_;
  Index row_ = 0;
  T inverse_ = 0;
  Columns right_;
  Columns sum_;
};

template <class Config, class T>
__global__ __launch_bounds__(kThreads) void flags_kernel(Substitution<T> s, RowSignals signals) {
  const Index position = place_of_block(signals) * Config::kRows + threadIdx.x / Config::kTeam;
  RowTeam<Config, T> team(s, position, s.entries.rows);
  // Teams of a warp may depend on each other, so the threads of a warp run the loop together.
  do {
    team.look(signals);
    const bool ready = (__ballot_sync(kFullWarp, team.waits()) & team.mask()) == 0;
    __syncwarp();  // what one thread of a team has seen solved, the others may read
    if (ready && !team.solved()) {
      team.add_entries();
      if (team.complete()) {
        team.finish();
        __syncwarp(team.mask());  // all of the row is stored before the flag is set
        if (team.leads()) signal_row(signals, team.row());
      }
    }
  } while (!__all_sync(kFullWarp, team.solved()));
}

template <class Config, class T>
__global__ __launch_bounds__(kThreads) void level_kernel(Substitution<T> s, Index begin,
                                                         Index end) {
  const Index position =
      begin + static_cast<Index>(blockIdx.x) * Config::kRows + threadIdx.x / Config::kTeam;
  RowTeam<Config, T> team(s, position, end);
  if (team.solved()) return;
  do team.add_entries();
  while (!team.complete());
  team.finish();
}

template <class T>
bool is_vectorisable(const Substitution<T>& s) {
  return s.N % kVectorWidth<T> == 0 && rows_are_aligned(s.X, s.ldx) && rows_are_aligned(s.Y, s.ldy);
}

/// Calls f.template operator()<Config>() with the configuration for the columns of a stripe and the
/// mean row length.
template <class T, class F>
void dispatch_team(const Substitution<T>& s, F&& f) {
  dispatch_lanes<T>(is_vectorisable(s), s.N, kWarpSize, [&]<int kWidth, int kLanes>() {
    const Index mean = (s.entries.nnz + s.entries.rows - 1) / std::max<Index>(s.entries.rows, 1);
    const Index groups = std::min<Index>(kWarpSize, (mean + kLanes - 1) / kLanes);
    dispatch_at_least<1, 4, 32>(static_cast<int>(groups), [&]<int kGroupsWanted>() {
      constexpr int kGroups = std::min(kGroupsWanted, kWarpSize / kLanes);
      f.template operator()<TeamConfig<kWidth, kLanes, kGroups>>();
    });
  });
}

/// Calls f(substitution of a stripe) for each stripe of as many columns as the lanes of a warp
/// hold.
template <class T, class F>
void for_each_stripe(const Substitution<T>& s, F&& f) {
  const Index most = is_vectorisable(s) ? kWarpSize * kVectorWidth<T> : kWarpSize;
  for (Index first = 0; first < s.N; first += most) {
    Substitution<T> stripe = s;
    stripe.X += first;
    stripe.Y += first;
    stripe.N = std::min(most, s.N - first);
    f(stripe);
  }
}

}  // namespace

template <class T>
void launch_by_flags(CudaContext& context, const Substitution<T>& substitution, RowFlags& flags) {
  for_each_stripe(substitution, [&](const Substitution<T>& stripe) {
    dispatch_team(stripe, [&]<class Config>() {
      const unsigned blocks = blocks_for(stripe.entries.rows, Config::kRows);
      flags_kernel<Config>
          <<<blocks, kThreads, 0, context.stream()>>>(stripe, flags.next(context, blocks));
      check_launch();
    });
  });
}

template <class T>
void launch_by_levels(CudaContext& context, const Substitution<T>& substitution,
                      const std::vector<Index>& level_begins) {
  for_each_stripe(substitution, [&](const Substitution<T>& stripe) {
    dispatch_team(stripe, [&]<class Config>() {
      for (std::size_t l = 0; l + 1 < level_begins.size(); ++l) {
        const Index begin = level_begins[l];
        const Index end = level_begins[l + 1];
        level_kernel<Config>
            <<<blocks_for(end - begin, Config::kRows), kThreads, 0, context.stream()>>>(stripe,
                                                                                        begin, end);
        check_launch();
      }
    });
  });
}

template <class T>
int threads_of_row(const Substitution<T>& substitution) {
  int threads = 0;
  dispatch_team(substitution, [&]<class Config>() { threads = Config::kTeam; });
  return threads;
}

#define HEDDLE_INSTANTIATE(T)                                                                      \
  template void launch_by_flags(CudaContext&, const Substitution<T>&, RowFlags&);                  \
  template void launch_by_levels(CudaContext&, const Substitution<T>&, const std::vector<Index>&); \
  template int threads_of_row(const Substitution<T>&);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail::cuda
