#pragma once

#include <heddle/linalg/context/context.hpp>
#include <span>

namespace heddle::detail {

/// The Ritz values θ of X, best first, and by how much each changed in the last step that had a W.
struct RitzValues {
  std::span<const double> theta;
  std::span<const double> change;  ///< infinite where there was no value before

  Index count() const noexcept { return static_cast<Index>(theta.size()); }
};

}  // namespace heddle::detail
