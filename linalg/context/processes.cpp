#include <algorithm>
#include <cmath>
#include <heddle/linalg/context/processes.hpp>

namespace heddle {
namespace {

/// The most numbers that are gathered at once for a sum, so that those of all processes need little
/// memory: the matrices of dense solves have millions.
constexpr std::size_t kMostSummed = 1 << 16;

}  // namespace

std::span<const double> Processes::gather_all(std::span<const double> values) {
  const std::size_t needed = values.size() * static_cast<std::size_t>(size_);
  if (all_.size() < needed) all_.resize(needed);
  gather_all(values.data(), all_.data(), values.size_bytes());
  return {all_.data(), needed};
}

void Processes::sum(std::span<double> values) {
  while (!values.empty()) {
    const std::span<double> piece = values.first(std::min(values.size(), kMostSummed));
    const std::span<const double> all = gather_all(piece);
    std::copy_n(all.begin(), piece.size(), piece.begin());
    for (std::size_t first = piece.size(); first < all.size(); first += piece.size()) {
      for (std::size_t i = 0; i < piece.size(); ++i) piece[i] += all[first + i];
    }
    values = values.subspan(piece.size());
  }
}

void Processes::largest(std::span<double> values) {
  const std::span<const double> all = gather_all(values);
  for (std::size_t k = 0; k < all.size(); ++k) {
    double& value = values[k % values.size()];
    if (std::isnan(all[k]) || all[k] > value) value = all[k];
  }
}

bool Processes::any(bool here) {
  double value = here ? 1 : 0;
  largest({&value, 1});
  return value > 0;
}

bool Processes::same(std::uint64_t number) {
  std::vector<std::uint64_t> all(static_cast<std::size_t>(size_));
  gather_all(&number, all.data(), sizeof number);
  return std::all_of(all.begin(), all.end(),
                     [number](std::uint64_t each) { return each == number; });
}

}  // namespace heddle
