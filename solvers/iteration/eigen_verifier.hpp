#pragma once

#include <algorithm>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/context/owned_host_context.hpp>
#include <heddle/linalg/small/dense_eigen.hpp>
#include <heddle/solvers/iteration/accurate_residuals.hpp>
#include <heddle/solvers/iteration/convergence.hpp>
#include <heddle/solvers/iteration/error_bounds.hpp>
#include <heddle/solvers/iteration/error_norms.hpp>
#include <heddle/solvers/problem/eigen_problem.hpp>
#include <heddle/solvers/problem/options.hpp>
#include <heddle/solvers/problem/result.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace heddle::detail {

/// A solver's values and bounds of the eigenvalues other than those that are verified. Error bounds
/// of the verified values depend on the gaps to them, see `ErrorBounds`.
struct Neighbours {
  std::span<const double> values{};     ///< further Ritz values
  std::span<const double> residuals{};  ///< ‖r‖ of each in the norm of B⁻¹, for xᵀBx = 1
  bool joint = false;  ///< whether their vectors are orthogonal to those that are verified
  /// The parts of their residuals along the verified vectors, from `EigenVerifier::couplings`.
  /// Empty if these are rounding.
  std::span<const double> couplings{};
  /// The rounding errors of `values`, which leave open which values are the wanted ones. Empty if
  /// unknown. For an ill conditioned B, they exceed those of the residuals.
  std::span<const double> roundings{};
  double below = ErrorBounds::kUnknown;
  double above = ErrorBounds::kUnknown;
  /// A value near which an eigenvalue is known to lie, without its vector.
  std::optional<double> unseen{};
  /// The end of the spectrum from which the verified values are counted. A value that lies nearer
  /// to this end than a verified one takes its place. Without it, bounds hold for some eigenvalue.
  std::optional<Which> end{};
  /// Bounds of the errors of the verified values that are known otherwise, in their order. Empty if
  /// there are none.
  std::span<const double> own_bounds{};
  /// The rounding errors of the values to which these bounds belong. Empty if they are included.
  std::span<const double> own_roundings{};
  /// The least bounds of the errors of the verified values, whatever else is known. Empty if there
  /// are none.
  std::span<const double> least_bounds{};
  /// Whether the vectors are results of solves with A − σB. These leave no errors in stiff rows, so
  /// that what rounding allows there is no fault of the method.
  bool solved = false;
  /// Whether the values are those of a dense solve. Residuals at the level of rounding then pass.
  /// As the vectors span the whole space, residuals lie in their span.
  bool dense = false;
};

/// The result of a verification.
struct Verdict {
  bool residuals = false;  ///< whether all residuals pass, and the vectors are orthonormal
  bool values = false;     ///< whether the errors of all values pass
  /// Whether they pass without `EigenConvergence::residual_is_rounding`. If not, an inverse would
  /// reach more digits.
  bool digits = true;

  bool confirmed() const noexcept { return residuals && values; }
};

/// The parts of the error of an eigenvalue.
struct ValueErrors {
  double iteration = 0;  ///< a bound of what further steps of the solver may reduce
  double solver = 0;     ///< what rounding in the solver adds to its own bound
  double rounding = 0;   ///< that of the Rayleigh quotient
  double placing = 0;    ///< the least bound where it is open which eigenvalue has the place
  /// A bound of all but `placing`, from residuals in twice the precision.
  double accurate = std::numeric_limits<double>::infinity();

  double total() const noexcept {
    const double all = iteration + solver + rounding;
    return std::max(accurate < all ? accurate : all, placing);
  }

  /// The part of the error that no further step reduces. `at_rounding`: whether it reduces nothing
  /// of `iteration` either.
  double unavoidable(bool at_rounding) const noexcept {
    return std::max({placing, rounding, (at_rounding ? iteration : 0) + solver});
  }
};

/// Verifies eigenpairs: a Rayleigh–Ritz step over all of them, their residuals, their orthogonality
/// and bounds of the errors of their values, all from fresh products with A and B. Shared by the
/// eigensolvers.
template <Scalar T, class Ctx>
class EigenVerifier {
 public:
  using Space = typename Ctx::Space;

  EigenVerifier() = default;

  /// Memory for up to `max_pairs` pairs and as many neighbours. `n`: rows of the vectors in this
  /// process. `pencil`: whether there is a B.
  EigenVerifier(Ctx& context, Index n, Index max_pairs, bool pencil);

