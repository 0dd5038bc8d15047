#pragma once

#include <heddle/linalg/context/context.hpp>
#include <limits>
#include <optional>
#include <vector>

namespace heddle::detail {

/// A number s up to which eigenvalues are counted, as a key.
struct CountingPlace {
  double key = 0;
  Index found = 0;      ///< values that were found and lie before s
  bool proves = false;  ///< whether as many eigenvalues prove that no found value has a wrong place
};

/// The places for counts of the eigenvalues at an end of the spectrum. Values are given as keys,
/// which ascend from that end: λ at the smallest, −λ at the largest one.
class CountingPlaces {
 public:
  /// Attempts of `beyond` and of `before`. A later place is taken if no factor for an earlier one
  /// is certain.
  static constexpr int kBeyond = 6;
  static constexpr int kBefore = 4;

  /// `keys`: of the found values, ascending. `error`: a bound of the errors of all of them.
  /// `tolerance`: values that differ by this part of them are the same. `scale`: ‖A‖/‖B‖.
  /// `reach`: the key up to which the bounds of the errors assume no eigenvalues but the found
  /// ones.
  CountingPlaces(std::vector<double> keys, double error, double tolerance, double scale,
                 double reach = -std::numeric_limits<double>::infinity());

  /// Whether the values and their errors are finite, so that there are places.
  bool usable() const noexcept;

  /// Whether the values have too few digits for a place before the last one to prove anything.
  bool vague() const noexcept;

  /// The end of the gap that bounds assume behind the last value. Nothing if it lies before the
  /// first place of `beyond`.
  std::optional<CountingPlace> gap() const noexcept;

  /// A place behind all found values: by a part of their mean distance, or of the last value.
  CountingPlace beyond(int attempt) const noexcept;

  /// A place before the last value by the bound of its error. Nothing if no factor would be certain
  /// so near to it, or if the first place of `before` is not farther away.
  std::optional<CountingPlace> at_bound() const noexcept;

  /// A place before the last value and its copies, as near to it as possible. Nothing if the found
  /// values have no gap there that is wider than their errors.
  std::optional<CountingPlace> before(int attempt) const noexcept;

 private:
  std::vector<double> keys_;
  double error_;
  double scale_;
  double reach_;
  double alike_;  // values that differ by less are the same
  double proof_;  // a place that lies nearer to the last value proves
};

}  // namespace heddle::detail
