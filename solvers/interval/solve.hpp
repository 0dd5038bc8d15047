#pragma once

#include <heddle/linalg/data/row_range.hpp>
#include <heddle/solvers/interval/interval_eigenpairs.hpp>
#include <heddle/solvers/interval/workspace.hpp>
#include <heddle/solvers/iteration/convergence.hpp>
#include <heddle/solvers/iteration/engine.hpp>
#include <heddle/solvers/iteration/stagnation.hpp>
#include <heddle/solvers/spectrum/chebyshev_series.hpp>
#include <heddle/solvers/spectrum/spectral_density.hpp>
#include <optional>
#include <string>
#include <vector>

namespace heddle::detail {

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

  // The hooks of the engine, see `IterativeSolve`.
  IterationRecord record();
  MonitorState shown(const IterationRecord& record) const;
  std::optional<StopControl::Stop> trouble() const { return std::nullopt; }
  Claim claim();
  std::string refutation() const { return {}; }
  bool at_rounding() const { return false; }
  bool stagnated();

 private:
  void plan();
  void filter();
  void ritz();
  void adapt();
  void finish();

  bool dense_pays(double columns, double degree) const noexcept;
  void set_width(const SpectralDensity& density);
  void draw(Index columns);
  void set_degree(double degree);
  void orthonormalize();
  void read_weights();
  bool contains(double lambda) const noexcept;
  bool settled() const;
  bool trusted() const noexcept;
  Index count_believed() const noexcept;
  double worst_residual() const;
  void end_crowded(std::string reason);
  Index n() const noexcept { return rows_.global; }  // order of the problem
  Index columns() const noexcept { return s_->X.cols(); }
  double value(Index j) const { return s_->verifier.values()[static_cast<std::size_t>(j)]; }
  bool passes(Index j) const { return s_->verifier.passed()[static_cast<std::size_t>(j)]; }
  double residual(Index j) const { return s_->verifier.residuals()[static_cast<std::size_t>(j)]; }

  Ctx& context_;
  const EigenProblem<T, Ctx>& problem_;
  const IntervalOptions& options_;
  RowRange rows_;  // of X
  Index applications_before_;
  EigenResult<T, Space> result_;
  Engine<Ctx> engine_;
  EigenConvergence convergence_;
  StagnationTest stagnation_;
  std::optional<IntervalWorkspace<T, Ctx>> s_;  // for the width of X
  ChebyshevInterval spectrum_;
  // Angles between which F passes: those of the interval, or wider if it is very narrow.
  double from_ = 0;
  double to_ = 0;
  std::vector<double> coefficients_;  // of F, empty where X is the whole space
  Index filtered_ = 0;                // number of times that F was applied to all columns of X
  Index real_ = 0;                    // pairs of the interval, counted by xᵀFx in the last filter
  double least_weight_ = 1;
  double worst_before_ = 0;
  std::uint64_t streams_ = 0;  // random blocks drawn
  // Whether the time limit or the monitor stopped a filter, which is unfinished.
  bool filter_stopped_ = false;
  std::string crowded_;  // the reason to end with more pairs than wanted
};

}  // namespace heddle::detail
