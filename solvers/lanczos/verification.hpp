#pragma once

#include <heddle/solvers/lanczos/workspace.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace heddle::detail {

/// Computes the vectors of the best current pairs and measures these pairs with fresh products with
/// A and B. The vectors and the measured numbers are stored in the result of the solve.
template <Scalar T, class Ctx>
class Verification {
 public:
  using Space = typename Ctx::Space;
  using Block = BlockView<T, Space>;
  using Storage = typename BlockLanczosWorkspace<T, Ctx>::Storage;

  /// Everything is kept by reference.
  Verification(Ctx& context, const EigenProblem<T, Ctx>& problem,
               const BlockLanczosOptions& options, Storage& storage) noexcept
      : context_(context), problem_(problem), options_(options), s_(storage) {}

  /// Sets the result's vectors to those of the best pairs, locked ones and active Ritz vectors.
  void collect();

  /// A Rayleigh–Ritz step over the result's first `count` vectors. False if it fails.
  bool rayleigh_ritz(Index count);

  /// Measures residuals and orthogonality of the result's wanted pairs and bounds the errors of
  /// their values, after that step.
  Verdict measure(Index count, const EigenConvergence& convergence);

  /// Does all of this for the best current pairs, and reduces their residuals where residuals at
  /// the level of rounding are asked for.
  Verdict measure_best(const EigenConvergence& convergence);

  /// Judges the pairs that were measured last.
  Verdict judge(const EigenConvergence& convergence);

  /// Replaces the bounds of the residuals of the current pairs by measured residuals.
  void measure_ritz_pairs();

  /// Measures the rounding errors of the values of the current pairs. Valid until the next call.
  std::span<const double> roundings();

  /// Takes values that a dense solve found by another operator, the wanted ones first, and bounds
  /// of their errors. The result's vectors are theirs.
  void set_dense_values(std::vector<double> values, std::vector<double> errors) {
    dense_values_ = std::move(values);
    dense_errors_ = std::move(errors);
  }

  /// Takes the result's first vectors, xᵀBx = 1, with the values of `set_dense_values` for the next
  /// `measure`. Returns true.
  bool take_dense_vectors();

  /// The check that the pairs of the last `measure` fail.
  std::string refutation() const;

  /// A Rayleigh–Ritz step over the leading block of Ritz vectors of the basis. Costs a product with
  /// A. Overwrites the numbers of the result.
  void rayleigh_ritz_of_leading();

  /// The Rayleigh quotient farthest from the wanted end in the last step. Nothing if the step
  /// failed.
  std::optional<double> farthest_value() const;

  /// Marks the numbers of the result as those of earlier Ritz pairs.
  void outdate() noexcept { measured_ = false; }

  /// The result of the last `measure`.
  const Verdict& verdict() const noexcept { return verdict_; }

  /// Whether the result holds numbers that were measured for the current Ritz pairs.
  bool measured() const noexcept { return measured_; }
  DenseFailure failure() const noexcept { return failure_; }  ///< of the last step

 private:
  DenseFailure step(Block V);
  void clear_numbers();
  Block measure_vectors(Index count);
  Verdict judge_vectors(const EigenConvergence& convergence);
  void judge_dense(const EigenConvergence& convergence);
  void refine_by_inverse(Block V);

  Ctx& context_;
  const EigenProblem<T, Ctx>& problem_;
  const BlockLanczosOptions& options_;
  Storage& s_;
  DenseFailure failure_ = DenseFailure::none;
  std::vector<double> dense_values_, dense_errors_;
  std::vector<double> factors_;  // of the columns in `refine_by_inverse`
  bool measured_ = false;
  bool solved_ = false;  // whether the vectors are results of `refine_by_inverse`
  Verdict verdict_;
};

}  // namespace heddle::detail
