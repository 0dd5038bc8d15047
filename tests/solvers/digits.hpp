#pragma once

#include <Eigen/Core>
#include <cmath>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/operators/sparse_operator.hpp>
#include <heddle/solvers/problem/options.hpp>
#include <string>
#include <support/decompositions.hpp>
#include <vector>

namespace heddle::test {

/// A matrix on whose values rounding, or a norm far above them, takes its toll.
struct StiffProblem {
  std::string name;
  std::vector<Triplet<double>> entries;  ///< of A, n×n
  Index n;
  std::vector<double> masses{};  ///< diag(B). Empty: B = I

  HostCsrMatrix<double> matrix(HostContext& context) const {
    return csr_from_triplets<double>(context, n, n, entries);
  }
  HostCsrMatrix<double> mass(HostContext& context) const {
    std::vector<Triplet<double>> diagonal;
    for (Index i = 0; i < n; ++i) diagonal.push_back({i, i, masses[static_cast<std::size_t>(i)]});
    return csr_from_triplets<double>(context, n, n, diagonal);
  }

  /// All eigenvalues in ascending order, by a dense solve in long double.
  std::vector<double> eigenvalues() const {
    test::MatrixXld A = test::MatrixXld::Zero(n, n);
    for (const Triplet<double>& entry : entries) A(entry.row, entry.col) += entry.value;
    for (Index i = 0; !masses.empty() && i < n; ++i) {
      const long double root =
          std::sqrt(static_cast<long double>(masses[static_cast<std::size_t>(i)]));
      A.row(i) /= root;
      A.col(i) /= root;
    }
    const test::VectorXld values = test::long_eigenvalues(A);
    std::vector<double> result;
    for (Index i = 0; i < n; ++i) result.push_back(static_cast<double>(values(i)));
    return result;
  }
};

/// A chain of springs between n masses and a wall at both ends, or at none if `free`.
inline StiffProblem chain_of_springs(std::string name, const std::vector<double>& springs,
                                     bool free) {
  const Index n = std::ssize(springs) + (free ? 1 : -1);
  StiffProblem chain{std::move(name), {}, n};
  for (Index s = 0; s < std::ssize(springs); ++s) {
    const double k = springs[static_cast<std::size_t>(s)];
    const Index left = free ? s : s - 1;
    const Index right = left + 1;
    if (left >= 0) chain.entries.push_back({left, left, k});
    if (right < n) chain.entries.push_back({right, right, k});
    if (left < 0 || right >= n) continue;
    chain.entries.push_back({left, right, -k});
    chain.entries.push_back({right, left, -k});
  }
  return chain;
}

/// diag(values), with each pair of neighbours rotated so that it is not diagonal.
inline StiffProblem rotated_diagonal(std::string name, const std::vector<double>& values) {
  StiffProblem problem{std::move(name), {}, std::ssize(values)};
  for (Index i = 0; i + 1 < problem.n; i += 2) {
    const double a = values[static_cast<std::size_t>(i)];
    const double b = values[static_cast<std::size_t>(i + 1)];
    constexpr double c = 0.8, s = 0.6;
    problem.entries.push_back({i, i, c * c * a + s * s * b});
    problem.entries.push_back({i + 1, i + 1, s * s * a + c * c * b});
    problem.entries.push_back({i, i + 1, c * s * (a - b)});
    problem.entries.push_back({i + 1, i, c * s * (a - b)});
  }
  if (problem.n % 2 == 1) problem.entries.push_back({problem.n - 1, problem.n - 1, values.back()});
  return problem;
}

/// Stiff, graded and penalised problems, clusters and zeros, all of order 280 to 401.
inline std::vector<StiffProblem> stiff_problems() {
  std::vector<StiffProblem> list;
  std::vector<double> springs(400, 1.0);
  springs[200] = 1e8;
  list.push_back(chain_of_springs("a chain with one stiff spring", springs, false));
  list.push_back(chain_of_springs("a free chain with one stiff spring", springs, true));
  for (std::size_t s = 0; s < springs.size(); ++s) springs[s] = s % 7 == 3 ? 1e6 : 1;
  list.push_back(chain_of_springs("a chain with many stiff springs", springs, false));
  std::vector<double> values(300);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = std::pow(10.0, -12 + 24 * static_cast<double>(i) / 299);
  }
  list.push_back(rotated_diagonal("graded from 1e-12 to 1e12", values));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = 1 + static_cast<double>(i / 3);  // triple eigenvalues
    if (i >= 290) values[i] = 1e8 * static_cast<double>(i);
  }
  list.push_back(rotated_diagonal("triple values and penalties", values));
  StiffProblem penalised =
      chain_of_springs("a chain with penalties", std::vector<double>(300, 1.0), false);
  for (const Index held : {0, 150, 298}) penalised.entries.push_back({held, held, 1e8});
  list.push_back(penalised);
  StiffProblem pencil =
      chain_of_springs("masses from 1e-3 to 1e3", std::vector<double>(281, 1.0), false);
  for (Index i = 0; i < pencil.n; ++i) {
    pencil.masses.push_back(std::pow(10.0, -3 + 6 * static_cast<double>(i) / 279));
  }
  list.push_back(pencil);
  return list;
}

/// Checks that each value of a converged result lies within its bound of the truth, and that the
/// bound is at most 1e-6 of the value, or limited by rounding.
template <class Result>
void expect_digits(const Result& result, const std::vector<double>& truth, double truth_error) {
  ASSERT_EQ(result.error_bounds.size(), result.eigenvalues.size());
  ASSERT_EQ(result.limited_by_rounding.size(), result.eigenvalues.size());
  for (std::size_t j = 0; j < result.eigenvalues.size(); ++j) {
    const double error = std::abs(result.eigenvalues[j] - truth[j]);
    EXPECT_LE(error, result.error_bounds[j] + truth_error + 4e-16 * std::abs(truth[j]))
        << "pair " << j << " of value " << truth[j];
    EXPECT_TRUE(result.error_bounds[j] <= 1e-6 * std::abs(truth[j]) ||
                result.limited_by_rounding[j])
        << "pair " << j << ": " << truth[j] << " ± " << result.error_bounds[j];
  }
}

}  // namespace heddle::test
