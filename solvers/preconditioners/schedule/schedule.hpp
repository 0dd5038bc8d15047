#pragma once

#include <functional>
#include <heddle/solvers/iteration/archive.hpp>
#include <heddle/solvers/operators/preconditioner.hpp>
#include <heddle/solvers/preconditioners/schedule/stage.hpp>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace heddle {

/// The preconditioner of a solve, which may change on the way. It begins with a first stage, and
/// the solver asks it to decide where the solve tells more than was known before:
///
/// | method | asks | what changes |
/// |---|---|---|
/// | LOBPCG, block CG | where lower precision may prevent progress | the precision, by `raise` |
/// | LOBPCG, smallest end | in each step | the degree, or the strong stage takes over, by `suit` |
/// | CG with one column | after `steps_to_choice` steps | another stage takes over, by `choose` |
///
/// Precision and degree only grow within a solve.
template <Scalar T, class Ctx>
class PreconditionerSchedule final : public Preconditioner<T, Ctx> {
 public:
  using Space = typename Ctx::Space;
  using Stage = PreconditionerStage<T, Ctx>;

  /// The result of a choice.
  struct Choice {
    std::optional<Stage> stage{};  ///< none: the stage in use stays
    std::string reason{};          ///< why, for reports. Empty: as before
    SetupCost cost{};
  };

  /// Makes the strong stage, or none if it does not suit.
  using MakeStrong = std::function<Choice(Ctx&)>;

  /// Chooses by the number of further steps that CG is expected to take with the first stage. None:
  /// it stays for now.
  using Choose = std::function<Choice(Ctx&, double steps)>;

  /// Steps of CG before the first choice and the last one. Between them, their number doubles.
  static constexpr Index kFirstChoice = 24;
  static constexpr Index kLastChoice = 384;

  /// A schedule with this first stage.
  explicit PreconditionerSchedule(Stage first, std::string reason = {}, const SetupCost& cost = {});

  /// Lets a strong stage take over in LOBPCG as soon as the first one asks for at least `degree`.
  /// Until then the first stage gets a higher degree only where it grows by a fifth.
  void become_strong_from(double degree, MakeStrong make) {
    strong_degree_ = degree;
    make_strong_ = std::move(make);
  }

  /// Lets another stage take over in CG with one column.
  void choose_by_steps(Choose choose) {
    choose_ = std::move(choose);
    next_choice_ = kFirstChoice;
  }

  /// Begins a solve for eigenpairs: with the first stage, and the degree of a new one.
  void begin();

  /// The values of `apply` in single precision, see `PreconditionerStage::apply_and_keep`.
  std::optional<ScaledView<float, Space>> apply_and_keep(Ctx& context, ConstBlockView<T, Space> X,
                                                         ConstSmallView<double, Space> norms) {
    return stage().apply_and_keep(context, X, norms);
  }

  using Preconditioner<T, Ctx>::apply;

  /// Y = M⁻¹X for an X whose column norms are known (b×1, in the memory of X).
  void apply(Ctx& context, ConstBlockView<T, Space> X, ConstSmallView<double, Space> norms,
             BlockView<T, Space> Y);

  /// Whether products are computed in a lower precision than T.
  bool is_lowered() const noexcept { return current().is_lowered(); }

  /// Takes the next higher precision. False if the stage in use is in full precision. May allocate.
  bool raise(Ctx& context) { return stage().raise(context); }

  /// Raises the degree to what suits the wanted Ritz vectors X of the smallest end, or lets the
  /// strong stage take over, once the last of their Ritz values θ (ascending) has fallen so much
  /// that the degree may grow by a fifth. A suitable degree grows like 1/√θ.
  void suit(Ctx& context, ConstBlockView<T, Space> X, std::span<const double> theta);

  /// The number of steps after which CG with one column is to call `choose` the next time. 0:
  /// never.
  Index steps_to_choice() const noexcept { return next_choice_; }

  /// Chooses by the number of further steps that are expected with the stage in use. Whether
  /// another one has taken over: recurrences must begin again. May allocate.
  bool choose(Ctx& context, double steps);

  /// Saves or loads the state. Stages that a loaded state needs are made. Throws `ArchiveError` if
  /// the state is one of lower precision, and this schedule has no such step.
  void archive(Ctx& context, detail::Archive& archive);

  PreconditionerReport report() const;

  std::span<const OperatorLevel> levels() const noexcept override { return current().levels(); }
  PreconditionerSchedule* schedule() noexcept override { return this; }

  /// The stage in use.
  const Stage& current() const noexcept { return strong_in_use_ ? *strong_ : first_; }

 protected:
  void apply_block(Ctx& context, ConstBlockView<T, Space> X, BlockView<T, Space> Y) override {
    stage().apply(context, X, Y);
  }

 private:
  static constexpr double kGrowth = 1.2;
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();

  Stage& stage() noexcept { return strong_in_use_ ? *strong_ : first_; }
  bool use_strong(Ctx& context);
  void note(Choice& choice);
  void set_degree(Index degree);
  bool choose_now(Ctx& context, double steps);

  Stage first_;
  std::optional<Stage> strong_{};  // none until it is needed
  MakeStrong make_strong_;         // empty once it has been refused
  double strong_degree_ = kInfinity;
  bool strong_in_use_ = false;
  Choose choose_;
  Index next_choice_ = 0;           // in steps of CG. 0: the choice is made
  std::vector<double> told_steps_;  // the arguments of all calls of `choose`
  Index degree_ = 0;                // as set last. 0: that of a new preconditioner
  double next_theta_ = kInfinity;   // the degree is chosen again when θ is below this
  std::string reason_;
  double choice_seconds_ = 0;     // of all choices within the solve
  std::size_t choice_bytes_ = 0;  // of the last one
};

/// The schedule of a solve with M: M if it is one, else one with M as its only stage, which `own`
/// then holds. Null where M is null.
template <Scalar T, class Ctx>
PreconditionerSchedule<T, Ctx>* schedule_of(Preconditioner<T, Ctx>* M,
                                            std::optional<PreconditionerSchedule<T, Ctx>>& own) {
  if (M == nullptr) return nullptr;
  if (PreconditionerSchedule<T, Ctx>* const given = M->schedule()) return given;
  // Without ownership: M outlives the solve.
  using Shared = std::shared_ptr<Preconditioner<T, Ctx>>;
  own.emplace(PreconditionerStage<T, Ctx>(Shared(Shared(), M)));
  return &*own;
}

}  // namespace heddle
