#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <heddle/linalg/base/cpu_place.hpp>
#include <heddle/linalg/base/team.hpp>
#include <heddle/linalg/base/time_slice.hpp>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

namespace heddle::detail {
namespace {

using Clock = std::chrono::steady_clock;

/// Pieces of a member's range. More of them balance better and cost more atomic additions.
constexpr std::int64_t kPieces = 16;

/// The size of two cache lines, which the hardware loads as a pair.
constexpr std::size_t kApart = 128;

void pause() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// How long a thread spins before it sleeps. Waking a sleeping thread takes 5 to 50 µs, so that
/// spinning for as long costs at most as much as it saves.
std::chrono::microseconds spin_time() {
  const char* const set = std::getenv("OMP_WAIT_POLICY");
  const std::string_view policy = set == nullptr ? "" : set;
  if (policy == "passive" || policy == "PASSIVE") return std::chrono::microseconds(0);
  if (policy == "active" || policy == "ACTIVE") return std::chrono::microseconds(100'000);
  return std::chrono::microseconds(50);
}

/// Returns when `value` differs from `old`: spins for `spin`, then sleeps, as `asleep` counts.
void wait_while(const std::atomic<std::uint32_t>& value, std::uint32_t old,
                std::chrono::microseconds spin, std::atomic<int>& asleep) {
  constexpr int kPausesPerLook = 32;
  const Clock::time_point end = spin.count() > 0 ? Clock::now() + spin : Clock::time_point{};
  while (spin.count() > 0 && Clock::now() < end) {
    for (int i = 0; i < kPausesPerLook; ++i) {
      if (value.load(std::memory_order_acquire) != old) return;
      pause();
    }
  }
  asleep.fetch_add(1, std::memory_order_relaxed);
  value.wait(old, std::memory_order_acquire);
  asleep.fetch_sub(1, std::memory_order_relaxed);
}

/// The shortest time between two moves of a worker to another CPU.
constexpr std::chrono::microseconds kStay(200);

/// Items that are still to be claimed.
struct alignas(kApart) Range {
  std::atomic<std::int64_t> next;
  std::int64_t end = 0;
  std::int64_t piece = 1;
};

/// The workers of one calling thread.
class Team {
 public:
  Team() : spin_(spin_time()) {}
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  void run(int threads, const TeamWork& work);
  bool awake() const noexcept {
    return !workers_->empty() && asleep_.load(std::memory_order_relaxed) == 0;
  }

 private:
  void start_workers(int count);
  void deal(int members);
  void serve(int member);
  void keep_apart(int member, Clock::time_point& moved) const;
  bool join(int member) noexcept;
  void leave() noexcept;
  void close();
  void take_pieces(int member);

  // `gate_` is members·2¹⁶ + the number of workers at work. A worker joins while its number is
  // below `members`, and `work_` and `ranges_` do not change until all who joined have left.
  static constexpr std::uint32_t kOneMember = 1u << 16;

  std::chrono::microseconds spin_;
  pid_t process_ = getpid();
  // Not a member by value: a forked process has a copy of its parent's memory, but not its threads,
  // and must not touch what describes them.
  std::vector<std::thread>* workers_ = new std::vector<std::thread>;
  TeamWork work_{};
  std::vector<Range> ranges_;
  alignas(kApart) std::atomic<std::uint32_t> round_{
      0};  ///< counts calls; workers wait for the next
  std::atomic<bool> ending_{false};
  std::atomic<int> asleep_{0};       ///< threads of the team that sleep
  std::atomic<int> caller_cpu_{-1};  ///< where the caller was when it called
  alignas(kApart) std::atomic<std::uint32_t> gate_{0};
};

/// Whether this thread is inside `TeamWork::run`.
thread_local bool inside = false;

Team::~Team() {
  ending_.store(true, std::memory_order_relaxed);
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
  if (process_ != getpid()) return;
  for (std::thread& worker : *workers_) worker.join();
  delete workers_;
}

/// Starts workers until there are `count`, or as many as the system allows. Signals are left to the
/// threads of the program.
void Team::start_workers(int count) {
  if (static_cast<int>(workers_->size()) >= count) return;
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    while (static_cast<int>(workers_->size()) < count) {
      const int member = static_cast<int>(workers_->size()) + 1;
      workers_->emplace_back([this, member, seen = round_.load()]() mutable {
        inside = true;
        shorten_time_slice();
        Clock::time_point moved{};
        while (true) {
          wait_while(round_, seen, spin_, asleep_);
          seen = round_.load(std::memory_order_acquire);
          if (ending_.load(std::memory_order_relaxed)) return;
          keep_apart(member, moved);
          serve(member);
        }
      });
    }
  } catch (const std::system_error&) {
    // The calling thread does the work of those that are missing.
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

/// Sets the ranges of a team of `members`.
void Team::deal(int members) {
  const auto ranges = static_cast<std::size_t>(work_.in_turns ? 1 : members);
  if (ranges_.size() != ranges) ranges_ = std::vector<Range>(ranges);
  const auto count = static_cast<std::int64_t>(ranges);
  for (std::int64_t r = 0; r < count; ++r) {
    Range& range = ranges_[static_cast<std::size_t>(r)];
    const std::int64_t first = work_.count * r / count;
    range.next.store(first, std::memory_order_relaxed);
    range.end = work_.count * (r + 1) / count;
    range.piece = work_.in_turns ? 1 : std::max<std::int64_t>(1, (range.end - first) / kPieces);
  }
}

/// Claims pieces until none is left, those of the member's own range first.
void Team::take_pieces(int member) {
  const std::size_t ranges = ranges_.size();
  for (std::size_t r = 0; r < ranges; ++r) {
    Range& range = ranges_[(static_cast<std::size_t>(member) + r) % ranges];
    while (range.next.load(std::memory_order_relaxed) < range.end) {
      const std::int64_t first = range.next.fetch_add(range.piece, std::memory_order_relaxed);
      if (first >= range.end) break;
      work_.run(work_.body, first, std::min(first + range.piece, range.end), member);
    }
  }
}

/// Moves a worker that runs on the caller's CPU to another one. Linux wakes a thread where the one
/// is that wakes it, and takes some 10 ms to spread the two, for which the whole team is one
/// thread. `moved`: when the worker was last moved.
void Team::keep_apart(int member, Clock::time_point& moved) const {
  const int cpu = current_cpu();
  if (cpu < 0 || cpu != caller_cpu_.load(std::memory_order_relaxed)) return;
  const Clock::time_point now = Clock::now();
  if (now - moved < kStay) return;
  moved = now;
  leave_cpu(cpu, member + 1);
}

/// A worker's part of a call.
void Team::serve(int member) {
  if (!join(member)) return;
  take_pieces(member);
  leave();
}

bool Team::join(int member) noexcept {
  std::uint32_t gate = gate_.load(std::memory_order_relaxed);
  while (static_cast<std::uint32_t>(member) < gate / kOneMember) {
    if (gate_.compare_exchange_weak(gate, gate + 1, std::memory_order_acquire,
                                    std::memory_order_relaxed)) {
      return true;
    }
  }
  return false;
}

void Team::leave() noexcept {
  if (gate_.fetch_sub(1, std::memory_order_release) == 1) gate_.notify_one();
}

/// Lets no more workers join and waits for those who have.
void Team::close() {
  std::uint32_t left = gate_.fetch_and(kOneMember - 1, std::memory_order_acq_rel) % kOneMember;
  while (left != 0) {
    wait_while(gate_, left, spin_, asleep_);
    left = gate_.load(std::memory_order_acquire);
  }
}

void Team::run(int threads, const TeamWork& work) {
  constexpr int kMostMembers = 1 << 15;
  const int members = static_cast<int>(std::min<std::int64_t>({threads, work.count, kMostMembers}));
  if (inside || members <= 1) {
    if (work.count > 0) work.run(work.body, 0, work.count, 0);
    return;
  }
  start_workers(members - 1);
  work_ = work;
  caller_cpu_.store(current_cpu(), std::memory_order_relaxed);
  deal(members);
  gate_.store(static_cast<std::uint32_t>(members) * kOneMember, std::memory_order_release);
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
  inside = true;
  take_pieces(0);
  inside = false;
  close();
}

/// The team of the calling thread.
Team& own_team() {
  thread_local Team team;
  return team;
}

}  // namespace

void run_team(int threads, const TeamWork& work) { own_team().run(threads, work); }

bool team_is_awake() noexcept { return own_team().awake(); }

}  // namespace heddle::detail
