#pragma once

#include <algorithm>
#include <cmath>
#include <heddle/linalg/context/owned_host_context.hpp>
#include <heddle/solvers/iteration/eigen_verifier.hpp>
#include <heddle/solvers/iteration/error_bounds.hpp>
#include <heddle/solvers/krylov/krylov_basis.hpp>
#include <heddle/solvers/krylov/lanczos_ritz.hpp>
#include <heddle/solvers/lanczos/nearest/pencil_inverse.hpp>
#include <heddle/solvers/lanczos/nearest/shape.hpp>
#include <heddle/solvers/lanczos/nearest/target.hpp>
#include <optional>
#include <vector>

namespace heddle::detail {

/// The memory of a solve with a basis of one size.
template <Scalar T, class Ctx>
struct NearestStorage {
  using Space = typename Ctx::Space;

  NearestStorage(Ctx& context, const RowRange& rows, const NearestShape& shape, bool pencil);

  NearestShape shape;
  KrylovBasis<T, Ctx> basis;
  LanczosRitzOf<Wide<T>> ritz;
  EigenVerifier<T, Ctx> verifier;
  SmallMatrix<Wide<T>, Space> coefficients;  // of Ritz vectors
  OwnedHostContext host;
  SmallMatrix<Wide<T>, HostSpace> chosen;  // columns of Z
  SmallMatrix<double, HostSpace> theta;    // their θ
  SmallMatrix<double, Space> factors;      // of the columns of a block
  MultiVector<T, Space> product;           // A X
  MultiVector<T, Space> X;                 // n×pairs
};

/// The rounding errors of the Ritz values of F, the largest of which is `largest` in magnitude, for
/// T the type of the basis.
template <Scalar T>
double rounding_of_F(double largest) noexcept;

/// The same for all Ritz values of a basis.
template <Scalar T>
double rounding_of_F(const LanczosValues& ritz) noexcept {
  return rounding_of_F<T>(
      std::max(std::abs(ritz.value(0)), std::abs(ritz.value(ritz.order() - 1))));
}

/// A value with a bound of its error.
struct BoundedValue {
  double value;
  double error;         ///< that the vector explains
  double rounding = 0;  ///< of F in addition
};

/// The error of 1/θ for one of up to `error` in θ. Infinite if θ may be 0.
double error_of_inverse(double theta, double error) noexcept;

/// The pairs of a solve: locked vectors and the Ritz pairs of F = (A − sB)⁻¹B.
struct NearestPairs {
  Target target;
  double shift = 0;                    ///< s
  bool reciprocal = false;             ///< whether A is definite, and 1/λ are measured
  Index held = 0;                      ///< constraints and given vectors, locked before the pairs
  bool finite_counted = false;         ///< whether `count_finite` has set `target.finite`
  std::vector<double> given{};         ///< Rayleigh quotients of eigenvectors known already
  std::vector<BoundedValue> locked{};  ///< of the locked vectors
  std::vector<double> ritz_values{};   ///< λ of the Ritz pairs of the basis
  std::vector<Index> leading{};        ///< Ritz pairs on the wanted side, nearest first
  Index further = 0;                   ///< of these, as measured values lie beyond a limit
  Index count = 0;                     ///< columns of X with pairs
  bool whole = false;                  ///< whether the basis spans the range of B
  bool verified = false;               ///< whether X holds the pairs of the last cycle
  /// Ends between which a count has found no other eigenvalues than the measured and given ones.
  std::optional<CountedInterval> counted{};
  LimitCounts numbers{};  ///< of eigenvalues below these ends

  /// λ = s + 1/θ.
  double lambda_at(double theta) const noexcept;

  /// Where A is definite, sets the size from which values count as infinite, by all that are known.
  void limit_to_finite(std::span<const double> values) noexcept;

  /// The value that is measured for λ, or λ for that value: 1/λ if A is definite, else λ.
  double measured(double lambda) const noexcept;

  /// The error of `measured` for one of up to `error` in λ, or the other way round.
  double measured_error(double lambda, double error) const noexcept;

  /// The number of given values between the limits.
  Index given_between() const;

  /// Whether the Ritz pairs other than the leading ones show no value between the limits:
  /// θ ± ‖F x − θ x‖ lies beyond them.
  bool others_rest(const LanczosValues& ritz) const;
};

/// The searches for pairs that counts have shown to be missing.
struct MissingPairs {
  Index count = 0;     ///< the number that the last count has shown to be missing
  Index searches = 0;  ///< in turn, that have found none
  Index known = -1;    ///< pairs that were there when the last one began

  /// Whether a search for `missed` pairs has prospects, with `there` pairs known, and takes it for
  /// begun.
  bool begin(Index missed, Index there);

