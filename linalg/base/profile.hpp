#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <string_view>
#include <utility>

namespace heddle {

/// The kinds of work that a profile tells apart. `other` is all work outside of any `PhaseScope`.
enum class Phase {
  other,
  setup,
  analysis,       ///< size and cost of a sparse factor, from the pattern
  ordering,       ///< of the rows and columns before a sparse factorisation
  factorization,  ///< sparse factorisation
  spmm,
  preconditioner,
  residual,
  orthogonalize,
  rayleigh_ritz,
  update,
  verify,
  halo,  ///< rows of vectors from other processes: packing, sending and waiting for them
  sums,  ///< sums over the processes, with the time that they wait for each other
};

/// The number of phases.
inline constexpr std::size_t kPhaseCount = 14;

/// The phase's name in `result.json`.
std::string_view phase_name(Phase phase) noexcept;

/// Time, memory traffic and arithmetic of one phase. The time of a phase excludes that of the
/// phases nested in it.
struct PhaseTotals {
  double seconds = 0;
  double bytes = 0;  ///< compulsory traffic of the operations run in the phase
  double flops = 0;  ///< additions and multiplications
};

/// Rows of vectors that were sent to other processes during other work. What is not hidden by that
/// work counts in `Phase::halo` too.
struct Travel {
  double seconds = 0;  ///< from the first byte to the last, with the time the others let wait
  double bytes = 0;    ///< sent by this process
};

/// Sums of seconds, bytes and flops per phase. Every context owns a profile, and operations add
/// their traffic and arithmetic to the phase that is open. Never allocates.
class Profile {
 public:
  /// Sets all sums to 0.
  void reset() noexcept;

  /// Ends the timing of the phase that is open and opens `phase`. Returns the phase that was open.
  Phase enter(Phase phase) noexcept;

  /// Opens `phase` without reading the clock, for a context that times phases by other means and
  /// adds their seconds itself. Returns the phase that was open.
  Phase open(Phase phase) noexcept { return std::exchange(open_, phase); }
  void add_seconds(Phase phase, double seconds) noexcept {
    totals_[static_cast<std::size_t>(phase)].seconds += seconds;
  }
  Phase open_phase() const noexcept { return open_; }

  /// Adds traffic and arithmetic to the open phase.
  void count(double bytes, double flops) noexcept {
    totals_[static_cast<std::size_t>(open_)].bytes += bytes;
    totals_[static_cast<std::size_t>(open_)].flops += flops;
  }

  /// Adds to what `travel` returns.
  void add_travel(double seconds, double bytes) noexcept {
    travel_.seconds += seconds;
    travel_.bytes += bytes;
  }
  /// Known on a GPU only: MPI does not tell when its messages travel.
  const Travel& travel() const noexcept { return travel_; }

  /// Totals of `phase` up to the last change of phase.
  const PhaseTotals& operator[](Phase phase) const noexcept {
    return totals_[static_cast<std::size_t>(phase)];
  }

 private:
  using Clock = std::chrono::steady_clock;
  std::array<PhaseTotals, kPhaseCount> totals_{};
  Travel travel_;
  Phase open_ = Phase::other;
  Clock::time_point since_ = Clock::now();
};

/// Opens a phase for the lifetime of the scope, then reopens the phase that was open before.
template <class Ctx>
class PhaseScope {
 public:
  /// Opens `phase` of the profile of `context`.
  PhaseScope(Ctx& context, Phase phase) noexcept
      : context_(context), outer_(context.enter(phase)) {}
  ~PhaseScope() { context_.enter(outer_); }
  PhaseScope(const PhaseScope&) = delete;
  PhaseScope& operator=(const PhaseScope&) = delete;

 private:
  Ctx& context_;
  Phase outer_;
};

}  // namespace heddle
