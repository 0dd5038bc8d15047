#pragma once

#include <heddle/linalg/context/owned_host_context.hpp>
#include <heddle/solvers/iteration/eigen_verifier.hpp>
#include <heddle/solvers/iteration/engine.hpp>
#include <heddle/solvers/iteration/error_bounds.hpp>
#include <heddle/solvers/iteration/stagnation.hpp>
#include <heddle/solvers/krylov/krylov_basis.hpp>
#include <heddle/solvers/krylov/lanczos_ritz.hpp>
#include <heddle/solvers/nearest/pencil_inverse.hpp>
#include <heddle/solvers/nearest/shape.hpp>
#include <heddle/solvers/nearest/target.hpp>
#include <optional>
#include <string>
#include <vector>

namespace heddle::detail {

/// The memory of a solve with a basis of one size.
template <Scalar T, class Ctx>
struct NearestStorage {
  using Space = typename Ctx::Space;

  NearestStorage(Ctx& context, const RowRange& rows, const NearestShape& shape, bool pencil);

  NearestShape shape;
  KrylovBasis<T, Ctx> basis;
  LanczosRitz ritz;
  EigenVerifier<T, Ctx> verifier;
  SmallMatrix<double, Space> coefficients;  // of Ritz vectors
  OwnedHostContext host;
  SmallMatrix<double, HostSpace> chosen;  // columns of Z
  SmallMatrix<double, HostSpace> theta;   // their θ
  MultiVector<T, Space> product;          // A X
  MultiVector<T, Space> X;                // n×pairs
};

/// What may follow a cycle.
enum class AfterNearest {
  thick_restart,
  search,      ///< a random block searches for pairs that the count shows to be missing
  move_shift,  ///< new start with another s, because s is so near to an eigenvalue that rounding
               ///< spoils other pairs
};

/// One solve of `nearest_eigenpairs`. The loop in `run` consists of the steps declared here.
template <Scalar T, class Ctx>
class NearestSolve {
 public:
  using Space = typename Ctx::Space;
  using Block = BlockView<T, Space>;

  /// Everything is kept by reference and must outlive the solve.
  NearestSolve(Ctx& context, const EigenProblem<T, Ctx>& problem,
               IndefiniteInverse<T, Ctx>& inverse, const NearestOptions& options,
               const Monitor& monitor);

  EigenResult<T, Space> run();

  // The hooks of the engine, see `IterativeSolve`. An iteration is a cycle.
  IterationRecord record();
  MonitorState shown(const IterationRecord& record) const;
  std::optional<StopControl::Stop> trouble() const { return std::nullopt; }
  Claim claim();
  std::string refutation() const { return s_->verifier.refutation(convergence_); }
  bool at_rounding() const { return convergence_.all_at_noise(result_.residuals); }
  bool stagnated();

 private:
  // The steps of the loop.
  void plan();
  bool solve_dense();
  bool cycle_ends();
  void ritz();
  void restart();
  void finish();

  bool place_shift(double first_step);
  bool factor(double sigma);
  void start();
  void thick_restart();
  void search();
  void move_shift();
  bool shift_is_too_near() const;
  void make_storage(Index pairs);
  bool take_ritz_pairs();
  bool settled(Index j) const;
  bool all_settled() const;
  Index awaited() const;
  double lambda_at(double theta) const;
  void collect();
  void refine(Index first);
  Verdict measure();
  Verdict judge(const EigenConvergence& convergence);
  bool count();
  std::optional<Index> counted(const CountedInterval& ends);
  Index inside(const CountedInterval& ends) const;
  std::vector<std::size_t> best() const;
  void list_others();
  void bound_errors();
  void end_if_lost(const FrontStatus& status);
  void set_norms();
  void write_reason();
  Index n() const noexcept { return rows_.global; }

  Ctx& context_;
  const EigenProblem<T, Ctx>& problem_;
  IndefiniteInverse<T, Ctx>& inverse_;
  const NearestOptions& options_;
  RowRange rows_;
  Index applications_before_, solves_before_;
  EigenResult<T, Space> result_;
  Engine<Ctx> engine_;
  EigenConvergence convergence_;
  StagnationTest stagnation_;
  std::optional<NearestStorage<T, Ctx>> s_;
  std::optional<PencilInverse<T, Ctx>> F_;  // none in a dense solve
  Target target_;
  double shift_ = 0;                        // s of the basis
  Index wanted_ = 0;                        // pairs of the result
  std::optional<CountedInterval> missing_;  // ends between which eigenvalues are missing
  Index missed_ = 0;                        // their number
  Index expected_ = 0;                      // of eigenvalues between these ends
  struct BoundedValue {
    double value;
    double error;
  };
  std::vector<BoundedValue> locked_;  // values of the locked vectors
  ErrorBounds bounds_;                // of the eigenvalues of F
  std::vector<double> own_errors_;    // of the verified values, by these bounds
  std::vector<double> ritz_values_;   // λ of the Ritz pairs of the basis
  std::vector<Index> leading_;        // Ritz pairs on the wanted side, nearest first
  std::vector<double> others_;        // Ritz values next to the verified ones
  std::vector<double> other_widths_;  // how far they may move towards σ
  Index count_ = 0;                   // columns of X with pairs
  double strictness_ = 1;
  double worst_ = 0;      // scaled residual of the leading pairs
  bool lenient_ = false;  // whether pairs passed as far as rounding allows
  AfterNearest next_ = AfterNearest::thick_restart;
  bool dense_ = false;
  bool verified_ = false;  // whether X holds the pairs of the last cycle
  bool moved_ = false;     // whether s is not σ
  bool proven_ = false;
  std::string trouble_;
};

}  // namespace heddle::detail
