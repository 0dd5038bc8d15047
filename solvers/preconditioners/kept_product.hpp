#pragma once

#include <heddle/linalg/blocks/scaled_block.hpp>
#include <optional>

namespace heddle {

/// A preconditioner of blocks in double precision that may leave its product in single precision,
/// where it was computed. A solver that reads the product once or twice spares a block and the
/// passes of a conversion.
template <class Ctx>
class KeptProduct {
 public:
  using Space = typename Ctx::Space;

  virtual ~KeptProduct() = default;

  /// The values of `LinearOperator::apply` for X (n×b) and its column norms (b×1), valid until the
  /// next product. Nothing if it computes in double precision. May allocate.
  virtual std::optional<ScaledView<float, Space>> apply_and_keep(
      Ctx& context, ConstBlockView<double, Space> X, ConstSmallView<double, Space> norms) = 0;
};

}  // namespace heddle
