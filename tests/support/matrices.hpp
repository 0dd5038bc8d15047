#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <heddle/linalg/data/views.hpp>
#include <random>
#include <set>
#include <vector>

#include "support/numbers.hpp"

namespace heddle::test {

/// A small sparse matrix that owns its arrays and uses nothing of the library but the view and its
/// types.
template <class T>
struct TestMatrix {
  Index rows = 0;
  Index cols = 0;
  std::vector<std::int64_t> offsets{0};
  std::vector<std::int32_t> columns;
  std::vector<T> values;

  CsrView<T, HostSpace> view() const {
    return {rows,           cols,           static_cast<Index>(columns.size()),
            offsets.data(), columns.data(), values.data()};
  }
};

/// The rows×cols matrix whose row i has the columns that `columns_of(i)` returns (any range of
/// integers, ascending), with values uniform in [−1, 1), as are both parts of complex ones.
template <class T, class ColumnsOf>
TestMatrix<T> matrix_with_pattern(Index rows, Index cols, ColumnsOf&& columns_of,
                                  unsigned seed = 1) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  TestMatrix<T> matrix;
  matrix.rows = rows;
  matrix.cols = cols;
  for (Index i = 0; i < rows; ++i) {
    for (const auto column : columns_of(i)) {
      matrix.columns.push_back(static_cast<std::int32_t>(column));
      matrix.values.push_back(drawn<T>([&] { return uniform(engine); }));
    }
    matrix.offsets.push_back(static_cast<std::int64_t>(matrix.columns.size()));
  }
  return matrix;
}

/// `count` distinct columns below `cols`, uniform, ascending.
inline std::set<Index> random_columns(std::mt19937& engine, Index cols, Index count) {
  std::uniform_int_distribution<Index> column(0, std::max<Index>(cols, 1) - 1);
  std::set<Index> chosen;
  while (static_cast<Index>(chosen.size()) < std::min(count, cols)) chosen.insert(column(engine));
  return chosen;
}

/// A rows×cols matrix with row lengths uniform in 0 … 2·mean and uniform columns. For small means
/// some rows are empty.
template <class T>
TestMatrix<T> random_matrix(Index rows, Index cols, Index mean, unsigned seed = 1) {
  std::mt19937 engine(seed);
  std::uniform_int_distribution<Index> length(0, 2 * mean);
  return matrix_with_pattern<T>(
      rows, cols, [&](Index) { return random_columns(engine, cols, length(engine)); }, seed + 1);
}

/// A matrix whose row i has about longest/(i + 1)^exponent + 1 entries at random columns.
template <class T>
TestMatrix<T> power_law_matrix(Index rows, Index cols, Index longest, double exponent = 0.8,
                               unsigned seed = 1) {
  std::mt19937 engine(seed);
  return matrix_with_pattern<T>(
      rows, cols,
      [&](Index i) {
        const double length =
            static_cast<double>(longest) / std::pow(static_cast<double>(i + 1), exponent);
        return random_columns(engine, cols, static_cast<Index>(length) + 1);
      },
      seed + 1);
}

/// A band matrix with all entries |i − j| ≤ half_width.
template <class T>
TestMatrix<T> band_matrix(Index rows, Index cols, Index half_width, unsigned seed = 1) {
  return matrix_with_pattern<T>(
      rows, cols,
      [&](Index i) {
        std::vector<Index> columns;
        for (Index j = std::max<Index>(0, i - half_width); j <= std::min(cols - 1, i + half_width);
             ++j) {
          columns.push_back(j);
        }
        return columns;
      },
      seed);
}

/// The pattern of the 7-point stencil on an nx×ny×nz grid, x fastest.
template <class T>
TestMatrix<T> grid_matrix(Index nx, Index ny, Index nz, unsigned seed = 1) {
  return matrix_with_pattern<T>(
      nx * ny * nz, nx * ny * nz,
      [&](Index i) {
        const Index x = i % nx;
        const Index y = i / nx % ny;
        const Index z = i / nx / ny;
        std::set<Index> columns{i};
        if (x > 0) columns.insert(i - 1);
        if (x + 1 < nx) columns.insert(i + 1);
        if (y > 0) columns.insert(i - nx);
        if (y + 1 < ny) columns.insert(i + nx);
        if (z > 0) columns.insert(i - nx * ny);
        if (z + 1 < nz) columns.insert(i + nx * ny);
        return columns;
      },
      seed);
}

/// A matrix of nodes·dofs rows, in runs of `dofs` rows with equal columns. All unknowns of a node
/// are coupled with all unknowns of the next nodes on a line.
template <class T>
TestMatrix<T> node_block_matrix(Index nodes, Index dofs, unsigned seed = 1) {
  return matrix_with_pattern<T>(
      nodes * dofs, nodes * dofs,
      [&](Index i) {
        const Index node = i / dofs;
        std::vector<Index> columns;
        for (Index j = std::max<Index>(0, node - 1) * dofs; j < std::min(nodes, node + 2) * dofs;
             ++j) {
          columns.push_back(j);
        }
        return columns;
      },
      seed);
}

/// A rows×cols matrix of dofs×dofs blocks at `mean` random places per node row, none in every fifth
/// one. About one entry of ten is missing in each block, and the last blocks are cut off where
/// `dofs` does not divide the size.
template <class T>
TestMatrix<T> random_node_matrix(Index rows, Index cols, Index dofs, Index mean,
                                 unsigned seed = 1) {
  std::mt19937 engine(seed);
  std::bernoulli_distribution missing(0.1);
  std::set<Index> nodes;
  return matrix_with_pattern<T>(
      rows, cols,
      [&](Index i) {
        if (i % dofs == 0) {
          const Index count = i / dofs % 5 == 3 ? 0 : 1 + i / dofs % (2 * mean);
          nodes = random_columns(engine, (cols + dofs - 1) / dofs, count);
        }
        std::vector<Index> columns;
        for (const Index node : nodes) {
          for (Index j = node * dofs; j < std::min(cols, (node + 1) * dofs); ++j) {
            if (!missing(engine)) columns.push_back(j);
          }
        }
        return columns;
      },
      seed + 1);
}

}  // namespace heddle::test
