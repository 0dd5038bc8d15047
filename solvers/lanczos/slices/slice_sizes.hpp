#pragma once

#include <heddle/linalg/context/context.hpp>

namespace heddle::detail {

/// The estimated operations of a slice with `pairs` pairs: two factorisations, a basis of some more
/// columns, and their verification. `entries`: those of L. One operation is one addition or
/// multiplication of a dense product.
double slice_operations(Index n, double entries, Index block, Index pairs) noexcept;

/// The number of pairs per slice with the fewest operations per pair.
Index pairs_per_slice(Index n, double entries, Index block) noexcept;

}  // namespace heddle::detail
