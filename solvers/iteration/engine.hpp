#pragma once

#include <concepts>
#include <heddle/solvers/iteration/checkpointer.hpp>
#include <heddle/solvers/iteration/stop_control.hpp>
#include <heddle/solvers/problem/monitor.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heddle::detail {

/// The outcome of a solve's claim that it has converged.
enum class Claim {
  none,       ///< not claimed, or refuted with progress that makes another attempt worthwhile
  confirmed,  ///< fresh products confirm it
  refuted,    ///< fresh products do not confirm it
};

/// The hooks that a solve offers to `Engine::finish_iteration`, in the order of the calls. Each
/// hook may call `Engine::end`. The steps that follow are then skipped.
///
///   record()       the numbers of the iteration. The engine adds the time.
///   shown(record)  what the monitor is shown. Called only where there is a monitor.
///   trouble()      why the iteration is worthless (such as residuals that are not finite), if it
///                  is. No checkpoint is then written.
///   claim()        where the solve takes itself for converged, checks that with fresh products.
///   refutation()   what fresh products found instead, for a refuted claim.
///   at_rounding()  whether the residuals that refuted a claim are nothing but rounding.
///   stagnated()    whether residuals have stopped falling.
template <class Solve>
concept IterativeSolve = requires(Solve& solve, const IterationRecord& record) {
  { solve.record() } -> std::same_as<IterationRecord>;
  { solve.shown(record) } -> std::same_as<MonitorState>;
  { solve.trouble() } -> std::same_as<std::optional<StopControl::Stop>>;
  { solve.claim() } -> std::same_as<Claim>;
  { solve.refutation() } -> std::same_as<std::string>;
  { solve.at_rounding() } -> std::same_as<bool>;
  { solve.stagnated() } -> std::same_as<bool>;
};

/// An `IterativeSolve` that can resume from a checkpoint.
///
///   archive(archive)       saves or loads what an iteration begins with, except the long blocks
///   for_each_block(visit)  visit(block) for the long blocks that an iteration begins with
template <class Solve>
concept ResumableSolve = IterativeSolve<Solve> && requires(Solve& solve, Archive& archive) {
  solve.archive(archive);
  solve.for_each_block([](auto) {});
};

/// The parts of a solve that all iterative methods share: the history, the monitor, limits,
/// checkpoints, and the verification of claims of convergence.
///
/// A solve calls `capture` at the beginning of each iteration, and `finish_iteration` when the
/// residuals of that iteration are known, until `ended` returns true. Everything is kept by
/// reference and must outlive the engine.
template <Context Ctx>
class Engine {
 public:
  using Stop = StopControl::Stop;

  /// `options`: `EigenOptions` or `LinearOptions`. `identity`: see `Checkpointer`. The solve ends
  /// with the `most_refuted`-th refuted claim of convergence. Throws as `check_checkpoint_file`.
  template <class Options>
  Engine(Ctx& context, const Options& options, std::vector<std::string> identity,
         const Monitor& monitor, std::vector<IterationRecord>& history, Index most_refuted)
      : context_(context),
        monitor_(monitor),
        history_(history),
        control_(options.max_iterations, options.time_limit_s),
        checkpointer_(options.checkpoint, std::move(identity)),
        most_refuted_(most_refuted) {}

  /// Whether the options ask to resume from a checkpoint.
  bool resumes() const noexcept { return checkpointer_.resumes(); }

  /// Restores `solve` and the history from the checkpoint. False if the options do not ask for it.
  /// Throws `InputError` for a file that is missing, damaged or of another solve.
  template <ResumableSolve Solve>
  bool resume(Solve& solve) {
    if (!resumes()) return false;
    checkpointer_.resume(context_, history_, state_of(solve), blocks_of(solve));
    return true;
  }

  /// Copies the numbers with which the iteration begins, for a checkpoint. The long blocks must not
  /// change before `finish_iteration`.
  template <ResumableSolve Solve>
  void capture(Solve& solve) {
    checkpointer_.capture(history_, state_of(solve));
  }

