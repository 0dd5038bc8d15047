#pragma once

#include <heddle/linalg/blocks/scaled_block.hpp>

namespace heddle {

/// A preconditioner M in precision T that reads blocks in double precision itself, as a part of its
/// first pass over vectors, and leaves the product in its own memory.
template <Scalar T, class Ctx>
class BetweenPrecisions {
 public:
  using Space = typename Ctx::Space;

  virtual ~BetweenPrecisions() = default;

  /// y_j = s_j⁻¹ M(s_j x_j) (X and Y n×b). `scales` (b×2) holds s_j and 1/s_j, see `norm_scales`. Y
  /// reads `scales`, and memory of M that its next product overwrites.
  virtual ScaledView<T, Space> product(Ctx& context, ConstBlockView<double, Space> X,
                                       ConstSmallView<double, Space> scales) = 0;
};

}  // namespace heddle
