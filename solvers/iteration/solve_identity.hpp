#pragma once

#include <fmt/format.h>

#include <heddle/solvers/problem/eigen_problem.hpp>
#include <heddle/solvers/problem/options.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::detail {

/// "NAME: VALUE", with all digits of a number.
template <class Value>
std::string fact(std::string_view name, const Value& value) {
  return fmt::format("{}: {}", name, value);
}

/// The fact that identifies an operator, from the properties that a solver can see.
template <Scalar T, class Ctx>
std::string operator_fact(std::string_view name, const LinearOperator<T, Ctx>* op) {
  if (op == nullptr) return fact(name, "none");
  const std::optional<double> norm = op->one_norm();
  return fact(name, fmt::format("{}{}", norm ? fmt::format("of 1-norm {}", *norm) : "given",
                                op->is_lowered() ? ", in lower precision" : ""));
}

/// The facts that must be the same in an eigensolve that resumes from a checkpoint. Empty where no
/// checkpoint is kept. `block`: columns of the block that the solver chose.
template <Scalar T, class Ctx>
std::vector<std::string> eigen_identity(std::string_view solver,
                                        const EigenProblem<T, Ctx>& problem,
                                        const EigenOptions& options, Index block) {
  if (options.checkpoint.file.empty()) return {};
  std::vector<std::string> facts = {
      fact("solver", solver),
      fact("bytes of a number", sizeof(T)),
      fact("n", problem.A->row_range().global),
      operator_fact("A", problem.A),
      operator_fact("B", problem.B),
      operator_fact("preconditioner", problem.preconditioner),
      fact("constraints", problem.constraints.cols()),
      fact("initial guesses", problem.initial_guess.cols()),
      fact("nev", options.nev),
      fact("which", options.which == Which::smallest ? "smallest" : "largest"),
      fact("block_size", block),
      fact("tolerance", options.tolerance),
      fact("criterion", static_cast<int>(options.criterion)),
      fact("seed", options.seed)};
  if (const Index known = problem.null_vectors.cols(); known > 0) {
    facts.push_back(fact("null vectors", known));
  }
  return facts;
}

}  // namespace heddle::detail
