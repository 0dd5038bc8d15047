#include <algorithm>
#include <cmath>
#include <heddle/solvers/lanczos/completeness.hpp>
#include <span>
#include <utility>

namespace heddle::detail {
namespace {

/// The largest ‖F x − θ x‖ of a settled Ritz pair, relative to the distance of θ above the
/// eigenvalues of F in the unwanted part of the spectrum.
constexpr double kAtRest = 0.01;

/// The largest part of a missed pair that may be left in the Ritz vector outside the locked pairs:
/// a part of this norm, whose share is its square, makes ‖F x − θ x‖ as large as this ratio times
/// the distance of θ below the θ of the last locked pair. F separates the wanted pairs better than
/// A does, so that a coarser test is enough here than in LOBPCG.
constexpr double kPartOfMissed = 0.1;

/// Under an inverse, the largest θ relative to that of the last locked pair that is 0. All finite
/// eigenvalues have then been found.
constexpr double kNothing = 1e-12;

}  // namespace

bool Completeness::all_converged() const noexcept {
  return pairs_.checking() ? pairs_.leading() == pairs_.missed()
                           : pairs_.locked() + pairs_.leading() >= nev_;
}

bool Completeness::nothing_is_left(bool full) const {
  if (pairs_.checking() && pairs_.missed() == 0) return next_is_at_rest(full);
  return all_converged();
}

bool Completeness::none_missed() const noexcept {
  return pairs_.wanted().size() >= nev_ && pairs_.checking() && pairs_.missed() == 0;
}

double Completeness::awaited_residual() const {
  if (!none_missed() || ritz_.order() == 0) return pairs_.worst_residual();
  return pairs_.convergence().scaled_residual(map_.lambda_at(ritz_.value(0)),
                                              pairs_.residual_of(0));
}

bool Completeness::next_is_still() {
  const double next = map_.lambda_at(ritz_.value(0));
  const double moved = std::abs(next - std::exchange(next_value_, next));
  const bool zero = pairs_.convergence().is_zero(next, 0) && std::isfinite(moved);
  return zero || moved <= std::sqrt(tolerance_) * std::abs(next);
}

bool Completeness::first_block_shows_all() const {
  if (chosen_ || map_.inverts() || pairs_.wanted().size() < nev_) return false;
  // Of a cluster narrower than √tolerance, the block may have found combinations instead of
  // eigenvectors, so its values count as copies, those of Ritz pairs that are not wanted, too. The
  // tolerance is relative to the scale of residuals here, also where the criterion is absolute.
  const EigenConvergence& convergence = pairs_.convergence();
  const auto near = [&](double a, double b) {
    const double tolerance =
        std::max(asked_, convergence.scaled_residual(a, convergence.allowed(a)));
    const double distance = convergence.norm_B() * std::abs(a - b);
    return !(convergence.scaled_residual(a, distance) > std::sqrt(tolerance));
  };
  const std::span<const double> values =
      std::span(pairs_.wanted().values).subspan(static_cast<std::size_t>(known_));
  return std::all_of(values.begin(), values.end(), [&](double value) {
    auto copies = std::count_if(values.begin(), values.end(),
                                [&](double other) { return near(value, other); });
    for (Index j = nev_ - pairs_.locked(); j < ritz_.order(); ++j) {
      if (near(value, map_.lambda_at(ritz_.value(j)))) ++copies;
    }
    return copies < block_;
  });
}

bool Completeness::others_would_show(bool full) const {
  // A Krylov space of b random vectors contains up to b directions of each eigenspace. If fewer
  // than b copies of every eigenvalue were found, there are no more. Null vectors known before the
  // solve are all that there are. Otherwise, and if the pairs
  // may stem from guesses and not from random vectors, the leading Ritz pair of the random block
  // must have settled beyond the wanted pairs.
  const std::vector<double>& values = pairs_.wanted().values;
  Index copies = 1;
  Index most = 1;
  for (auto j = static_cast<std::size_t>(known_) + 1; j < values.size(); ++j) {
    copies = pairs_.same_value(values[j], values[j - 1]) ? copies + 1 : 1;
    most = std::max(most, copies);
  }
  return (!guessed_ && most < block_) || next_is_at_rest(full);
}

CompletenessMethod Completeness::method(bool converged, bool full) const {
  if (converged && !pairs_.checking()) return CompletenessMethod::random_block;
  const bool searched = none_missed() && ritz_.order() > 0 && others_would_show(full);
  return converged || searched ? CompletenessMethod::random_search : CompletenessMethod::none;
}

bool Completeness::next_is_at_rest(bool full) const {
  const double theta = ritz_.value(0);
  const double residual = ritz_.residual(0);
  const double lambda = map_.lambda_at(theta);
  const double last_locked = map_.theta_of(pairs_.locked_pairs().values.back());
  // If F hardly separates the pair from the locked ones, it may contain a part of a missed pair.
  const bool apart = residual <= kPartOfMissed * (last_locked - theta);
  const EigenConvergence& convergence = pairs_.convergence();
  const double residual_of_A = pairs_.residual_of(0);
  const double scaled = convergence.scaled_residual(lambda, residual_of_A);
  // Beside a norm that is much larger than the wanted values, a residual that is small for the norm
  // shows nothing.
  const bool small =
      convergence.is_zero(lambda, residual_of_A) ||
      residual_of_A <= std::sqrt(tolerance_) * std::abs(lambda) * convergence.norm_B();
  const bool converged = scaled <= tolerance_ && small && convergence.passes(lambda, residual_of_A);
  if (!apart && !converged) return false;
  if (!map_.inverts() && !map_.filters()) return scaled <= std::sqrt(tolerance_);
  if (map_.inverts() && theta <= kNothing * last_locked) return true;
  // Under an inverse, eigenvalues of F in the unwanted part may be as large as the last Ritz value.
  const double height = std::min(map_.separation(theta), theta - ritz_.value(ritz_.order() - 1));
  if (residual <= kAtRest * height) return true;
  // A polynomial may damp the next pair as much as all others, none of which then settles. In a
  // whole cycle, the θ of a missed pair would grow as large as those of the wanted pairs.
  return !map_.inverts() && full && residual <= kAtRest * map_.separation(last_locked);
}

}  // namespace heddle::detail
