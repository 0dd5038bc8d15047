#pragma once

#include <heddle/solvers/lanczos/nearest/verification.hpp>
#include <span>
#include <vector>

namespace heddle::detail {

/// Values within this many times the size of the smallest one share a shift.
inline constexpr double kReach = 30;

/// More digits for pairs whose values are much smaller than their distance from s: λ = s + 1/θ has
/// errors of ε|s|. Each group of such values gets a shift t beside it:
///
///     X ← F X,   XᵀBX Z Θ = XᵀBF X Z,   X ← F X Z Θ⁻¹,   λ = t + 1/θ,   F = (A − tB)⁻¹B
///
/// A group consists of neighbouring values, and X n×k of their vectors. Repeated with t nearer to
/// the group while the errors of its values decrease.
template <Scalar T, class Ctx>
class NearbyShifts {
 public:
  using Space = typename Ctx::Space;

  /// For blocks of n rows. `inverse`, `F` with the same inverse, and `B`, null for the identity,
  /// are kept by reference. `block`: columns that F takes at once. Throws `OutOfMemory`.
  NearbyShifts(Ctx& context, Index n, IndefiniteInverse<T, Ctx>& inverse, PencilInverse<T, Ctx>& F,
               LinearOperator<T, Ctx>* B, Index block);

  /// Improves the columns of X, n×k, that have not passed, and their values in `pairs`, which are
  /// ascending. `others`: values of other pairs. False if nothing has become better.
  bool improve(BlockView<T, Space> X, std::vector<BoundedValue>& pairs,
               const std::vector<bool>& passed, std::span<const double> others);

 private:
  struct Group {
    std::size_t first, last;
  };

  Group group_of(std::size_t j, const std::vector<bool>& passed) const;
  bool improve_group(BlockView<T, Space> X, const Group& group, std::span<const double> others);
  bool all_have_digits(const Group& group) const;
  bool factor_beside(const Group& group, std::span<const double> others);
  double largest_error(const Group& group) const;
  bool step(BlockView<T, Space> X, const Group& group, std::span<const double> others);
  std::vector<double> ritz(BlockView<T, Space> X, BlockView<T, Space> FX);
  bool take(ConstBlockView<T, Space> R, std::span<const double> theta, const Group& group,
            std::span<const double> others);
  void orthogonalise(BlockView<T, Space> X);
  void multiply_small(BlockView<T, Space> X, ConstSmallView<Wide<T>, HostSpace> W);
  void apply(ConstBlockView<T, Space> X, BlockView<T, Space> Y);
  void apply_B(ConstBlockView<T, Space> X, BlockView<T, Space> Y);
  void fetch_gram(ConstBlockView<T, Space> X, ConstBlockView<T, Space> Y,
                  SmallView<Wide<T>, HostSpace> G);
  void scale(BlockView<T, Space> X, std::span<const double> factors);

  Ctx& context_;
  IndefiniteInverse<T, Ctx>& inverse_;
  PencilInverse<T, Ctx>& F_;
  LinearOperator<T, Ctx>* B_;
  Index n_, block_;
  OwnedHostContext host_;
  std::vector<BoundedValue>* pairs_ = nullptr;
  std::vector<bool> improved_;
};

}  // namespace heddle::detail
