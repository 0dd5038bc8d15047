#include <algorithm>
#include <cmath>
#include <heddle/solvers/lanczos/completeness.hpp>

namespace heddle::detail {
namespace {

/// ‖F x − θ x‖ of a Ritz pair at rest, relative to how far θ lies above what F leaves to the
/// unwanted part of the spectrum.
constexpr double kAtRest = 0.01;

/// The same relative to how far θ lies below that of the last locked pair. The share of a missed
/// pair in this one is about the square.
constexpr double kApart = 0.1;

}  // namespace

bool Completeness::all_converged() const noexcept {
  return pairs_.checking() ? pairs_.leading() == pairs_.missed()
                           : pairs_.locked() + pairs_.leading() >= nev_;
}

bool Completeness::nothing_is_left(bool full) const {
  if (pairs_.checking() && pairs_.missed() == 0) return next_is_at_rest(full);
  return all_converged();
}

bool Completeness::others_would_show(bool full) const {
  // A Krylov space of b random vectors holds b directions of each eigenspace. Where it showed fewer
  // copies of every eigenvalue, there are no more. Else the random block must have come to rest
  // beyond the wanted pairs.
  const std::vector<double>& values = pairs_.wanted().values;
  Index copies = 1;
  Index most = 1;
  for (std::size_t j = 1; j < values.size(); ++j) {
    copies = pairs_.same_value(values[j], values[j - 1]) ? copies + 1 : 1;
    most = std::max(most, copies);
  }
  return most < block_ || next_is_at_rest(full);
}

bool Completeness::next_is_at_rest(bool full) const {
  const double theta = ritz_.value(0);
  const double residual = ritz_.residual(0);
  const double lambda = map_.lambda_at(theta);
  const double last_locked = map_.theta_of(pairs_.locked_pairs().values.back());
  // Where F hardly tells the pair from the locked ones, a missed one may be part of it.
  const bool apart = residual <= kApart * (last_locked - theta);
  if (!apart && !pairs_.convergence().passes(lambda, pairs_.residual_of(0))) return false;
  if (!map_.inverts() && !map_.filters()) {
    return pairs_.convergence().scaled(lambda, pairs_.residual_of(0)) <= std::sqrt(tolerance_);
  }
  // An inverse may leave as much to the unwanted end as the last Ritz value.
  const double height = std::min(map_.separation(theta), theta - ritz_.value(ritz_.order() - 1));
  if (residual <= kAtRest * height) return true;
  // A polynomial may damp the next pair like the rest, of which none then comes to rest. A missed
  // pair would rise above them in a whole cycle, as high as the wanted ones do.
  return !map_.inverts() && full && residual <= kAtRest * map_.separation(last_locked);
}

}  // namespace heddle::detail
