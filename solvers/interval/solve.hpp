#pragma once

#include <heddle/linalg/data/row_range.hpp>
#include <heddle/solvers/interval/filter_plan.hpp>
#include <heddle/solvers/interval/filtered_search.hpp>
#include <heddle/solvers/interval/interval_eigenpairs.hpp>
#include <heddle/solvers/interval/workspace.hpp>
#include <heddle/solvers/iteration/convergence.hpp>
#include <heddle/solvers/iteration/engine.hpp>
#include <heddle/solvers/iteration/stagnation.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace heddle::detail {

/// The actions that may follow the test of a basis.
enum class AfterTest {
  expand,     ///< another step, after a restart if the basis is full
  lock,       ///< all candidates have converged, and a random block checks for others
  search,     ///< the check found others, and a random block searches for these
  make_room,  ///< from nothing, with memory for more pairs or with a sharper filter
};

/// One solve of `interval_eigenpairs`. The loop in `run` consists of the steps declared here.
template <Scalar T, class Ctx>
class IntervalSolve {
 public:
  using Space = typename Ctx::Space;
  using Block = BlockView<T, Space>;

  /// Everything is kept by reference and must outlive the solve.
  IntervalSolve(Ctx& context, const EigenProblem<T, Ctx>& problem, const IntervalOptions& options,
                const Monitor& monitor);

  EigenResult<T, Space> run();

  // The hooks of the engine, see `IterativeSolve`. An iteration ends with a test of the basis.
  IterationRecord record();
  MonitorState shown(const IterationRecord& record) const;
  std::optional<StopControl::Stop> trouble() const { return std::nullopt; }
  Claim claim();
  std::string refutation() const { return {}; }
  bool at_rounding() const { return false; }
  bool stagnated();

 private:
  void plan();
  void multiply();
  void ritz();
  void restart();
  void finish();

  bool dense_pays(double operations) const noexcept;
  double width(std::optional<double> norm) const noexcept;
  SpectralDensity estimate_density();
  void plan_dense();
  void plan_basis(Index columns);
  void set_filter(Index degree);
  void start(Index first_test);
  void refill();
  void make_room();
  void widen_spectrum();
  void measure();
  bool settled() const;
  bool contains(Index pair) const;
  double worst_residual() const;
  void end_crowded(std::string reason);
  void end_if_lost(const FrontStatus& status);
  Index n() const noexcept { return rows_.global; }  // order of the problem

  Ctx& context_;
  const EigenProblem<T, Ctx>& problem_;
  const IntervalOptions& options_;
  RowRange rows_;
  Index applications_before_;
  EigenResult<T, Space> result_;
  Engine<Ctx> engine_;
  EigenConvergence convergence_;
  StagnationTest stagnation_;
  std::optional<IntervalPairs<T, Ctx>> s_;
  std::optional<FilteredSearch<T, Ctx>> search_;  // none in a dense solve
  ChebyshevInterval spectrum_;
  AngleRange range_;  // of the interval
  double worst_at_restart_ = 0;
  bool measured_all_ = true;  // whether X had room for all candidates
  bool in_basis_ = false;     // whether X holds candidates of the basis, not only locked ones
  AfterTest next_ = AfterTest::expand;
  std::string crowded_;  // the reason to end with more pairs than wanted
};

}  // namespace heddle::detail
