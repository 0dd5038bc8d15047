#pragma once

#include <heddle/linalg/base/clock.hpp>
#include <heddle/linalg/context/apart.hpp>
#include <heddle/solvers/iteration/engine.hpp>
#include <heddle/solvers/lanczos/nearest/solve.hpp>
#include <heddle/solvers/lanczos/slices/sliced_eigenpairs.hpp>
#include <optional>
#include <string>
#include <vector>

namespace heddle::detail {

/// A part of the interval between certain factors, whose eigenvalues are counted and not found yet.
struct Slice {
  double lower = 0;
  double upper = 0;
  LimitCounts counts{};
  Index pairs = 0;  ///< that are searched for at once
};

/// One solve of `sliced_eigenpairs`. The loop in `run` consists of the steps declared here. Several
/// processes do them together, except for factors and slices, which each does `Apart`.
template <Scalar T, class Ctx>
class SliceSolve {
 public:
  using Space = typename Ctx::Space;

  /// Everything is kept by reference and must outlive the solve.
  SliceSolve(Ctx& context, const EigenProblem<T, Ctx>& problem, const EigenProblem<T, Ctx>& whole,
             IndefiniteInverse<T, Ctx>& inverse, const IntervalOptions& options,
             const Monitor& monitor);

  EigenResult<T, Space> run();

 private:
  /// A number where a factor counts.
  struct Counted {
    double at = 0;
    Index below = 0;
  };

  /// Numbers below and above a place that is looked for.
  struct Bracket {
    Counted low, high;
  };

  void plan();
  void divide();
  bool goes_on();
  void next();
  void join();
  void finish();

  bool count_ends();
  void count_both_ends();
  std::optional<Counted> seam(Index target, Index apart);
  Index products() const;
  std::optional<Counted> count_outwards(double end, double direction);
  std::optional<Counted> count_beyond(double direction, double most);
  bool solve_dense();
  bool dense_pays(Index pairs) const;
  std::optional<double> place(Slice& slice, Index& wanted);
  double guess(const Slice& slice, const Bracket& bracket, Index target, int tries) const;
  void split(Slice& slice, const Counted& here);
  void solve_slice(const Slice& slice, double sigma, Index wanted);
  MultiVector<T, Space> vectors_near(const Slice& slice);
  Monitor monitor_of_part() const;
  void append_history(const EigenResult<T, Space>& part);
  void take(const Slice& slice, EigenResult<T, Space>& part, const NearestPairs& pairs, bool all);
  Index keep(EigenResult<T, Space>& part, const CountedInterval& covered, bool passed_only);
  bool measure();
  Verdict judge(const EigenConvergence& convergence);
  void judge_end();
  void report();
  bool confirms(const EigenConvergence& convergence);
  void end_with(SolveStatus status, std::string reason);

  Ctx& context_;
  const EigenProblem<T, Ctx>& problem_;
  const EigenProblem<T, Ctx>& whole_;  // with all rows in this process
  Processes* team_;                    // null: this process alone
  IndefiniteInverse<T, Ctx>& inverse_;
  const IntervalOptions& options_;
  const Monitor& monitor_;
  RowRange rows_;
  Index n_;  // order of the problem
  Index block_;
  Index products_before_, solves_before_;
  Clock::time_point begin_ = Clock::now();
  EigenResult<T, Space> result_;
  std::vector<IterationRecord> unused_;  // history of the engine, which iterates nothing
  Engine<Ctx> engine_;
  EigenConvergence convergence_;
  double tolerance_;           // of each slice: not below rounding once that has ended one
  Slice interval_;             // all of it
  std::vector<Slice> slices_;  // the lowest one last
  MultiVector<T, Space> X_;    // the vectors found, of several processes own ones until `join`
  std::vector<BoundedValue> found_;  // their values
  Index found_elsewhere_ = 0;        // pairs of the other processes
  std::optional<EigenVerifier<T, Ctx>> verifier_;
  std::vector<double> ends_, end_widths_, own_bounds_, own_errors_;  // what `judge` refers to
  Index solved_ = 0;                                                 // slices
  double spacing_ = 0;  // of eigenvalues in the last slice
  bool dense_ = false;
  bool proven_ = true;     // whether all slices so far are
  bool lenient_ = false;   // whether pairs passed as far as rounding allows
  bool complete_ = false;  // whether all pairs were found, though rounding limits their residuals
  std::string reason_;
};

}  // namespace heddle::detail
