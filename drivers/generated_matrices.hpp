#pragma once

#include <heddle/linalg/gallery/gallery.hpp>
#include <optional>

namespace heddle::detail {

/// The generated matrices of a problem, and columns of its right-hand sides.
struct GeneratedMatrices {
  GallerySpec A{};
  std::optional<GallerySpec> B{};
  Index random_rhs = 0;  ///< columns uniform in (−1, 1), drawn from the seed of the request
  Index ones_rhs = 0;    ///< columns of ones, where none is random
};

}  // namespace heddle::detail
