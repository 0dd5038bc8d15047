#pragma once

#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/solvers/iteration/archive.hpp>
#include <heddle/solvers/operators/linear_operator.hpp>
#include <heddle/solvers/problem/options.hpp>
#include <limits>
#include <span>

namespace heddle::detail {

/// T⁻¹ of a LOBPCG solve, in the precision and with the strength of the current step. Both only
/// grow within a solve.
template <Scalar T, class Ctx>
class StepPreconditioner {
 public:
  using Space = typename Ctx::Space;

  /// Sets the strength of `preconditioner` to that of a new one. Null: T = I.
  StepPreconditioner(Preconditioner<T, Ctx>* preconditioner, Which which) noexcept
      : preconditioner_(preconditioner), which_(which) {
    if (preconditioner_ != nullptr) preconditioner_->set_strength(strength_);
  }

  /// W = T⁻¹R.
  void apply(Ctx& context, ConstBlockView<T, Space> R, BlockView<T, Space> W) {
    if (preconditioner_ != nullptr) {
      preconditioner_->apply(context, R, W);
    } else {
      copy(context, R, W);
    }
  }

  /// Computes T⁻¹ in the next higher precision from now on. False if it is in full precision.
  bool raise(Ctx& context) {
    if (preconditioner_ == nullptr || !preconditioner_->is_lowered()) return false;
    preconditioner_->raise(context);
    ++raised_;
    return true;
  }

  /// Raises the strength to what suits the wanted Ritz vectors X, once the last of their Ritz
  /// values θ (ascending) has fallen so much that it may grow by `kGrowth`. A suitable strength
  /// grows like 1/√θ. Does nothing at the largest end, because T approximates A at the smallest end
  /// only.
  void suit(Ctx& context, ConstBlockView<T, Space> X, std::span<const double> theta) {
    if (which_ != Which::smallest || theta.empty()) return;
    if (preconditioner_ == nullptr || preconditioner_->strength() == 0) return;
    const double last = theta.back();
    if (!(last < next_choice_)) return;
    const Index suitable = preconditioner_->suitable_strength(context, X, theta);
    if (suitable > preconditioner_->strength()) {
      strength_ = suitable;
      preconditioner_->set_strength(strength_);
    }
    const double missing = static_cast<double>(suitable) /
                           (kGrowth * static_cast<double>(preconditioner_->strength()));
    next_choice_ = last > 0 ? last * missing * missing : -kInfinity;
  }

  /// Saves or loads the strength and the precision, which an earlier solve may have raised.
  void archive(Ctx& context, Archive& archive) {
    if (preconditioner_ == nullptr) return;
    bool lowered = preconditioner_->is_lowered();
    Index raised = raised_;
    archive.values(strength_, next_choice_, lowered, raised);
    if (!archive.loading()) return;
    preconditioner_->set_strength(strength_);
    while (raised_ < raised && raise(context)) continue;
    if (!lowered) {
      while (raise(context)) continue;
      return;
    }
    if (preconditioner_->is_lowered()) return;
    throw ArchiveError(
        "belongs to a solve with a preconditioner in lower precision, this one is in full "
        "precision");
  }

 private:
  static constexpr double kGrowth = 1.2;
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();

  Preconditioner<T, Ctx>* preconditioner_;
  Which which_;
  Index strength_ = 0;  // 0: that of a new preconditioner
  Index raised_ = 0;    // how often the precision was raised
  // The strength is chosen again when the last wanted Ritz value is below this.
  double next_choice_ = kInfinity;
};

}  // namespace heddle::detail
