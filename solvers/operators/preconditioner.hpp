#pragma once

#include <chrono>
#include <cstddef>
#include <heddle/linalg/blocks/convert.hpp>
#include <heddle/solvers/operators/linear_operator.hpp>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace heddle {

/// The cost of setting up a preconditioner: the time in seconds, and the bytes of the context's
/// memory that the preconditioner keeps. Both are 0 until `stop`.
class SetupCost {
 public:
  /// No cost.
  SetupCost() = default;

  /// Starts the measurement.
  template <class Ctx>
  explicit SetupCost(const Ctx& context)
      : begin_(std::chrono::steady_clock::now()), before_(context.allocation_count().live_bytes) {}

  /// Ends the measurement, after all queued work is done.
  template <class Ctx>
  void stop(Ctx& context) {
    context.synchronize();
    bytes_ = context.allocation_count().live_bytes - before_;
    seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

  double seconds() const noexcept { return seconds_; }
  std::size_t bytes() const noexcept { return bytes_; }  ///< of the context's memory

 private:
  std::chrono::steady_clock::time_point begin_{};
  std::size_t before_ = 0;  // bytes held at the start
  std::size_t bytes_ = 0;
  double seconds_ = 0;
};

template <Scalar T, class Ctx>
class PreconditionerSchedule;
template <Scalar T, class Ctx>
class GridLevels;

/// A level of a preconditioner that consists of matrices of several sizes.
struct OperatorLevel {
  Index rows = 0;
  Index nnz = 0;         ///< stored entries of its matrix
  Index aggregates = 0;  ///< groups of rows that the next coarser level represents. The coarsest: 0
  double seconds = 0;    ///< to make the level and what leads to it
};

/// The report of a `PreconditionerSchedule` on itself.
struct PreconditionerReport {
  std::string name{};                   ///< of the stage in use
  std::string reason{};                 ///< why it is in use. Empty: there was no choice
  std::string precision{};              ///< its precisions, such as "half, then single"
  std::string precision_reason{};       ///< why it has them
  Index degree = 0;                     ///< 0: there is no choice
  double seconds = 0;                   ///< of all setups
  std::size_t bytes = 0;                ///< that they keep, of the context's memory
  std::vector<OperatorLevel> levels{};  ///< the finest first
};

/// Stored entries of all levels per entry of the finest one. 1 without entries.
double operator_complexity(std::span<const OperatorLevel> levels) noexcept;

/// The degree of a preconditioner that can spend more products on a better approximation of A⁻¹.
template <Scalar T, class Ctx>
class VariableDegree {
 public:
  using Space = typename Ctx::Space;

  virtual ~VariableDegree() = default;

  /// That of the next product, at least 1.
  virtual int degree() const noexcept = 0;

  /// Sets the degree of all further products. 0: that of a new preconditioner. One that is limited
  /// keeps to its limit.
  virtual void set_degree(Index degree) = 0;

  /// The degree that suits a solve for eigenvectors near the columns of X (rows×b, b ≥ 1), whether
  /// or not it can be set. energies[j] = x_jᵀ A x_j. Waits for the device.
  virtual Index suitable_degree(Ctx& context, ConstBlockView<T, Space> X,
                                std::span<const double> energies) = 0;
};

/// Y = M⁻¹ X with M⁻¹ ≈ A⁻¹, which must be symmetric positive definite for the solvers here. A
/// derived class implements `apply_block` of `LinearOperator`. A solver goes through the stages of
/// a `PreconditionerSchedule`, of which a preconditioner is one.
template <Scalar T, class Ctx>
class Preconditioner : public LinearOperator<T, Ctx> {
 public:
  using Space = typename Ctx::Space;

  /// The name with its options, such as "chebyshev, degree 12". Empty if no `PreconditionerKind`
  /// has made it.
  const std::string& name() const noexcept { return name_; }

  /// The cost of making it. 0 if it was not measured.
  const SetupCost& setup_cost() const noexcept { return cost_; }

  /// Notes what `name` and `setup_cost` return.
  void note_making(std::string name, const SetupCost& cost) {
    name_ = std::move(name);
    cost_ = cost;
  }

  /// The levels, the finest first. Empty if it has none.
  virtual std::span<const OperatorLevel> levels() const noexcept { return {}; }

  /// Its levels, on which a solver may begin. Null: it has none, or processes share them.
  virtual GridLevels<T, Ctx>* grids() noexcept { return nullptr; }

  /// Its degree, if a solver may set it. Null: there is no choice.
  virtual VariableDegree<T, Ctx>* variable_degree() noexcept { return nullptr; }

  /// y_j = s_j⁻¹ M⁻¹(s_j x_j) (X and Y n×b), if it reads blocks in double precision itself, as a
  /// part of its first pass over vectors. Nothing if it does not. `scales` (b×2) holds s_j and
  /// 1/s_j, see `norm_scales`. Y reads `scales`, and memory of the preconditioner that its next
  /// product overwrites.
  virtual std::optional<ScaledView<T, Space>> scaled_product(
      Ctx& /*context*/, ConstBlockView<double, Space> /*X*/,
      ConstSmallView<double, Space> /*scales*/) {
    return std::nullopt;
  }

  /// This object, if it changes in a solve. Null: it is the same in all steps, except for its
  /// degree.
  virtual PreconditionerSchedule<T, Ctx>* schedule() noexcept { return nullptr; }

 protected:
  using LinearOperator<T, Ctx>::LinearOperator;

  /// Notes the cost alone, in the constructor of a derived class.
  void note_cost(const SetupCost& cost) noexcept { cost_ = cost; }

 private:
  std::string name_;
  SetupCost cost_;
};

/// An operator M⁻¹ ≈ A⁻¹, such as a stored matrix or a factor of A, as a preconditioner.
template <Scalar T, class Ctx>
class OperatorPreconditioner final : public Preconditioner<T, Ctx> {
 public:
  using Space = typename Ctx::Space;

  /// The operator is not null.
  explicit OperatorPreconditioner(std::shared_ptr<LinearOperator<T, Ctx>> op)
      : Preconditioner<T, Ctx>(op->row_range(), op->column_range()), operator_(std::move(op)) {}

  std::optional<double> one_norm() const override { return operator_->one_norm(); }

 protected:
  void apply_block(Ctx& context, ConstBlockView<T, Space> X, BlockView<T, Space> Y) override {
    operator_->apply(context, X, Y);
  }

 private:
  std::shared_ptr<LinearOperator<T, Ctx>> operator_;
};

}  // namespace heddle
