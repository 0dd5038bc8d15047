#pragma once

#include <heddle/solvers/problem/options.hpp>
#include <span>

namespace heddle::detail {

/// The measured errors of singular triplets. The lists have one entry per triplet.
struct TripletErrors {
  std::span<const double> values;     ///< σ
  std::span<const double> residuals;  ///< max(‖A v − σ u‖₂, ‖Aᴴu − σ v‖₂)
  double orthogonality;               ///< max(|UᴴU − I|, |VᴴV − I|)
  double norm;                        ///< ‖A‖₂, or an estimate from below
  std::span<const double> bounds;     ///< of the errors of σ, without rounding
  /// By how much σ may differ from the one of its place because AᴴA hides others, see
  /// `hidden_in_squares`.
  std::span<const double> resolutions;

  /// The same of the first triplets alone.
  TripletErrors leading(Index count) const noexcept;
};

/// How far a singular value may lie above σ without being seen by an eigensolver on AᴴA whose
/// products have errors of norm root²: √(σ² + root²) − σ.
double hidden_in_squares(double sigma, double root) noexcept;

/// Which errors of singular triplets a criterion allows.
template <Scalar T>
class TripletCriterion {
 public:
  TripletCriterion(Criterion criterion, double tolerance) noexcept
      : criterion_(criterion), tolerance_(tolerance) {}

  /// The largest residual that is allowed at σ.
  double allowed(double sigma, double norm) const noexcept;

  /// Whether the residual of one triplet is allowed.
  bool passes(const TripletErrors& errors, Index triplet) const noexcept;

  /// Whether all triplets pass, with orthonormal vectors.
  bool all_pass(const TripletErrors& errors) const noexcept;

  /// The error that rounding leaves in a singular value: 10 ε‖A‖₂.
  static double rounding(double norm) noexcept;

  /// Errors of values up to this size are rounding errors of A: 100 ε‖A‖₂.
  static double noise_floor(double norm) noexcept { return 10 * rounding(norm); }

  /// Whether the resolution of a triplet is at most tolerance·σ or at the noise floor, for the
  /// criteria `eigenvalue` and `relative`. Always true for the others.
  bool resolved(const TripletErrors& errors, Index triplet) const noexcept;

  /// Whether a value has digits: its error is at most max(tolerance, 1e-6)·σ, or it is at the noise
  /// floor of A itself. Always true for all criteria but `eigenvalue`.
  bool has_digits(const TripletErrors& errors, Index triplet) const noexcept;

  /// Whether all values have digits.
  bool all_have_digits(const TripletErrors& errors) const noexcept;

  /// The number of leading triplets that pass and are resolved, with errors of values at most
  /// tolerance·σ or at the noise floor.
  Index exact(const TripletErrors& errors) const noexcept;

  /// By how much residuals must still shrink for the errors of all values to pass, at least 1.
  /// Always 1 for all criteria but `eigenvalue`, whose limit is max(tolerance·σ, rounding).
  double value_excess(const TripletErrors& errors) const noexcept;

  /// The largest ratio of an error to what is allowed: infinite where vectors are not orthonormal,
  /// else at least 1. The error of a triplet is the smaller of its residual and σ, because the
  /// search for left vectors makes a triplet pass whose σ is small enough.
  double worst_excess(const TripletErrors& errors) const noexcept;

  /// Whether nothing but left vectors of σ near zero keeps triplets from passing.
  bool left_vectors_missing(const TripletErrors& errors) const noexcept;

 private:
  double accepted(double sigma, double norm) const noexcept;

  Criterion criterion_;
  double tolerance_;
};

}  // namespace heddle::detail
