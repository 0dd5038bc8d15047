#include <algorithm>
#include <heddle/linalg/context/host_parallel.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/spgemm/band/band_rows.hpp>

namespace heddle::detail {
namespace {

/// Rows that a thread works on at a time: their parts of A and B stay in the second-level cache
/// while all diagonals of C are computed.
Index slab_height(const BandSchedule<HostSpace>& schedule, std::size_t scalar_bytes) {
  constexpr Index kCacheBytes = 1 << 18;
  constexpr Index kLeast = 128;
  constexpr Index kMost = 4096;
  const Index diagonals = std::max<Index>(schedule.diagonals_A + schedule.diagonals_B, 1);
  const Index fitting = kCacheBytes / (diagonals * static_cast<Index>(scalar_bytes));
  return std::clamp(fitting / kLeast * kLeast, kLeast, kMost);
}

}  // namespace

template <Scalar T>
void multiply_bands(HostContext& context, const BandSchedule<HostSpace>& schedule,
                    const BandProduct<T>& product, Index first, Index last) {
  const Slabs slabs{last - first, slab_height(schedule, sizeof(T))};
  const auto rows = static_cast<double>(last - first);
  const Index stored = schedule.diagonals_A + schedule.diagonals_B + schedule.diagonals_C;
  const int threads = team_size(context.threads(), rows * static_cast<double>(stored) * sizeof(T),
                                2 * rows * static_cast<double>(schedule.pairs.size()));
  with_host_isa([&](auto isa) {
    parallel_for(threads, slabs.count(), [&](Index slab) {
      multiply_band_rows<decltype(isa)::value>(product, first + slabs.begin(slab),
                                               first + slabs.end(slab));
    });
  });
}

#define HEDDLE_INSTANTIATE(T)                                                \
  template void multiply_bands(HostContext&, const BandSchedule<HostSpace>&, \
                               const BandProduct<T>&, Index, Index);
HEDDLE_FOR_EACH_REAL(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
