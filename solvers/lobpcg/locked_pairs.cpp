#include <algorithm>
#include <cmath>
#include <heddle/solvers/iteration/error_bounds.hpp>
#include <heddle/solvers/lobpcg/locked_pairs.hpp>

namespace heddle::detail {
namespace {

/// The change of a value of A x = λ B x that rounding may cause.
double rounding_of(double value, const EigenConvergence& convergence) {
  return convergence.rounding(value, convergence.norm_A(), convergence.norm_B());
}

}  // namespace

void LockedPairs::reserve(Index nev, Index block) {
  for (auto* list : {&values_, &residuals_, &dual_residuals_}) {
    list->reserve(static_cast<std::size_t>(nev + block));
  }
  seen_.reserve(static_cast<std::size_t>(2 * nev + block + 1));
}

void LockedPairs::reset(Which which, Index zeros) {
  which_ = which;
  for (auto* list : {&values_, &residuals_, &dual_residuals_}) {
    list->assign(static_cast<std::size_t>(zeros), 0.0);
  }
  seen_.clear();
}

void LockedPairs::add(std::span<const double> values, std::span<const double> residuals,
                      std::span<const double> dual_residuals) {
  values_.insert(values_.end(), values.begin(), values.end());
  residuals_.insert(residuals_.end(), residuals.begin(), residuals.end());
  dual_residuals_.insert(dual_residuals_.end(), dual_residuals.begin(), dual_residuals.end());
}

void LockedPairs::remove(Index pair) {
  for (auto* list : {&values_, &residuals_, &dual_residuals_}) {
    (*list)[static_cast<std::size_t>(pair)] = list->back();
    list->pop_back();
  }
}

Index LockedPairs::ahead(double value, double digits) const {
  return std::count_if(values_.begin(), values_.end(), [&](double locked) {
    return std::abs(locked - value) <= digits * std::abs(value) || better(locked, value);
  });
}

bool LockedPairs::is_best(Index pair, Index count) const noexcept {
  const auto i = static_cast<std::size_t>(pair);
  Index rank = 0;
  for (std::size_t j = 0; j < values_.size(); ++j) {
    if (better(values_[j], values_[i]) || (values_[j] == values_[i] && j < i)) ++rank;
  }
  return rank < count;
}

Index LockedPairs::worst() const noexcept {
  const auto found = std::max_element(values_.begin(), values_.end(),
                                      [this](double a, double b) { return better(a, b); });
  return found - values_.begin();
}

void LockedPairs::note_found(std::span<const double> all, Index nev) {
  const auto most = static_cast<std::size_t>(nev + 1);
  const std::size_t count = std::min(all.size(), most);
  const auto best = which_ == Which::smallest ? all.first(count) : all.last(count);
  seen_.assign(values_.begin(), values_.end());
  seen_.insert(seen_.end(), best.begin(), best.end());
  std::sort(seen_.begin(), seen_.end(), [this](double a, double b) { return better(a, b); });
  seen_.resize(std::min(seen_.size(), most));
}

std::optional<double> LockedPairs::unseen(std::span<const double> theta,
                                          std::span<const double> residuals,
                                          const EigenConvergence& convergence) const {
  for (std::size_t k = 0; k < seen_.size(); ++k) {
    const double rounding = rounding_of(seen_[k], convergence);
    const auto ahead = [&](std::span<const double> values, std::span<const double> errors) {
      std::size_t count = 0;
      for (std::size_t j = 0; j < values.size(); ++j) {
        const double distance = std::abs(values[j] - seen_[k]);
        const bool meets = distance <= std::max(errors[j], rounding);
        if (meets || better(values[j], seen_[k])) ++count;
      }
      return count;
    };
    if (ahead(values_, dual_residuals_) + ahead(theta, residuals) > k) continue;
    const auto worse = [&](double value) { return better(seen_[k], value); };
    const bool within = std::any_of(values_.begin(), values_.end(), worse) ||
                        std::any_of(theta.begin(), theta.end(), worse);
    return within ? std::optional(seen_[k]) : std::nullopt;
  }
  return std::nullopt;
}

std::optional<Index> LockedPairs::refuted(std::span<const double> all,
                                          const EigenConvergence& convergence) const {
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const double rounding = rounding_of(values_[i], convergence);
    const bool meets = std::any_of(all.begin(), all.end(), [&](double found) {
      if (better(seen_.back(), found)) return false;
      const double gap = std::abs(found - values_[i]);
      const double error = ErrorBounds::change(dual_residuals_[i], gap);
      return gap < dual_residuals_[i] || !convergence.value_passes(values_[i], error, rounding);
    });
    if (meets) return static_cast<Index>(i);
  }
  return std::nullopt;
}

void LockedPairs::archive(Archive& archive) {
  for (auto* list : {&values_, &residuals_, &dual_residuals_, &seen_}) archive.list(*list);
}

}  // namespace heddle::detail