  /// Finishes an iteration. Ends the solve for the first of these reasons that applies:
  ///
  ///   step                                         ends the solve
  ///   1  history ← record()                        –
  ///   2  stop ← monitor, iteration or time limit   at step 6
  ///   3  trouble()                                 with the trouble
  ///   4  write the checkpoint, if stop or due      –
  ///   5  claim()                                   if confirmed: `converged`
  ///                                                if refuted too often: `stagnated` where
  ///                                                at_rounding(), else `verification_failed`
  ///   6  stop?                                     `interrupted`, `max_iterations`, `time_limit`
  ///   7  stagnated()                               `stagnated`
  ///
  /// `converged`: the reason that the result gives with that status.
  template <IterativeSolve Solve>
  void finish_iteration(Solve& solve, std::string_view converged) {
    const IterationRecord& record = append_record(solve);
    const bool ends = monitor_.iteration && !monitor_.iteration(solve.shown(record));
    const std::optional<Stop> stop =
        control_.requested(context_, record.iteration, ends || monitor_.stops());
    if (const std::optional<Stop> trouble = solve.trouble()) return control_.end(*trouble);
    write_checkpoint(solve, stop.has_value());
    judge_claim(solve, converged);
    if (ended()) return;
    if (stop) return control_.end(*stop);
    if (solve.stagnated()) {
      end(SolveStatus::stagnated, "residuals stopped falling at the level of rounding");
    }
  }

  /// history ← history, record(), with the time.
  template <class Solve>
  const IterationRecord& append_record(Solve& solve) {
    IterationRecord& record = history_.emplace_back(solve.record());
    record.seconds = control_.seconds();
    return record;
  }

  /// Ends the solve. Only the first call has an effect. The characters of `reason` must outlive the
  /// engine.
  void end(SolveStatus status, std::string_view reason) noexcept { control_.end(status, reason); }
  void end(const Stop& stop) noexcept { control_.end(stop); }

  bool ended() const noexcept { return control_.ended(); }
  SolveStatus status() const noexcept { return control_.status(); }
  std::string_view reason() const noexcept { return control_.reason(); }

  /// Whether the monitor of any process of the context asks for the end. To be asked between
  /// products.
  bool asked_to_stop() const { return context_.agree(monitor_.stops()); }

  /// The same for the monitor or the time limit.
  bool stop_requested() const { return asked_to_stop() || control_.out_of_time(context_); }

  /// The same with `grace` seconds beyond the time limit.
  bool stop_requested(double grace) const { return asked_to_stop() || less_time_left_than(-grace); }

  /// Ends the solve within an iteration, after `stop_requested` was true.
  void end_as_requested() {
    end(asked_to_stop() ? StopControl::kOnRequest : StopControl::kOutOfTime);
  }

  /// Writes a checkpoint of the present state of `solve`, where checkpoints are kept, for a solve
  /// that ends within an iteration.
  template <ResumableSolve Solve>
  void keep_unfinished(Solve& solve) {
    capture(solve);
    write_checkpoint(solve, true);
  }

  /// Announces a stage that may take long to the monitor.
  void begin_stage(std::string_view name) const { monitor_.begin_stage(name); }

  /// Whether less than `seconds` are left until the time limit on any process of the context.
  bool less_time_left_than(double seconds) const {
    return control_.less_time_left_than(context_, seconds);
  }

  /// After the end: removes the checkpoint of a solve that has converged, writes the sentence of
  /// the result and returns its status.
  SolveStatus conclude(const StopControl::Account& account, std::string& sentence) {
    if (status() == SolveStatus::converged) checkpointer_.discard();
    control_.write_sentence(account, sentence);
    return status();
  }

 private:
  template <class Solve>
  auto state_of(Solve& solve) {
    return [&](Archive& archive) {
      control_.archive(archive);
      archive.values(refuted_);
      solve.archive(archive);
    };
  }

  template <class Solve>
  static auto blocks_of(Solve& solve) {
    return [&](const auto& visit) { solve.for_each_block(visit); };
  }

  template <class Solve>
  void write_checkpoint(Solve& solve, bool stops) {
    if constexpr (ResumableSolve<Solve>) {
      if (!checkpointer_.due(context_, stops)) return;
      checkpointer_.write(context_, history_, blocks_of(solve));
    }
  }

  template <class Solve>
  void judge_claim(Solve& solve, std::string_view converged) {
    const Claim claim = solve.claim();
    if (claim == Claim::confirmed) end(SolveStatus::converged, converged);
    if (claim != Claim::refuted || ++refuted_ < most_refuted_) return;
    if (solve.at_rounding()) {
      end(SolveStatus::stagnated, "residuals stopped falling at the level of rounding");
    } else {
      refutation_ = "the iteration claims convergence, products made afresh do not confirm it (" +
                    solve.refutation() + ")";
      end(SolveStatus::verification_failed, refutation_);
    }
  }

  Ctx& context_;
  const Monitor& monitor_;
  std::vector<IterationRecord>& history_;
  StopControl control_;
  Checkpointer checkpointer_;
  Index most_refuted_;
  std::string refutation_;
  Index refuted_ = 0;  // claims of convergence that fresh products refuted
};

}  // namespace heddle::detail
