#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/gallery/gallery.hpp>
#include <numbers>
#include <queue>

namespace heddle {
namespace {

enum class End { smallest, largest };

/// The `count` eigenvalues (or all, if there are fewer) of the 1-D Laplacian of order n nearest to
/// `end`, nearest first.
std::vector<double> line_eigenvalues(Index n, Index count, End end) {
  std::vector<double> values(static_cast<std::size_t>(std::min(n, count)));
  for (std::size_t k = 0; k < values.size(); ++k) {
    const Index j = end == End::smallest ? static_cast<Index>(k) + 1 : n - static_cast<Index>(k);
    const double sine =
        std::sin(std::numbers::pi * static_cast<double>(j) / (2 * (static_cast<double>(n) + 1)));
    values[k] = 4 * sine * sine;
  }
  return values;
}

void check(const std::vector<Index>& size, Index count) {
  if (size.empty() || size.size() > 3 ||
      std::any_of(size.begin(), size.end(), [](Index n) { return n < 1; })) {
    throw InvalidArgument(
        fmt::format("Laplace eigenvalues: a grid has 1 to 3 sizes of at least 1, got [{}]",
                    fmt::join(size, ", ")));
  }
  double order = 1;
  for (const Index n : size) order *= static_cast<double>(n);
  if (count < 0 || static_cast<double>(count) > order) {
    throw InvalidArgument(
        fmt::format("Laplace eigenvalues: asked for {} of the {:.0f} of a grid [{}]", count, order,
                    fmt::join(size, ", ")));
  }
}

/// A choice of one 1-D eigenvalue per dimension, and their sum.
struct Mode {
  double value;
  std::array<std::size_t, 3> index;
};

/// Enumerates the modes from `end` inwards. Each mode is generated from exactly one other mode, the
/// one whose last nonzero index is smaller by one, so no mode is generated twice.
std::vector<double> grid_eigenvalues(const std::vector<Index>& size, Index count, End end) {
  check(size, count);
  std::vector<std::vector<double>> lines;
  for (const Index n : size) lines.push_back(line_eigenvalues(n, count, end));
  const auto mode = [&](std::array<std::size_t, 3> index) {
    double value = 0;
    for (std::size_t d = 0; d < lines.size(); ++d) value += lines[d][index[d]];
    return Mode{value, index};
  };
  const auto later = [end](const Mode& a, const Mode& b) {
    return end == End::smallest ? a.value > b.value : a.value < b.value;
  };
  std::priority_queue<Mode, std::vector<Mode>, decltype(later)> front(later);
  std::vector<double> values;
  if (count > 0) front.push(mode({0, 0, 0}));
  while (static_cast<Index>(values.size()) < count) {
    const Mode next = front.top();
    front.pop();
    values.push_back(next.value);
    for (std::size_t d = lines.size(); d-- > 0;) {
      std::array<std::size_t, 3> index = next.index;
      if (++index[d] < lines[d].size()) front.push(mode(index));
      if (next.index[d] > 0) break;
    }
  }
  return values;
}

}  // namespace

std::vector<double> laplace_smallest_eigenvalues(const std::vector<Index>& size, Index count) {
  return grid_eigenvalues(size, count, End::smallest);
}

std::vector<double> laplace_largest_eigenvalues(const std::vector<Index>& size, Index count) {
  return grid_eigenvalues(size, count, End::largest);
}

}  // namespace heddle