  /// The norms of the errors. A solve prepares them for its problem before the first `measure`.
  ErrorNorms<T, Ctx>& norms() noexcept { return error_norms_; }

  /// V ← V Z with VᵀBV = I and VᵀAV = diag(values), best first. V n×k, its columns independent. AV
  /// and BV are scratch memory of n rows and any width. Products are computed for as many columns
  /// at a time as they have. BV is unused if B = I.
  DenseFailure rayleigh_ritz(Ctx& context, const EigenProblem<T, Ctx>& problem, Which which,
                             BlockView<T, Space> V, BlockView<T, Space> AV, BlockView<T, Space> BV);

  /// Takes the values of vectors that are eigenvectors without a `rayleigh_ritz`, for `measure`.
  void set_values(std::span<const double> values) { values_.assign(values.begin(), values.end()); }

  /// Measures the pairs (values, V) of the last `rayleigh_ritz`, and replaces the values by the
  /// Rayleigh quotients of V. `kind`: `accurate` where `has_accurate_residuals` holds.
  void measure(Ctx& context, const EigenProblem<T, Ctx>& problem, ConstBlockView<T, Space> V,
               BlockView<T, Space> AV, BlockView<T, Space> BV, Residuals kind = Residuals::rounded);

  /// Where rounding in the products of the last `measure` leaves values fewer digits than
  /// `convergence` asks for, and `has_accurate_residuals` holds: measures again, with residuals in
  /// twice the precision. The errors of the Rayleigh quotients are then those that their vectors
  /// leave, ρ²/gap, and not rounding of |x|ᵀ|A||x|.
  void measure_accurately(Ctx& context, const EigenProblem<T, Ctx>& problem,
                          const EigenConvergence& convergence, ConstBlockView<T, Space> V,
                          BlockView<T, Space> AV, BlockView<T, Space> BV);

  /// Where `convergence` asks for residuals at the level of rounding, and those of the last
  /// `measure` are above the rounding of products with A: up to two steps of minimal residuals on
  /// each vector, v ← v + α r, r = A v − λ v, with the α for which ‖(A − λ)(v + α r)‖₂ is least,
  /// each followed by `measure`. For B = I and scratch blocks of two columns or more. Removes most
  /// of the errors that rounding in a solver has left in V, because they spread over the whole
  /// spectrum. The bounds of the errors of values stay those of the residuals before: smaller ones
  /// show nothing new of pairs that the solver has missed. Source: Saad, Iterative Methods for
  /// Sparse Linear Systems, algorithm 5.3.
  void reduce_residuals(Ctx& context, const EigenProblem<T, Ctx>& problem,
                        const EigenConvergence& convergence, BlockView<T, Space> V,
                        BlockView<T, Space> AV, BlockView<T, Space> BV);

  /// Judges the pairs of the last `measure` and bounds the errors of their values.
  Verdict judge(const EigenConvergence& convergence, const Neighbours& neighbours);

  /// The parts along the columns of V, with the values of the last `measure`, of the residuals of
  /// further vectors U, UᵀBU = I: k numbers per column of U. AU and BU are scratch memory. Valid
  /// until the next call.
  std::span<const double> couplings(Ctx& context, const EigenProblem<T, Ctx>& problem,
                                    ConstBlockView<T, Space> V, ConstBlockView<T, Space> U,
                                    BlockView<T, Space> AU, BlockView<T, Space> BU);

  /// The rounding errors of the values of the vectors V, xᵀBx = 1. Valid until the next call.
  std::span<const double> roundings(Ctx& context, const EigenConvergence& convergence,
                                    ConstBlockView<T, Space> V, std::span<const double> values);

  /// Bounds of the errors of the values from the last `judge`, rounding included. Each holds for
  /// the eigenvalue of the same place, as far as the pairs and their neighbours show it.
  const std::vector<double>& errors() const noexcept { return errors_; }
  const std::vector<bool>& limited() const noexcept { return limited_; }

  /// The part of `errors()` by which a value lies beyond the one that has its place. Without it,
  /// the bounds hold for some eigenvalue.
  const std::vector<double>& displacements() const noexcept { return displacements_; }

