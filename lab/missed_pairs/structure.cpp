#include "missed_pairs/structure.hpp"

#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

namespace heddle::lab {

void Structure::add(Index i, Index j, double value) { A_.push_back({i, j, value}); }

/// The springs of a grid, and masses 1.
void Structure::add_body(const Grid& grid) {
  const Index begin = std::exchange(rows_, rows_ + grid.rows());
  if (grid_begin_ < 0) {
    grid_ = grid;
    grid_begin_ = begin;
  }
  for (Index row = 0; row < grid.rows(); ++row) {
    double diagonal = 0;
    Index step = 1, rest = row;
    for (std::size_t d = grid.size.size(); d-- > 0;) {
      const Index n = grid.size[d], at = rest % n;
      for (const bool last : {false, true}) {
        const bool border = at == (last ? n - 1 : 0);
        if (!border) add(begin + row, begin + row + (last ? step : -step), -grid.stiffness);
        if (!border || grid.held[d]) diagonal += grid.stiffness;
      }
      step *= n;
      rest /= n;
    }
    add(begin + row, begin + row, diagonal);
    B_.push_back({begin + row, begin + row, 1});
  }
}

void Structure::add_grid(const Grid& grid) {
  add_body(grid);
  const std::vector<Mode> modes = grid_modes(grid, kept_);
  modes_.insert(modes_.end(), modes.begin(), modes.end());
}

void Structure::add_tied_grid(const Grid& grid, const Tie& tie) {
  const Index begin = rows_;
  add_body(grid);
  for (std::size_t i = 0; i < tie.rows.size(); ++i) {
    for (std::size_t j = 0; j < tie.rows.size(); ++j) {
      add(begin + tie.rows[i], begin + tie.rows[j], tie.k * tie.u[i] * tie.u[j]);
    }
  }
  const std::vector<Mode> modes = tied_grid_modes(grid, tie, kept_);
  modes_.insert(modes_.end(), modes.begin(), modes.end());
}

void Structure::add_dense(const Eigen::MatrixXd& A, const Eigen::MatrixXd& B) {
  const Index begin = std::exchange(rows_, rows_ + A.rows());
  for (Index i = 0; i < A.rows(); ++i) {
    for (Index j = 0; j < A.cols(); ++j) {
      add(begin + i, begin + j, A(i, j));
      if (B.rows() > 0) B_.push_back({begin + i, begin + j, B(i, j)});
    }
    if (B.rows() == 0) B_.push_back({begin + i, begin + i, 1});
  }
  pencil_ = pencil_ || B.rows() > 0;
  const std::vector<Mode> modes = dense_modes(A, B);
  modes_.insert(modes_.end(), modes.begin(), modes.end());
}

void Structure::add_chain(Index rows, double k, double c) {
  const Index begin = std::exchange(rows_, rows_ + rows);
  std::vector<double> diagonal(static_cast<std::size_t>(rows), 2 * k);
  diagonal.front() = k + c;
  diagonal.back() = k;
  for (Index i = 0; i < rows; ++i) {
    add(begin + i, begin + i, diagonal[static_cast<std::size_t>(i)]);
    if (i > 0) add(begin + i, begin + i - 1, -k);
    if (i + 1 < rows) add(begin + i, begin + i + 1, -k);
    B_.push_back({begin + i, begin + i, 1});
  }
  const std::vector<double> beside(static_cast<std::size_t>(rows - 1), -k);
  const std::vector<Mode> modes = chain_modes(diagonal, beside);
  modes_.insert(modes_.end(), modes.begin(), modes.end());
}

void Structure::rotate(const std::vector<Index>& rows, Draw& draw) {
  const Index m = std::ssize(rows);
  Eigen::MatrixXd random(m, m);
  for (Index k = 0; k < m * m; ++k) random.data()[k] = draw.uniform(-1, 1);
  const Eigen::MatrixXd Q = Eigen::HouseholderQR<Eigen::MatrixXd>(random).householderQ();
  std::map<Index, Index> number;
  for (Index k = 0; k < m; ++k) number[rows[static_cast<std::size_t>(k)]] = k;
  // The rows that Q mixes row `i` into, with the factors.
  const auto spread = [&](Index i) {
    std::vector<std::pair<Index, double>> parts;
    const auto found = number.find(i);
    if (found == number.end()) return std::vector<std::pair<Index, double>>{{i, 1.0}};
    for (Index k = 0; k < m; ++k) {
      parts.emplace_back(rows[static_cast<std::size_t>(k)], Q(k, found->second));
    }
    return parts;
  };
  std::map<std::pair<Index, Index>, double> mixed;  // its upper triangle
  std::vector<Triplet<double>> entries;
  for (const Triplet<double>& entry : A_) {
    if (number.count(entry.row) + number.count(entry.col) == 0) {
      entries.push_back(entry);
      continue;
    }
    for (const auto& [i, a] : spread(entry.row)) {
      for (const auto& [j, b] : spread(entry.col)) {
        if (i <= j) mixed[{i, j}] += a * entry.value * b;
      }
    }
  }
  double largest = 0;
  for (const auto& [place, value] : mixed) {
    largest = std::max(largest, std::abs(value));
    entries.push_back({place.first, place.second, value});
    if (place.first != place.second) entries.push_back({place.second, place.first, value});
  }
  A_ = std::move(entries);
  const double error = 4e-16 * largest * static_cast<double>(m * m);
  for (Mode& mode : modes_) mode.error += error;
}

void Structure::shift(double c) {
  double largest = 0;
  for (const Triplet<double>& entry : A_) largest = std::max(largest, std::abs(entry.value));
  for (const Triplet<double>& entry : B_) add(entry.row, entry.col, -c * entry.value);
  for (Mode& mode : modes_) {
    mode.value -= c;
    mode.error += 1e-15 * (largest + std::abs(c));
  }
}

void Structure::scale(int most, Draw& draw) {
  powers_.resize(static_cast<std::size_t>(rows_));
  for (int& power : powers_) power = static_cast<int>(draw.integer(-most, most));
  pencil_ = true;
}

void Structure::permute(Draw& draw) {
  place_.resize(static_cast<std::size_t>(rows_));
  std::iota(place_.begin(), place_.end(), Index{0});
  for (Index i = rows_ - 1; i > 0; --i) {
    std::swap(place_[static_cast<std::size_t>(i)],
              place_[static_cast<std::size_t>(draw.integer(0, i))]);
  }
}

std::vector<Mode> Structure::modes() const {
  std::vector<Mode> sorted = modes_;
  std::sort(sorted.begin(), sorted.end(),
            [](const Mode& a, const Mode& b) { return a.value < b.value; });
  return sorted;
}

HostCsrMatrix<double> Structure::matrix(HostContext& context,
                                        const std::vector<Triplet<double>>& entries,
                                        double sign) const {
  std::vector<Triplet<double>> placed = entries;
  for (Triplet<double>& entry : placed) {
    entry.value *= sign;
    if (!powers_.empty()) {
      entry.value = std::ldexp(entry.value, powers_[static_cast<std::size_t>(entry.row)] +
                                                powers_[static_cast<std::size_t>(entry.col)]);
    }
    if (place_.empty()) continue;
    entry.row = place_[static_cast<std::size_t>(entry.row)];
    entry.col = place_[static_cast<std::size_t>(entry.col)];
  }
  return csr_from_triplets<double>(context, rows_, rows_, placed);
}

HostCsrMatrix<double> Structure::A(HostContext& context, double sign) const {
  return matrix(context, A_, sign);
}

HostCsrMatrix<double> Structure::B(HostContext& context) const { return matrix(context, B_, 1); }

std::vector<double> Structure::guess(Index first, Index count) const {
  std::vector<double> columns(static_cast<std::size_t>(rows_ * count), 0.0);
  const Eigen::MatrixXd vectors = grid_vectors(grid_, first, count);
  for (Index i = 0; i < grid_.rows(); ++i) {
    const auto row = static_cast<std::size_t>(grid_begin_ + i);
    const Index place = place_.empty() ? grid_begin_ + i : place_[row];
    const int power = powers_.empty() ? 0 : powers_[row];
    for (Index j = 0; j < count; ++j) {
      columns[static_cast<std::size_t>(place * count + j)] = std::ldexp(vectors(i, j), -power);
    }
  }
  return columns;
}

}  // namespace heddle::lab
