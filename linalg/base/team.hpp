#pragma once

#include <cstdint>
#include <type_traits>

/// Threads that wait for work without keeping a CPU busy.
namespace heddle::detail {

/// Items 0 … count − 1 for the members of a team, and how they are dealt out.
struct TeamWork {
  void (*run)(const void* body, std::int64_t first, std::int64_t last, int member);
  const void* body;
  std::int64_t count;
  /// Whether all members take single items from the front. Otherwise each member has a contiguous
  /// range of the items and takes pieces of it. A member that has finished its range takes pieces
  /// of the others' ranges.
  bool in_turns;
};

/// Calls work.run(body, first, last, member) for disjoint ranges that cover all items, on the
/// calling thread (member 0) and on up to threads − 1 workers (members 1 …). Returns when all
/// items are done. Pieces are claimed, not assigned: a worker that the system does not run takes
/// none, and nobody waits for it.
///
/// Each calling thread has workers of its own. They are started when they are first needed and end
/// with the calling thread. A worker that finds no work spins for a short time and then sleeps
/// (OMP_WAIT_POLICY=active: it spins for 0.1 s; passive: it sleeps at once). A call from inside
/// work.run does all items on the thread that calls. work.run must not throw.
void run_team(int threads, const TeamWork& work);

/// Whether the workers of the calling thread look for work, so that none has to be woken.
bool team_is_awake() noexcept;

/// run_team for a body(item) or body(item, member).
template <class Body>
void run_team(int threads, std::int64_t count, bool in_turns, const Body& body) {
  const auto run = [](const void* pointer, std::int64_t first, std::int64_t last, int member) {
    const Body& call = *static_cast<const Body*>(pointer);
    for (std::int64_t item = first; item < last; ++item) {
      if constexpr (std::is_invocable_v<const Body&, std::int64_t, int>) {
        call(item, member);
      } else {
        call(item);
      }
    }
  };
  run_team(threads, {run, &body, count, in_turns});
}

}  // namespace heddle::detail