  /// Writes the numbers of the last `judge` to `result`.
  void report(const EigenConvergence& convergence, EigenResult<T, Space>& result) const;

  /// Whether each pair passed the last `judge`.
  const std::vector<bool>& passed() const noexcept { return passed_; }

  /// ‖VᵀAV‖₁ and ‖VᵀBV‖₁ for the V that the last `rayleigh_ritz` was given.
  double projected_norm_A() const noexcept { return projected_norm_A_; }
  double projected_norm_B() const noexcept { return projected_norm_B_; }

  std::span<const double> values() const noexcept { return values_; }

  /// ‖A v − λ B v‖₂ / ‖v‖₂ of each pair.
  std::span<const double> residuals() const noexcept { return residuals_; }

  /// max |VᵀBV − I|.
  double orthogonality() const noexcept { return orthogonality_; }

  /// Whether every entry of VᵀBV − I was within `orthogonality_limit` in the last `judge`.
  bool orthonormal() const noexcept { return orthogonality_excess_ <= 1; }

  /// Names the first check that the pairs failed in the last `judge`, with its numbers.
  std::string refutation(const EigenConvergence& convergence) const;

 private:
  bool reducible(const EigenConvergence& convergence) const;
  void step_of_minimal_residuals(Ctx& context, LinearOperator<T, Ctx>& A, BlockView<T, Space> V,
                                 BlockView<T, Space> scratch);
  void take_numbers(ConstSmallView<Wide<T>, HostSpace> G,
                    ConstSmallView<double, HostSpace> numbers);
  void correct_values(ConstSmallView<Wide<T>, HostSpace> G, ConstSmallView<Wide<T>, HostSpace> VR);
  double placing_error(std::size_t j, const EigenConvergence& convergence,
                       const Neighbours& neighbours) const;
  RowSizes sizes_of_rows(const EigenConvergence& convergence, std::size_t j) const;
  void list_pairs(const Neighbours& neighbours);
  ValueErrors errors_of(std::size_t j, const EigenConvergence& convergence,
                        const Neighbours& neighbours, const RowSizes& rows) const;
  void judge_orthogonality(const EigenConvergence& convergence);

  DenseSolverOf<Wide<T>> dense_;
  OwnedHostContext host_;
  SmallMatrix<Wide<T>, HostSpace> H_, G_, Z_;
  SmallMatrix<double, HostSpace> theta_host_;
  SmallMatrix<Wide<T>, Space> product_, Z_device_;
  SmallMatrix<double, Space> theta_;
  SmallMatrix<double, HostSpace> numbers_host_;
  SmallMatrix<double, Space> numbers_;  // one row per pair
  ErrorNorms<T, Ctx> error_norms_;
  ErrorBounds bounds_;
  PlaceIntervals places_;
  std::vector<double> values_;
  std::vector<double> ritz_values_;  // θ of the residuals A x − θ B x
  std::vector<double> residuals_;
  std::vector<double> dual_residuals_;  // ‖r‖ in the norm of B⁻¹, for xᵀBx = 1
  std::vector<double> unreduced_;       // dual residuals before `reduce_residuals`
  std::vector<double> squares_;         // xᵀBx
  std::vector<double> corrections_;     // what is left of xᵀr/xᵀBx
  std::vector<double> couplings_;       // parts of the residuals in the span of the other vectors
  std::vector<double> sizes_A_, sizes_B_;  // numbers from which ErrorNorms derives |x|ᵀ|A||x|, …
  std::vector<double> rows_numbers_;       // and the sizes of the rows where x lives
  std::vector<double> roundings_;          // of the last call
  std::vector<double> neighbour_couplings_;  // of the last call
  std::vector<double> errors_;               // bounds of the errors of values, rounding included
  std::vector<double> iterations_;           // their parts that further steps reduce
  std::vector<double> unavoidable_;          // and those that these do not reduce
  std::vector<double> displacements_;        // from the values that have the places of the pairs
  std::vector<double> union_;                // values of pairs and neighbours, best first
  std::vector<bool> passed_, limited_;
  Residuals kind_ = Residuals::rounded;  // of the last `measure`
  double orthogonality_ = 0;
  double orthogonality_excess_ = 0;  // the largest |VᵀBV − I| relative to what is allowed
  double projected_norm_A_ = 0;
  double projected_norm_B_ = 0;
};

}  // namespace heddle::detail