  /// The number of pairs that the basis is to show in addition to the locked ones.
  Index awaited(Index wanted) const noexcept { return count > 0 ? count : wanted; }
};

/// Computes the vectors of the locked and leading pairs, measures them with fresh products, and
/// bounds the errors of their values. Everything is kept by reference. The verifier sees B x = ν A
/// x where A is the definite matrix.
template <Scalar T, class Ctx>
class NearestVerification {
 public:
  using Space = typename Ctx::Space;
  using Block = BlockView<T, Space>;

  /// `measured`: the problem, with A and B exchanged where A is the definite matrix.
  NearestVerification(Ctx& context, const EigenProblem<T, Ctx>& measured, NearestPairs& pairs,
                      std::optional<NearestStorage<T, Ctx>>& storage,
                      std::optional<PencilInverse<T, Ctx>>& F) noexcept
      : context_(context), problem_(measured), pairs_(pairs), s_(storage), F_(F) {}

  /// X ← the locked vectors and the leading Ritz vectors, and measures them. `refines`: whether F
  /// is there to be applied to the latter once more.
  Verdict measure_best(const EigenConvergence& convergence, bool refines);

  /// Where the last measured pairs have not passed: more digits by shifts next to their values, see
  /// `NearbyShifts`. Measures and judges them again. `inverse`, that of F, is factored elsewhere.
  Verdict improve(const EigenConvergence& convergence, IndefiniteInverse<T, Ctx>& inverse);

  /// Whether leading pairs are to be chosen again. Narrows `Target::noise` where measured values
  /// that it lets in lie beyond a limit by far more than their errors. Where others leave fewer
  /// than `wanted`, more than these become leading.
  bool choose_again(Index wanted);

  /// Whether fewer than `wanted` measured values lie between the limits.
  bool lacks_pairs(Index wanted) const { return std::ssize(best(wanted)) < wanted; }

  /// Whether rows differ much, and the error of a measured value may exceed 10⁻⁶ of it and the
  /// tolerance. With `excuses`, values that rounding alone limits do not count.
  bool lacks_digits(bool excuses) const;

  /// The bound of the error of the measured value at this place.
  double error(std::size_t place) const;

  /// Distances from σ that differ by less than this from that of the value at this place are the
  /// same: at most `Target::rounding`, which stiff rows may make larger than other values. Factors
  /// tell them apart in double, whatever T is.
  double rounding(std::size_t place) const;

  /// Measures the values of eigenvectors that are known already, once.
  void take_given(ConstBlockView<T, Space> X);

  /// Measures the pairs in X with fresh products. Their number is 0 afterwards if that failed.
  Verdict measure(const EigenConvergence& convergence);

  /// Judges the pairs that were measured last.
  Verdict judge(const EigenConvergence& convergence);

  /// λ of the measured pairs, in the order of the columns of X: ascending, or descending 1/λ.
  std::span<const double> values() const noexcept { return values_; }

  /// Makes the pairs at these places those of `result`.
  void report(const EigenConvergence& convergence, const std::vector<std::size_t>& places,
              EigenResult<T, Space>& result);

  /// The places among these of the `wanted` nearest ones, nearest first.
  std::vector<std::size_t> best(Index wanted) const;

  /// The number of these and of the given ones between the ends.
  Index inside(const CountedInterval& ends) const;

  /// Ritz values that stand for the eigenvalues next to the measured ones.
  const std::vector<double>& others() const noexcept { return others_; }

 private:
  void collect();
  void refine();
  void list_others();
  void list_ends();
  void bound_errors();
  void take_values(const std::vector<BoundedValue>& pairs, const EigenConvergence& convergence);
  std::vector<Index> neighbours_of_failed() const;
  bool improve_with_neighbours(std::vector<BoundedValue> measured,
                               IndefiniteInverse<T, Ctx>& inverse);
  void take_ritz_vectors(const std::vector<Index>& numbers, Block Y);
  bool choose(ConstBlockView<T, Space> Y, const std::vector<BoundedValue>& pairs);
  bool narrow_limit(double value, double error);
  bool others_held() const noexcept { return !pairs_.locked.empty() || !pairs_.given.empty(); }
  double theta_of(double value) const noexcept { return 1 / (value - pairs_.shift); }

  Ctx& context_;
  const EigenProblem<T, Ctx>& problem_;
  NearestPairs& pairs_;
  std::optional<NearestStorage<T, Ctx>>& s_;
  std::optional<PencilInverse<T, Ctx>>& F_;
  ErrorBounds bounds_;  // of the eigenvalues of F
  std::vector<double> values_;
  std::vector<BoundedValue> improved_;  // the pairs of X, where `improve` has found better ones
  std::vector<double> others_, other_widths_, own_errors_, own_roundings_;
  std::vector<double> ends_, end_widths_;  // of the count
  std::vector<double> inverse_residuals_;  // of F in X, where vectors are held
};

}  // namespace heddle::detail
