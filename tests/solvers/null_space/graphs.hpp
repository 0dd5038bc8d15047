#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <random>
#include <vector>

/// Laplacians of random graphs that fall into known parts.
namespace heddle::test {

/// A weighted edge between two vertices.
struct Edge {
  Index from;
  Index to;
  double weight;
};

/// A random connected graph on each part of `sizes`, whose vertices are scattered over all rows,
/// with weights from 0.1 to 1. A part of one vertex has no edge.
inline std::vector<Edge> random_parts(const std::vector<Index>& sizes, unsigned seed) {
  std::mt19937 engine(seed);
  std::vector<Index> rows;
  for (const Index size : sizes) rows.insert(rows.end(), static_cast<std::size_t>(size), 0);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<Index>(i);
  std::shuffle(rows.begin(), rows.end(), engine);
  std::uniform_real_distribution<double> weight(0.1, 1);
  std::vector<Edge> edges;
  std::size_t first = 0;
  for (const Index size : sizes) {
    for (Index i = 1; i < size; ++i) {
      // A tree, and up to two more edges per vertex that are not in it.
      const Index parent = std::uniform_int_distribution<Index>(0, i - 1)(engine);
      const auto row = [&](Index k) { return rows[first + static_cast<std::size_t>(k)]; };
      edges.push_back({row(i), row(parent), weight(engine)});
      for (Index j = std::max<Index>(0, i - 2); j < i; ++j) {
        if (j != parent) edges.push_back({row(i), row(j), weight(engine)});
      }
    }
    first += static_cast<std::size_t>(size);
  }
  return edges;
}

/// Σ w (e_i − e_j)(e_i − e_j)ᵀ over the edges, as entries.
inline std::vector<Triplet<double>> laplacian_entries(const std::vector<Edge>& edges) {
  std::vector<Triplet<double>> entries;
  for (const auto& [i, j, w] : edges) {
    entries.insert(entries.end(), {{i, i, w}, {j, j, w}, {i, j, -w}, {j, i, -w}});
  }
  return entries;
}

inline HostCsrMatrix<double> laplacian_of(HostContext& context, Index n,
                                          const std::vector<Edge>& edges) {
  return csr_from_triplets<double>(context, n, n, laplacian_entries(edges));
}

}  // namespace heddle::test
