#include <algorithm>
#include <cmath>
#include <heddle/solvers/lobpcg/locked_pairs.hpp>

namespace heddle::detail {

void LockedPairs::reserve(Index count) {
  for (auto* list : {&values_, &residuals_, &dual_residuals_}) {
    list->reserve(static_cast<std::size_t>(count));
  }
}

void LockedPairs::reset(Which which, Index zeros) {
  which_ = which;
  for (auto* list : {&values_, &residuals_, &dual_residuals_}) {
    list->assign(static_cast<std::size_t>(zeros), 0.0);
  }
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

std::optional<Index> LockedPairs::overlapped(std::span<const double> values) const {
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const bool meets = std::any_of(values.begin(), values.end(), [&](double value) {
      return std::abs(value - values_[i]) < dual_residuals_[i];
    });
    if (meets) return static_cast<Index>(i);
  }
  return std::nullopt;
}

void LockedPairs::archive(Archive& archive) {
  for (auto* list : {&values_, &residuals_, &dual_residuals_}) archive.list(*list);
}

}  // namespace heddle::detail
