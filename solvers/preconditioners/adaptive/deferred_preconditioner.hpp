#pragma once

#include <functional>
#include <heddle/solvers/operators/linear_operator.hpp>
#include <memory>
#include <vector>

namespace heddle::detail {

/// A preconditioner for CG with one column that begins as one that needs hardly any setup. The
/// steps of the solve show how many will follow, the better the more there were, and another one
/// takes over where that pays. So this costs no steps beside those of the solve.
template <Scalar T, class Ctx>
class DeferredPreconditioner final : public Preconditioner<T, Ctx> {
 public:
  using Space = typename Ctx::Space;

  /// Chooses by the number of further steps expected with the first preconditioner. Null: the first
  /// one stays for now.
  using Choose = std::function<std::unique_ptr<Preconditioner<T, Ctx>>(Ctx&, double steps)>;

  /// Steps before the first choice and the last one. Between them, their number doubles.
  static constexpr Index kFirstChoice = 24;
  static constexpr Index kLastChoice = 384;

  /// `first` is not null.
  DeferredPreconditioner(std::unique_ptr<Preconditioner<T, Ctx>> first, Choose choose);

  /// The preconditioner in use.
  Preconditioner<T, Ctx>& current() const noexcept { return *current_; }

  bool is_lowered() const noexcept override { return current_->is_lowered(); }
  void raise(Ctx& context) override { current_->raise(context); }
  std::vector<OperatorLevel> hierarchy() const override { return current_->hierarchy(); }
  Index strength() const noexcept override { return current_->strength(); }
  Index steps_to_adapt() const noexcept override { return next_choice_; }
  bool adapt(Ctx& context, double steps) override;

 protected:
  void apply_block(Ctx& context, ConstBlockView<T, Space> X, BlockView<T, Space> Y) override {
    current_->apply(context, X, Y);
  }
  void apply_measured_block(Ctx& context, ConstBlockView<T, Space> X,
                            ConstSmallView<double, Space> norms, BlockView<T, Space> Y) override {
    current_->apply(context, X, norms, Y);
  }

 private:
  std::unique_ptr<Preconditioner<T, Ctx>> current_;
  Choose choose_;
  Index next_choice_ = kFirstChoice;  // 0: the choice is made
};

}  // namespace heddle::detail
