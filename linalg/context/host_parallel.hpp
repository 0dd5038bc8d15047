#pragma once

#include <algorithm>
#include <heddle/linalg/base/team.hpp>
#include <heddle/linalg/context/context.hpp>

namespace heddle {

/// The number of threads for work that moves `bytes` and does `flops` floating-point operations: 1
/// where one thread needs less time than it costs to call the others, else `threads`.
inline int team_size(int threads, double bytes, double flops) noexcept {
  // A core with its data in the second-level cache moves and computes about this much per ns.
  // Threads that look for work come in 1 to 2 µs. A sleeping one takes 5 to 50 µs.
  constexpr double kBytesPerNs = 25;
  constexpr double kFlopsPerNs = 20;
  constexpr double kCallingNs = 4'000;
  constexpr double kWakingNs = 20'000;
  const double alone = bytes / kBytesPerNs + flops / kFlopsPerNs;
  if (threads <= 1 || alone < kCallingNs) return 1;
  return alone >= kWakingNs || detail::team_is_awake() ? threads : 1;
}

/// Calls body(item), or body(item, member), for item = 0 … count − 1 on up to `threads` threads.
/// Each thread has a number `member` < max(threads, 1) of its own. It takes neighbouring items
/// and, after its share, items that slower threads have not begun. `body` must not throw.
template <class Body>
void parallel_for(int threads, Index count, const Body& body) {
  detail::run_team(threads, count, false, body);
}

/// parallel_for whose threads take one item at a time, in ascending order: they work side by side.
template <class Body>
void parallel_for_in_turns(int threads, Index count, const Body& body) {
  detail::run_team(threads, count, true, body);
}

/// The number of elements to leave between pieces of memory that different threads write. Hardware
/// prefetch reads beyond the end of a piece. If the next piece follows directly, that takes cache
/// lines from the thread that writes them (measured on two AMD Zen 5 cores: `multiply` up to 1.9
/// times slower).
template <class T>
inline constexpr Index kThreadGap = 4096 / static_cast<Index>(sizeof(T));

/// Rows, or other numbered items, divided into slabs: contiguous ranges of equal height, of which
/// the last may be lower. A sum over rows is computed as one sum per slab, added in the order of
/// the slabs, so it does not depend on the number of threads.
struct Slabs {
  Index rows = 0;
  Index height = 1;

  Index count() const noexcept { return (rows + height - 1) / height; }
  Index begin(Index slab) const noexcept { return slab * height; }
  Index end(Index slab) const noexcept { return std::min(rows, (slab + 1) * height); }
};

/// At most 128 slabs of at least `min_height` rows. They are enough to share among threads and few
/// enough for their partial sums to be cheap.
inline Slabs make_slabs(Index rows, Index min_height) noexcept {
  constexpr Index kMaxSlabs = 128;
  return {rows, std::max(min_height, (rows + kMaxSlabs - 1) / kMaxSlabs)};
}

}  // namespace heddle
