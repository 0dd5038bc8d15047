#pragma once

#include <heddle/solvers/problem/options.hpp>
#include <span>

namespace heddle::detail {

/// The measured errors of singular triplets. The lists have one entry per triplet.
struct TripletErrors {
  std::span<const double> values;     ///< σ
  std::span<const double> residuals;  ///< max(‖A v − σ u‖₂, ‖Aᵀu − σ v‖₂)
  double orthogonality;               ///< max(|UᵀU − I|, |VᵀV − I|)
  double norm;                        ///< ‖A‖₂, or an estimate from below
  std::span<const double> bounds;     ///< of the errors of σ, without rounding
};

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
  Criterion criterion_;
  double tolerance_;
};

}  // namespace heddle::detail
