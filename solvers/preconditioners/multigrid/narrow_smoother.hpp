#pragma once

#include <heddle/linalg/data/csr_matrix.hpp>
#include <heddle/spmm/low_precision/precision.hpp>
#include <memory>
#include <vector>

namespace heddle::detail {

/// The smoothing of one level with the matrix and all vectors between its products in half,
/// bfloat16 or TF32. Columns of r are scaled to a norm from 1 to 2 by powers of two, so that they
/// fit into the range of half precision.
template <class Ctx>
class NarrowSmoother {
 public:
  using Space = typename Ctx::Space;

  virtual ~NarrowSmoother() = default;

  /// Allocates for blocks of `width` columns.
  virtual void reserve(Ctx& context, Index width) = 0;

  /// x = β x + p(A) r by Horner's rule.
  virtual void smooth(Ctx& context, ConstBlockView<float, Space> r, float beta,
                      BlockView<float, Space> x) = 0;
};

/// A smoother for A with these coefficients of p, at least two. `precision` is half, bf16 or tf32.
/// Keeps nothing of A.
template <class Ctx>
std::unique_ptr<NarrowSmoother<Ctx>> make_narrow_smoother(Ctx& context, ProductPrecision precision,
                                                          CsrView<float, typename Ctx::Space> A,
                                                          std::vector<float> polynomial);

}  // namespace heddle::detail
