#pragma once

#include <heddle/drivers/problem/problem.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <limits>
#include <map>
#include <vector>

namespace heddle::test {

/// Masses between springs, some of them held to the ground. The matrix is tridiagonal, so that
/// Sturm counts in long double are the truth.
struct Springs {
  std::vector<double> between;     ///< n − 1 stiffnesses
  std::map<Index, double> ground;  ///< by row
  std::vector<double> masses{};    ///< diag(B). Empty: B = I

  Index order() const { return std::ssize(between) + 1; }

  double diagonal(Index i) const {
    double sum = 0;
    if (i > 0) sum += between[static_cast<std::size_t>(i - 1)];
    if (i + 1 < order()) sum += between[static_cast<std::size_t>(i)];
    const auto held = ground.find(i);
    return held == ground.end() ? sum : sum + held->second;
  }

  Problem problem(HostContext& context) const {
    std::vector<Triplet<double>> K, M;
    for (Index i = 0; i < order(); ++i) {
      K.push_back({i, i, diagonal(i)});
      if (i == 0) continue;
      const double k = between[static_cast<std::size_t>(i - 1)];
      K.push_back({i, i - 1, -k});
      K.push_back({i - 1, i, -k});
    }
    Problem problem{.A = Matrix(csr_from_triplets<double>(context, order(), order(), K))};
    if (masses.empty()) return problem;
    for (Index i = 0; i < order(); ++i) M.push_back({i, i, masses[static_cast<std::size_t>(i)]});
    problem.B = Matrix(csr_from_triplets<double>(context, order(), order(), M));
    return problem;
  }

  /// The number of eigenvalues below t, by the signs of the pivots of A − tB.
  Index below(long double t) const {
    Index count = 0;
    long double pivot = 1;
    for (Index i = 0; i < order(); ++i) {
      const long double k = i > 0 ? between[static_cast<std::size_t>(i - 1)] : 0;
      const long double mass = masses.empty() ? 1 : masses[static_cast<std::size_t>(i)];
      pivot = diagonal(i) - t * mass - (i > 0 ? k * k / pivot : 0);
      if (pivot == 0) pivot = std::numeric_limits<long double>::min();
      count += pivot < 0 ? 1 : 0;
    }
    return count;
  }

  /// Eigenvalue number j ≥ 0 of a positive definite pencil.
  long double eigenvalue(Index j) const {
    long double high = 1e-12L;
    while (below(high) <= j) high *= 2;
    long double low = high / 2;
    for (int step = 0; step < 70; ++step) {
      const long double middle = (low + high) / 2;
      (below(middle) > j ? high : low) = middle;
    }
    return (low + high) / 2;
  }
};

/// A chain of unit springs of which the first mass is held by a spring of stiffness s.
inline Springs held_chain(Index n, double s) {
  return {std::vector<double>(static_cast<std::size_t>(n - 1), 1.0), {{0, s}}};
}

}  // namespace heddle::test
