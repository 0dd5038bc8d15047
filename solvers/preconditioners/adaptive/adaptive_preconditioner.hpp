#pragma once

#include <functional>
#include <heddle/solvers/operators/linear_operator.hpp>
#include <memory>
#include <span>
#include <vector>

namespace heddle::detail {

/// A preconditioner that begins as one that needs hardly any setup, and becomes a strong one as
/// soon as the first one asks for a strength from `threshold` on. Solvers see this as one more step
/// of strength, so it survives checkpoints. Until then `strength()` is 1, so that they ask often.
/// The first preconditioner gets more strength where a fifth more suits.
template <Scalar T, class Ctx>
class AdaptivePreconditioner final : public Preconditioner<T, Ctx> {
 public:
  using Space = typename Ctx::Space;

  /// Makes the strong preconditioner. Null: it does not suit, and the first one stays.
  using Make = std::function<std::unique_ptr<Preconditioner<T, Ctx>>(Ctx&)>;

  /// The strength of the strong preconditioner, more than any of the first.
  static constexpr Index kStrong = Index{1} << 20;

  /// `first` is not null.
  AdaptivePreconditioner(std::unique_ptr<Preconditioner<T, Ctx>> first, Make make_strong,
                         double threshold);

  /// Whether the strong preconditioner is in use.
  bool is_strong() const noexcept { return strong_ != nullptr && wants_strong_; }

  /// The strength of the preconditioner in use, as that one counts it.
  Index own_strength() const noexcept { return current().strength(); }

  /// The preconditioner in use.
  Preconditioner<T, Ctx>& current() const noexcept { return is_strong() ? *strong_ : *first_; }

  bool is_lowered() const noexcept override { return current().is_lowered(); }
  void raise(Ctx& context) override { made(context).raise(context); }
  std::vector<OperatorLevel> hierarchy() const override { return current().hierarchy(); }
  Index strength() const noexcept override;
  void set_strength(Index strength) override;
  Index suitable_strength(Ctx& context, ConstBlockView<T, Space> X,
                          std::span<const double> energies) override;

 protected:
  void apply_block(Ctx& context, ConstBlockView<T, Space> X, BlockView<T, Space> Y) override {
    made(context).apply(context, X, Y);
  }

 private:
  bool make(Ctx& context);
  Preconditioner<T, Ctx>& made(Ctx& context);

  std::unique_ptr<Preconditioner<T, Ctx>> first_;
  Make make_strong_;  // empty once it has been refused
  double threshold_;
  bool wants_strong_ = false;
  std::unique_ptr<Preconditioner<T, Ctx>> strong_;  // null until it is needed
};

}  // namespace heddle::detail
