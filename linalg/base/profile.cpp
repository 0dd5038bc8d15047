#include <heddle/linalg/base/profile.hpp>
#include <utility>

namespace heddle {

std::string_view phase_name(Phase phase) noexcept {
  static constexpr std::array<std::string_view, kPhaseCount> kNames = {
      "other",  "setup",          "analysis", "ordering",      "factorization",
      "spmm",   "preconditioner", "residual", "orthogonalize", "rayleigh_ritz",
      "update", "verify",         "halo",     "sums"};
  return kNames[static_cast<std::size_t>(phase)];
}

void Profile::reset() noexcept {
  totals_ = {};
  travel_ = {};
  open_ = Phase::other;
  since_ = Clock::now();
}

Phase Profile::enter(Phase phase) noexcept {
  const Clock::time_point now = Clock::now();
  totals_[static_cast<std::size_t>(open_)].seconds +=
      std::chrono::duration<double>(now - since_).count();
  since_ = now;
  return std::exchange(open_, phase);
}

}  // namespace heddle
