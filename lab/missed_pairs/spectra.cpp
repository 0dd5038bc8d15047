#include "missed_pairs/spectra.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <numeric>

namespace heddle::lab {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

/// The modes of one dimension: λ_j, and the entry of its vector at each place.
struct Line {
  std::vector<double> values;
  std::function<double(Index mode, Index place)> entry;
};

Line line(Index n, bool held) {
  Line made;
  const auto length = static_cast<double>(held ? n + 1 : n);
  const auto angle = [=](Index mode) {
    return std::numbers::pi * static_cast<double>(held ? mode + 1 : mode) / length;
  };
  for (Index j = 0; j < n; ++j) made.values.push_back(4 * std::pow(std::sin(angle(j) / 2), 2));
  made.entry = [=](Index mode, Index place) {
    const auto x = static_cast<double>(place);
    if (held) return std::sqrt(2 / length) * std::sin(angle(mode) * (x + 1));
    return std::sqrt((mode == 0 ? 1 : 2) / length) * std::cos(angle(mode) * (x + 0.5));
  };
  return made;
}

/// Numbers of a place or a mode in each dimension, the last one fastest.
std::vector<Index> split(const Grid& grid, Index k) {
  std::vector<Index> parts(grid.size.size());
  for (std::size_t d = parts.size(); d-- > 0; k /= grid.size[d]) parts[d] = k % grid.size[d];
  return parts;
}

std::vector<Line> lines_of(const Grid& grid) {
  std::vector<Line> lines;
  for (std::size_t d = 0; d < grid.size.size(); ++d) {
    lines.push_back(line(grid.size[d], grid.held[d]));
  }
  return lines;
}

/// The eigenvalue of each mode.
std::vector<double> all_values(const Grid& grid, const std::vector<Line>& lines) {
  std::vector<double> values{0};
  for (const Line& along : lines) {
    std::vector<double> sums;
    sums.reserve(values.size() * along.values.size());
    for (const double a : values) {
      for (const double b : along.values) sums.push_back(a + b);
    }
    values.swap(sums);
  }
  for (double& value : values) value *= grid.stiffness;
  return values;
}

/// The modes with the `count` smallest values, ascending.
std::vector<Index> smallest_of(const std::vector<double>& values, Index count) {
  std::vector<Index> order(values.size());
  std::iota(order.begin(), order.end(), Index{0});
  const auto less = [&](Index a, Index b) {
    return values[static_cast<std::size_t>(a)] < values[static_cast<std::size_t>(b)];
  };
  const Index kept = std::min<Index>(count, std::ssize(values));
  std::partial_sort(order.begin(), order.begin() + kept, order.end(), less);
  order.resize(static_cast<std::size_t>(kept));
  return order;
}

double norm_of(const Grid& grid) {
  return 4 * grid.stiffness * static_cast<double>(grid.size.size());
}

double entry_of(const std::vector<Line>& lines, const std::vector<Index>& mode,
                const std::vector<Index>& place) {
  double product = 1;
  for (std::size_t d = 0; d < lines.size(); ++d) product *= lines[d].entry(mode[d], place[d]);
  return product;
}

/// Equal eigenvalues of a grid, and the square of the part of u along their vectors.
struct Pole {
  double value;
  Index copies;
  double weight;
};

std::vector<Pole> poles_of(const Grid& grid, const Tie& tie) {
  const std::vector<Line> lines = lines_of(grid);
  const std::vector<double> values = all_values(grid, lines);
  std::vector<std::vector<Index>> places;
  for (const Index row : tie.rows) places.push_back(split(grid, row));
  std::vector<Pole> poles;
  for (const Index k : smallest_of(values, std::ssize(values))) {
    const std::vector<Index> mode = split(grid, k);
    double part = 0;
    for (std::size_t e = 0; e < places.size(); ++e) {
      part += tie.u[e] * entry_of(lines, mode, places[e]);
    }
    const double value = values[static_cast<std::size_t>(k)];
    if (poles.empty() || value - poles.back().value > 64 * kEpsilon * norm_of(grid)) {
      poles.push_back({value, 0, 0});
    }
    ++poles.back().copies;
    poles.back().weight += part * part;
  }
  return poles;
}

}  // namespace

Index Grid::rows() const {
  return std::accumulate(size.begin(), size.end(), Index{1}, std::multiplies<>());
}

