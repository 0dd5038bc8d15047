#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/matrix_market/matrix_market.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/solvers/operators/sparse_operator.hpp>
#include <heddle/solvers/problem/options.hpp>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "support/matrix_dir.hpp"

namespace heddle::test {

/// A row of the reference table: ten eigenvalues at one end, from other packages.
struct Reference {
  std::string problem;  ///< NAME, NAME:MASS or NAME@L (graph Laplacian)
  Which which;
  std::vector<double> values;
  double bound;  ///< the reference's own residual, relative to ‖A‖₁
};

/// The rows of the table beside the matrix folder for one end; nothing if there is no such folder
/// or table.
inline std::optional<std::vector<Reference>> references(Which which) {
  const auto folder = matrix_dir();
  if (!folder) return std::nullopt;
  std::ifstream in(*folder / "../reference/eigenvalues.tsv");
  if (!in) return std::nullopt;
  std::vector<Reference> rows;
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) {
    std::istringstream fields(line);
    std::string problem, n, end, method, values, bound;
    for (std::string* field : {&problem, &n, &end, &method, &values, &bound}) {
      std::getline(fields, *field, '\t');
    }
    if ((end == "smallest") != (which == Which::smallest)) continue;
    Reference row{problem, which, {}, std::stod(bound)};
    std::istringstream numbers(values);
    for (double value; numbers >> value;) row.values.push_back(value);
    rows.push_back(row);
  }
  return rows;
}

/// The error of a reference value: rounding of a dense solve, of about ‖A‖₁/‖B‖₁ and more for
/// pencils, or its residual.
inline double reference_error(const Reference& reference, double norm_A, double norm_B) {
  constexpr double kRounding = 4e-15;
  return std::max(kRounding, 2 * reference.bound) * norm_A / norm_B;
}

/// Each value lies within its bound of the reference, where that is as exact as a dense solve, and
/// the bound is small or limited by rounding.
template <class Result>
void expect_within_bounds(const Result& result, const Reference& reference, double slack) {
  for (std::size_t i = 0; i < reference.values.size(); ++i) {
    const double value = result.eigenvalues[i];
    const double bound = result.error_bounds[i];
    EXPECT_LE(std::abs(value - reference.values[i]), bound + slack)
        << "pair " << i << ": " << value;
    EXPECT_TRUE(bound <= 1e-6 * std::abs(value) || result.limited_by_rounding[i])
        << "pair " << i << ": " << value << " ± " << bound;
  }
}

/// The matrices of a row in a context's memory: A, and B where it is a pencil.
template <class Ctx>
class ReferenceProblem {
 public:
  using Operator = SparseOperator<double, Ctx>;

  ReferenceProblem(Ctx& context, const std::string& problem) {
    HostCsrMatrix<double> matrix = read(problem.substr(0, problem.find_first_of("@:")));
    if (problem.ends_with("@L")) {
      matrix =
          graph_laplacian(host_, matrix.view(), {.weights = EdgeWeights::unit, .symmetrize = true});
    }
    A = std::make_unique<Operator>(context, place(context, std::move(matrix)));
    const std::size_t colon = problem.find(':');
    if (colon == std::string::npos) return;
    B = std::make_unique<Operator>(context, place(context, read(problem.substr(colon + 1))));
  }

 private:
  HostCsrMatrix<double> read(const std::string& name) {
    const std::filesystem::path plain = *matrix_dir() / (name + ".mtx");
    return read_matrix_market<double>(
        host_, std::filesystem::exists(plain) ? plain : *matrix_dir() / (name + ".mtx.gz"));
  }

  HostContext host_;  // owns what was read

 public:
  std::unique_ptr<Operator> A, B;
};

}  // namespace heddle::test
