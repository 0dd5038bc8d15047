#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <heddle/linalg/context/context.hpp>

namespace heddle::detail {

/// The reductions ‖x − x_k‖²_A − ‖x − x_{k+1}‖²_A of the squared energy norm of the error by the
/// steps of CG, which their coefficients give. The sum of those since step k is a lower bound of
/// ‖x − x_k‖²_A, and close to it where the error has fallen much since then. Sources: Hestenes and
/// Stiefel, J. Res. Nat. Bur. Stand. 49 (1952) 409; Strakoš and Tichý, ETNA 13 (2002) 56.
class EnergySteps {
 public:
  /// The most steps that `error` looks back.
  static constexpr Index kMostDelay = 16;

  /// Notes ‖r‖ at the beginning of a step.
  void begin(double norm) noexcept { norms_[place(count_)] = norm; }

  /// Adds the reduction by that step.
  void add(double reduction) noexcept {
    reductions_[place(count_)] = reduction;
    ++count_;
  }

  Index count() const noexcept { return count_; }

  /// An estimate of the energy norm of the error after the last step, for ‖r‖ = `norm` there: that
  /// of the error d steps before, times the factor by which ‖r‖ has fallen since then. d is a
  /// quarter of all steps, at least 1 and at most `kMostDelay`. 0 without a step.
  double error(double norm) const noexcept {
    if (count_ == 0) return 0;
    const Index delay = std::clamp<Index>(count_ / 4, 1, kMostDelay);
    double sum = 0;
    for (Index k = count_ - delay; k < count_; ++k) sum += reductions_[place(k)];
    const double before = norms_[place(count_ - delay)];
    return std::sqrt(sum) * (before > norm ? norm / before : 1);
  }

 private:
  static std::size_t place(Index step) noexcept {
    return static_cast<std::size_t>(step % kMostDelay);
  }

  std::array<double, kMostDelay> reductions_{};
  std::array<double, kMostDelay> norms_{};
  Index count_ = 0;
};

}  // namespace heddle::detail
