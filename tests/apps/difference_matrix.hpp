#pragma once

#include <fmt/format.h>

#include <cmath>
#include <heddle/linalg/gallery/gallery.hpp>
#include <string>
#include <vector>

namespace heddle::apps::test {

/// The (n+1)×n matrix D of differences of neighbours, as a Matrix Market file: DᵀD is laplace1d.
/// `transposed`: Dᵀ instead.
inline std::string difference_matrix(Index n, bool transposed = false) {
  std::string text = fmt::format("%%MatrixMarket matrix coordinate real general\n{} {} {}\n",
                                 transposed ? n : n + 1, transposed ? n + 1 : n, 2 * n);
  for (Index j = 1; j <= n; ++j) {
    for (const Index i : {j, j + 1}) {
      const int value = i == j ? 1 : -1;
      text += transposed ? fmt::format("{} {} {}\n", j, i, value)
                         : fmt::format("{} {} {}\n", i, j, value);
    }
  }
  return text;
}

/// Its singular values, ascending.
inline std::vector<double> difference_singular_values(Index n) {
  std::vector<double> values = laplace_smallest_eigenvalues({n}, n);
  for (double& value : values) value = std::sqrt(value);
  return values;
}

}  // namespace heddle::apps::test
