#pragma once

#include <heddle/linalg/gallery/gallery.hpp>
#include <heddle/linalg/matrix_market/by_parts.hpp>
#include <optional>
#include <variant>

namespace heddle::detail {

/// A matrix of which a process can get any rows without the others: one that is generated, or a
/// file that processes read by parts.
using RowSource = std::variant<GallerySpec, MatrixMarketFile>;

/// The matrices of a problem, and columns of its right-hand sides.
struct MatricesByRows {
  RowSource A{};
  std::optional<RowSource> B{};
  Index random_rhs = 0;  ///< columns uniform in (−1, 1), drawn from the seed of the request
  Index ones_rhs = 0;    ///< columns of ones, where none is random
};

}  // namespace heddle::detail
