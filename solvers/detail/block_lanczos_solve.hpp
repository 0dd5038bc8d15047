#pragma once

#include <chrono>
#include <heddle/solvers/detail/block_lanczos_workspace.hpp>
#include <heddle/solvers/detail/convergence.hpp>
#include <optional>
#include <string_view>

namespace heddle {

/// One block Lanczos solve: the steps that the loop in `run` is made of, over the memory of a
/// workspace.
template <Scalar T, class Ctx>
class BlockLanczosSolve {
 public:
  using Space = typename Ctx::Space;
  using Block = BlockView<T, Space>;
  using Storage = typename BlockLanczosWorkspace<T, Ctx>::Storage;

  /// Everything is kept by reference and must outlive the solve.
  BlockLanczosSolve(Ctx& context, const EigenProblem<T, Ctx>& problem,
                    const BlockLanczosOptions& options, const Monitor& monitor, Storage& storage);

  /// Iterates until the pairs are converged and verified, or something else ends it; the result
  /// then stands in the storage.
  void run();

 private:
  // The steps, in the order of the loop.
  void start();
  bool cycle_ends();
  void ritz();
  bool finished();
  void restart();
  void finish();

  void solve_dense();
  bool solve_ritz();
  bool look_is_cheap() const;
  bool nothing_is_left();
  bool next_is_at_rest() const;
  double upper_end() const;
  void set_norms();
  void count_converged();
  void count_measured();
  bool confirmed();
  bool misses_a_pair() const;
  bool others_would_show() const;
  bool same_value(double a, double b) const;
  void end_unverified();
  void begin_check();
  void give_up_check();
  bool improve_filter();
  void lock_exact(Index kept);
  void collect_pairs();
  bool verify();
  bool measure(Index count);
  void record();
  bool monitor_agrees();
  void adopt(const FrontStatus& status);
  void end(SolveStatus status, std::string_view reason);
  double worst_residual() const;
  double residual_of(Index j) const;
  double seconds() const;

  Ctx& context_;
  const EigenProblem<T, Ctx>& problem_;
  const BlockLanczosOptions& options_;
  const Monitor& monitor_;
  Storage& s_;
  KrylovBasis<T, Ctx>& basis_;
  LanczosRitz& ritz_;
  EigenResult<T, Space>& result_;
  EigenConvergence convergence_;
  StagnationTest stagnation_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  Index applications_before_;
  double norm_B_ = 1;
  bool norms_known_ = false;
  double largest_theta_ = 0;   // the largest |θ| met: ‖F‖ as far as it is known
  Index leading_ = 0;          // leading active pairs that pass the criterion
  Index failed_checks_ = 0;    // claims of convergence that fresh products refuted
  double strictness_ = 1;      // of the criterion; falls with each failed check
  bool checking_ = false;      // all wanted pairs are locked, a random block looks for others
  bool check_due_ = false;     // the next restart draws it
  bool check_failed_ = false;  // it found one, or fresh products refuted the pairs
  bool has_pairs_ = false;     // the Ritz pairs at hand are those of the basis
  DenseFailure failure_ = DenseFailure::none;  // of the last Rayleigh–Ritz step of a check
  bool measured_ = false;                      // the result holds verified numbers
  std::optional<SolveStatus> ended_;
  std::string_view reason_;
};

}  // namespace heddle
