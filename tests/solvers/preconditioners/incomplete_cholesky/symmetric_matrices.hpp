#pragma once

#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <limits>
#include <vector>

namespace heddle::test {

/// Symmetric 3×3 matrices from which no incomplete Cholesky factor follows as it stands: zero,
/// indefinite, without a diagonal, and with an entry that is not a number.
template <class T>
std::vector<HostCsrMatrix<T>> symmetric_matrices_without_factor(HostContext& context) {
  const T nan = std::numeric_limits<T>::quiet_NaN();
  const std::vector<std::vector<Triplet<T>>> cases = {
      {},
      {{0, 0, -1}, {1, 1, 2}, {2, 2, -3}},
      {{0, 1, 5}, {1, 0, 5}, {1, 2, 7}, {2, 1, 7}},
      {{0, 0, 1}, {0, 1, nan}, {1, 0, nan}, {1, 1, 1}, {2, 2, 1}}};
  std::vector<HostCsrMatrix<T>> matrices;
  for (const auto& entries : cases) {
    matrices.push_back(csr_from_triplets<T>(context, 3, 3, entries));
  }
  return matrices;
}

}  // namespace heddle::test