std::vector<Mode> grid_modes(const Grid& grid, Index count) {
  const std::vector<double> values = all_values(grid, lines_of(grid));
  std::vector<Mode> modes;
  for (const Index k : smallest_of(values, count)) {
    modes.push_back({values[static_cast<std::size_t>(k)], 8 * kEpsilon * norm_of(grid)});
  }
  return modes;
}

std::vector<Mode> tied_grid_modes(const Grid& grid, const Tie& tie, Index count) {
  const std::vector<Pole> poles = poles_of(grid, tie);
  constexpr double kNoPart = 1e-26;
  std::vector<Pole> active;
  for (const Pole& pole : poles) {
    if (pole.weight > kNoPart) active.push_back(pole);
  }
  const auto secular = [&](double x) {
    double sum = 1 / tie.k;
    for (const Pole& pole : active) sum += pole.weight / (pole.value - x);
    return sum;
  };
  const double error = 256 * kEpsilon * norm_of(grid);
  std::vector<Mode> modes;
  std::size_t next = 0;  // in `active`, behind the pole at hand
  for (const Pole& pole : poles) {
    if (std::ssize(modes) >= count) break;
    const bool moves = pole.weight > kNoPart;
    for (Index copy = moves ? 1 : 0; copy < pole.copies; ++copy) {
      modes.push_back({pole.value, error});
    }
    if (!moves || ++next == active.size()) continue;  // the last root is stiff
    double low = pole.value, high = active[next].value;
    for (int step = 0; step < 60; ++step) {
      const double middle = (low + high) / 2;
      (secular(middle) < 0 ? low : high) = middle;
    }
    modes.push_back({(low + high) / 2, error});
  }
  return modes;
}

Eigen::MatrixXd grid_vectors(const Grid& grid, Index first, Index count) {
  const std::vector<Line> lines = lines_of(grid);
  const std::vector<Index> order = smallest_of(all_values(grid, lines), first + count);
  Eigen::MatrixXd vectors(grid.rows(), count);
  for (Index j = 0; j < count; ++j) {
    const std::vector<Index> mode = split(grid, order.at(static_cast<std::size_t>(first + j)));
    for (Index i = 0; i < grid.rows(); ++i) {
      vectors(i, j) = entry_of(lines, mode, split(grid, i));
    }
  }
  return vectors;
}

std::vector<Mode> dense_modes(const Eigen::MatrixXd& A, const Eigen::MatrixXd& B) {
  using Long = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;
  const Long wide = A.cast<long double>();
  Eigen::Matrix<long double, Eigen::Dynamic, 1> values;
  if (B.rows() == 0) {
    values = Eigen::SelfAdjointEigenSolver<Long>(wide, Eigen::EigenvaluesOnly).eigenvalues();
  } else {
    const Long mass = B.cast<long double>();
    values = Eigen::GeneralizedSelfAdjointEigenSolver<Long>(wide, mass, Eigen::EigenvaluesOnly)
                 .eigenvalues();
  }
  // The masses have condition numbers of some tens.
  const auto largest = static_cast<double>(values.cwiseAbs().maxCoeff());
  const double error = largest * static_cast<double>(A.rows()) * 1e-18 * (B.rows() > 0 ? 100 : 1);
  std::vector<Mode> modes;
  for (Index k = 0; k < A.rows(); ++k) modes.push_back({static_cast<double>(values[k]), error});
  return modes;
}

std::vector<Mode> chain_modes(const std::vector<double>& diagonal,
                              const std::vector<double>& beside) {
  using Column = Eigen::Matrix<long double, Eigen::Dynamic, 1>;
  const Index n = std::ssize(diagonal);
  const Column main = Eigen::Map<const Eigen::VectorXd>(diagonal.data(), n).cast<long double>();
  const Column side = Eigen::Map<const Eigen::VectorXd>(beside.data(), n - 1).cast<long double>();
  Eigen::SelfAdjointEigenSolver<Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>> solver;
  solver.computeFromTridiagonal(main, side, Eigen::EigenvaluesOnly);
  const auto& values = solver.eigenvalues();
  const double error = static_cast<double>(values.cwiseAbs().maxCoeff() * n) * 1e-18;
  std::vector<Mode> modes;
  for (Index k = 0; k < n; ++k) modes.push_back({static_cast<double>(values[k]), error});
  return modes;
}

}  // namespace heddle::lab
