#pragma once

#include <heddle/linalg/data/small_matrix.hpp>
#include <heddle/linalg/data/views.hpp>

namespace heddle {

/// A preconditioner M in precision T that reads and writes blocks in double precision itself: the
/// conversion is a part of its first and of its last pass over vectors.
template <Scalar T, class Ctx>
class BetweenPrecisions {
 public:
  using Space = typename Ctx::Space;

  virtual ~BetweenPrecisions() = default;

  /// y_j = s_j⁻¹ M(s_j x_j) (X and Y n×b). `scales` (b×2) holds s_j and 1/s_j, see `norm_scales`.
  /// X and Y must not share memory.
  virtual void apply_between(Ctx& context, ConstBlockView<double, Space> X,
                             ConstSmallView<double, Space> scales, BlockView<double, Space> Y) = 0;
};

}  // namespace heddle
