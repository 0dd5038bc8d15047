#pragma once

#include <concepts>
#include <functional>
#include <heddle/solvers/operators/preconditioner.hpp>
#include <heddle/solvers/preconditioners/schedule/rounded_products.hpp>
#include <heddle/spmm/low_precision/precision.hpp>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace heddle {

/// One stage of a `PreconditionerSchedule`: a preconditioner for blocks of T, which a solve in
/// double precision may begin in lower precision. It then goes up in steps: products in a type
/// shorter than single precision, single precision, double precision.
template <Scalar T, class Ctx>
class PreconditionerStage final : public LinearOperator<T, Ctx> {
 public:
  using Space = typename Ctx::Space;
  using Full = Preconditioner<T, Ctx>;
  using Single = Preconditioner<float, Ctx>;
  using MakeFull = std::function<std::unique_ptr<Full>(Ctx&)>;
  using MakeSingle = std::function<std::unique_ptr<Single>(Ctx&)>;

  /// A preconditioner in full precision. Throws `InvalidArgument` if it is null.
  explicit PreconditionerStage(std::shared_ptr<Full> full);

  /// `lowered` has products in this precision. Later steps call `make_single`, if there is one, and
  /// then `make_full`. Throws `InvalidArgument` if `lowered` is null.
  PreconditionerStage(std::unique_ptr<Single> lowered, ProductPrecision products,
                      MakeFull make_full,
                      MakeSingle make_single = {}) requires std::same_as<T, double>;

  /// The strings that `name` and `precision_reason` return.
  void describe(std::string name, std::string precision_reason) {
    name_ = std::move(name);
    precision_reason_ = std::move(precision_reason);
  }

  /// The values of `apply` for X (n×b) with these column norms (b×1, in the memory of X), in single
  /// precision, where they were computed. Valid until the next product. Nothing in full precision.
  /// May allocate.
  std::optional<ScaledView<float, Space>> apply_and_keep(Ctx& context, ConstBlockView<T, Space> X,
                                                         ConstSmallView<double, Space> norms);

  bool is_lowered() const noexcept { return lowered_.has_value(); }

  /// Takes the next higher precision for all further products. The memory of the lower one is
  /// released first. The same happens at the next product after `set_degree` with more than a short
  /// type allows. False if it is in full precision. Throws `OutOfMemory`.
  bool raise(Ctx& context);

  /// The same until there were `times` steps.
  void raise_to(Ctx& context, Index times);

  /// The number of steps so far.
  Index raised() const noexcept { return raised_; }

  /// As those of `VariableDegree`. The degree is 0 where there is no choice.
  Index degree() const noexcept;
  void set_degree(Index degree);
  Index suitable_degree(Ctx& context, ConstBlockView<T, Space> X, std::span<const double> energies);

  std::span<const OperatorLevel> levels() const noexcept;

  /// `Preconditioner::grids` of the preconditioner in use. The first one is in full precision, the
  /// other one in single precision. Null where that is not in use.
  GridLevels<T, Ctx>* grids() const noexcept {
    return !is_lowered() && full_ != nullptr ? full_->grids() : nullptr;
  }
  GridLevels<float, Ctx>* lowered_grids() const noexcept {
    return is_lowered() ? lowered_->M().grids() : nullptr;
  }

  /// For reports: what it is, its precisions ("half, then single"), and why it has them.
  const std::string& name() const noexcept { return name_; }
  std::string precision() const;
  std::string precision_reason() const;

 protected:
  void apply_block(Ctx& context, ConstBlockView<T, Space> X, BlockView<T, Space> Y) override;

 private:
  VariableDegree<T, Ctx>* full_degree() const noexcept;
  VariableDegree<float, Ctx>* lowered_degree() const noexcept;
  void replace(Ctx& context);
  Full& full(Ctx& context);

  std::string name_, precision_reason_;
  ProductPrecision products_ = ProductPrecision::single_precision;  // of the first step
  bool began_lowered_ = false;
  MakeFull make_full_;
  MakeSingle make_single_;  // empty once it was called
  Index raised_ = 0;
  bool outgrown_ = false;                        // whether the degree is beyond a short type
  Index degree_ = 0;                             // as set last
  std::optional<RoundedProducts<Ctx>> lowered_;  // none in full precision
  std::shared_ptr<Full> full_;                   // null until `full` has made it
};

}  // namespace heddle
