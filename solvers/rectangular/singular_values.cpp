#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/iteration/convergence.hpp>
#include <heddle/solvers/iteration/earlier_parts.hpp>
#include <heddle/solvers/iteration/require.hpp>
#include <heddle/solvers/iteration/stop_control.hpp>
#include <heddle/solvers/lanczos/block_lanczos.hpp>
#include <heddle/solvers/lobpcg/lobpcg.hpp>
#include <heddle/solvers/rectangular/null_vectors.hpp>
#include <heddle/solvers/rectangular/singular_values.hpp>
#include <heddle/solvers/rectangular/triplet_extraction.hpp>
#include <limits>
#include <string_view>
#include <utility>

namespace heddle {

using namespace detail;
namespace {

/// Up to this length of the shorter side and this many entries, the decomposition on the host takes
/// half a second or so, and finds what no iteration can: all vectors of values near zero.
constexpr Index kSmallOrder = 512;
constexpr double kSmallEntries = 1 << 20;

/// Where the eigensolver does not get there, a matrix of up to this many entries, a quarter of a
/// gigabyte, is decomposed, too, if that takes no longer than this: nothing interrupts it.
constexpr double kMostEntries = 1 << 25;
constexpr double kLongestDecomposition = 120;  // seconds

/// Operations of the decomposition of a matrix with sides m ≥ n.
double operations_to_decompose(double m, double n) { return (25 * n + 6 * m) * n * n; }

/// Measured with one thread: 1.5·10¹⁰ to 2·10¹⁰ for 1424×712 to 3000×1500.
constexpr double kOperationsPerSecond = 1e10;

double seconds_to_decompose(double m, double n) {
  return operations_to_decompose(m, n) / kOperationsPerSecond;
}

bool decomposable(double m, double n) {
  return m * n <= kMostEntries && seconds_to_decompose(m, n) <= kLongestDecomposition;
}

/// Operations of the decomposition that take as long as a column's product with AᵀA, for each row
/// and column of A. Measured on the host with some five entries in a row; on a GPU an estimate, as
/// the decomposition runs on the host.
template <class Ctx>
constexpr double kOperationsOfProduct = std::same_as<Ctx, HostContext> ? 40 : 4;

/// Up to this length of the shorter side, whatever the longer one is, V = I costs less than
/// iterating.
constexpr Index kDenseOrder = 128;

/// The shorter side must be this many times nev, to leave an eigensolver's block room to move.
constexpr Index kRoom = 4;

constexpr int kMaxRounds = 4;
constexpr double kMargin = 0.3;  // of what is allowed, for an eigensolver to aim at

/// The least tolerance that an eigensolver can meet.
template <Scalar T>
constexpr double kLeastTolerance = 4 * static_cast<double>(std::numeric_limits<T>::epsilon());

/// Another stream than those of the eigensolvers and of the extraction.
constexpr std::uint64_t kNullStream = 1u << 21;

/// Singular values up to this share of ‖A‖₂ are zero to rounding.
template <Scalar T>
constexpr double kZero = 100 * static_cast<double>(std::numeric_limits<T>::epsilon());

/// How triplets of a matrix are found.
enum class Route {
  decompose,  ///< on the host, where the matrix is small
  dense,      ///< from the space of all vectors of the shorter side
  iterate,
};

Route route_for(const SingularOptions& options, Index m, Index n) {
  const Index shorter = std::min(m, n);
  const double entries = static_cast<double>(m) * static_cast<double>(n);
  if (shorter <= kSmallOrder && entries <= kSmallEntries) return Route::decompose;
  return shorter <= kDenseOrder || shorter < kRoom * options.nev ? Route::dense : Route::iterate;
}

BlockLanczosOptions lanczos_options(const SingularOptions& options) {
  return {static_cast<const EigenOptions&>(options)};
}

/// Of the eigensolver on AᵀA of order n.
double eigensolver_memory_bytes(const SingularOptions& options, Index n, std::size_t scalar_size) {
  return options.solver == SingularSolver::lobpcg
             ? lobpcg_memory_bytes(options, n, 0, false, scalar_size)
             : block_lanczos_memory_bytes(lanczos_options(options), n, false, scalar_size);
}

/// Of a search for `c` vectors of the longer side, in place of the eigensolver: what block CG
/// holds, and the blocks of each side that least squares and `NullVectors` do.
double completion_memory_bytes(Index c, double shorter, double longer, std::size_t scalar_size) {
  const double blocks = 3 * (shorter + longer) * static_cast<double>(c);
  return block_cg_memory_bytes(static_cast<Index>(shorter), c, scalar_size) +
         blocks * static_cast<double>(scalar_size);
}

template <Scalar T, class Ctx>
void check(const AdjointPair<T, Ctx>& pair, const SingularOptions& options) {
  const Require require{"singular_triplets"};
  require_adjoint_pair("singular_triplets", pair);
  const Index most = std::min(pair.A->rows(), pair.A->cols());
  require(options.nev >= 1 && options.nev <= most,
          "nev must be at least 1 and at most the shorter side of A, {}; it is {}", most,
          options.nev);
  if (options.criterion == Criterion::absolute) {
    require(options.tolerance > 0, "an absolute tolerance must be positive, it is {}",
            options.tolerance);
  } else {
    require_tolerance(require, options.tolerance);
  }
  require(options.block_size >= 0, "the block size must not be negative, it is {}",
          options.block_size);
  require_limits(require, options);
  require_no_checkpoint(require, options);
}

template <Scalar T, class Ctx>
class SingularSolve {
 public:
  using Space = typename Ctx::Space;

  SingularSolve(Ctx& context, const AdjointPair<T, Ctx>& pair, const SingularOptions& options,
                const Monitor& monitor)
      : context_(context),
        pair_(pair),
        applied_before_(pair.columns_applied()),
        wide_(pair.A->rows() < pair.A->cols()),
        tall_(wide_ ? pair.transposed() : pair),
        n_(tall_.A->cols()),
        route_(route_for(options, tall_.A->rows(), n_)),
        options_(options),
        monitor_(monitor),
        ending_(options.max_iterations, options.time_limit_s),
        U_(context, tall_.A->rows(), options.nev),
        V_(context, n_, options.nev),
        extraction_(context, tall_, route_ == Route::dense ? n_ : options.nev, options.seed) {}

  SingularResult<T, Space> run() {
    route_ == Route::iterate ? iterate() : solve_dense();
    if (route_ == Route::iterate && decomposition_may_help()) {
      ending_.reopen();
      decompose();
    }
    write_end();
    result_.operator_applications = applied();
    result_.orthogonalization += extraction_.counts();
    result_.left_vectors = std::move(wide_ ? V_ : U_);
    result_.right_vectors = std::move(wide_ ? U_ : V_);
    return std::move(result_);
  }

 private:
  /// Columns multiplied by A or Aᵀ.
  Index applied() const { return pair_.columns_applied() - applied_before_; }

  void solve_dense() {
    if (route_ == Route::decompose) return decompose();
    MultiVector<T, Space> identity(context_, n_, n_);
    set_identity(context_, identity.view());
    if (take_triplets(identity.view(), options_.nev)) end_dense();
  }

  void decompose() {
    release_workspaces();
    if (!extraction_.decompose_all(context_, options_.which, U_.view(), V_.view())) {
      end_not_finite();
      return;
    }
    measure();
    end_dense();
  }

  void end_dense() {
    if (pass()) {
      ending_.end(SolveStatus::converged, "solved as a dense problem");
    } else {
      ending_.end(SolveStatus::stagnated, "the dense solution is as good as the precision allows");
    }
  }

  /// Whether what the eigensolver could not do is done by decomposing all of A.
  bool decomposition_may_help() const {
    const SolveStatus status = ending_.status();
    // Fewer iterations than the default are a limit that somebody meant.
    const bool limited = result_.iterations >= options_.max_iterations &&
                         options_.max_iterations < EigenOptions{}.max_iterations;
    return status != SolveStatus::converged && status != SolveStatus::interrupted &&
           status != SolveStatus::time_limit && !limited && may_decompose();
  }

  /// Whether A is small enough for the time and the memory that there are.
  bool may_decompose() const {
    return decomposable(long_side(), short_side()) &&
           seconds_to_decompose(long_side(), short_side()) < ending_.seconds_left();
  }

  /// Columns multiplied by AᵀA after which to decompose A would have cost no more; no limit where
  /// it may not be.
  double most_products() const {
    if (!may_decompose()) return std::numeric_limits<double>::infinity();
    return operations_to_decompose(long_side(), short_side()) /
           (kOperationsOfProduct<Ctx> * (long_side() + short_side()));
  }

  double long_side() const { return static_cast<double>(tall_.A->rows()); }
  double short_side() const { return static_cast<double>(n_); }

  void iterate() {
    NormalEquationsOperator<T, Ctx> F(context_, tall_);
    EigenProblem<T, Ctx> problem;
    problem.A = &F;
    const std::optional<double> norm_F = F.one_norm();
    const double estimate = estimate_norm(problem);  // ‖A‖₂²
    if (!std::isfinite(estimate)) {
      return ending_.end(SolveStatus::breakdown, "products with A are not finite");
    }
    // A residual of the eigenproblem is σ times that of the triplet: for σ = ‖A‖₂ this suffices.
    const double share = norm_F && *norm_F > 0 ? estimate / *norm_F : 1;
    double tolerance = kMargin * share * (estimate > 0 ? allowed(result_.norm) / result_.norm : 1);
    for (int round = 1;; ++round) {
      tolerance = std::clamp(tolerance, kLeastTolerance<T>, kMargin);
      const EigenResult<T, Space>& pairs = solve_eigenproblem(problem, tolerance);
      const Index found = std::ssize(pairs.eigenvalues);
      if (found > 0 && !take_triplets(pairs.eigenvectors.columns(0, found), found)) return;
      // Once all pairs are found, rounding may end a stricter round before its own criterion does,
      // or keep residuals made afresh from confirming it.
      const bool rounding_ended =
          (pairs.status == SolveStatus::stagnated && round > 1) ||
          (pairs.status == SolveStatus::verification_failed && found == options_.nev);
      if (pairs.status != SolveStatus::converged && !rounding_ended) {
        return ending_.end(pairs.status, pairs.reason);
      }
      if (left_vectors_missing() && !complete_left_vectors()) return;
      if (pass()) {
        return ending_.end(SolveStatus::converged,
                           "all triplets converged and passed verification");
      }
      if (rounding_ended || tolerance <= kLeastTolerance<T>) {
        return ending_.end(SolveStatus::stagnated, "the normal equations are solved to rounding");
      }
      if (round == kMaxRounds) {
        return ending_.end(SolveStatus::verification_failed,
                           "the normal equations are solved, the triplets are not");
      }
      tolerance *= kMargin / worst_excess();
      problem.initial_guess = V_.columns(0, found);
    }
  }

  /// ‖A‖₂² from below, by one cycle of Lanczos steps.
  double estimate_norm(const EigenProblem<T, Ctx>& problem) {
    BlockLanczosOptions options;
    options.nev = 1;
    options.which = Which::largest;
    options.block_size = 4;
    options.tolerance = kMargin;
    options.max_iterations = 1;
    options.filter = LanczosFilter::none;
    options.seed = options_.seed;
    const auto pairs = block_lanczos(context_, problem, options);
    if (pairs.eigenvalues.empty()) return std::numeric_limits<double>::quiet_NaN();
    const double square = std::max(pairs.eigenvalues.front(), 0.0);
    result_.norm = std::sqrt(square);
    return square;
  }

  const EigenResult<T, Space>& solve_eigenproblem(const EigenProblem<T, Ctx>& problem,
                                                  double tolerance) {
    const EarlierParts earlier{result_.iterations, ending_.seconds(), applied(),
                               NormalEquationsOperator<T, Ctx>::kProducts};
    const Monitor monitor = earlier.watch(monitor_);
    const auto fill = [&](EigenOptions& options) {
      options = options_;
      options.criterion = Criterion::norm;
      options.tolerance = tolerance;
      options.max_iterations = options_.max_iterations - result_.iterations;
      options.time_limit_s = std::max(0.0, ending_.seconds_left());
    };
    EigenResult<T, Space>* pairs = nullptr;
    if (options_.solver == SingularSolver::lobpcg) {
      LobpcgOptions options;
      fill(options);
      pairs = &lobpcg(context_, problem, options, lobpcg_workspace_, monitor);
    } else {
      BlockLanczosOptions options;
      fill(options);
      const auto products = static_cast<double>(problem.A->columns_applied());
      options.max_applications = std::max(1.0, most_products() - products);
      pairs = &block_lanczos(context_, problem, options, lanczos_workspace_, monitor);
    }
    earlier.append(pairs->history, result_.history);
    result_.iterations += pairs->iterations;
    result_.orthogonalization += pairs->orthogonalization;
    return *pairs;
  }

  /// Puts the `count` best triplets that the space of X holds into the result, measured. False, and
  /// the solve has ended, if they are not finite.
  bool take_triplets(ConstBlockView<T, Space> X, Index count) {
    const auto U = U_.columns(0, count);
    if (!extraction_.extract(context_, options_.which, X, U, V_.columns(0, count))) {
      return end_not_finite();
    }
    measure();
    return true;
  }

  void measure() {
    const Index count = std::ssize(extraction_.values());
    extraction_.measure(context_, U_.columns(0, count), V_.columns(0, count));
    result_.singular_values = extraction_.values();
    result_.norm = std::max(result_.norm, extraction_.largest());
    result_.orthogonality = extraction_.orthogonality();
    result_.residuals.clear();
    for (const double residual : extraction_.residuals()) {
      result_.residuals.push_back(residual == 0 ? 0 : residual / result_.norm);
    }
  }

  /// Finds vectors of the longer side for σ near zero, from the outermost of them to the last whose
  /// triplet does not pass. False, and the solve has ended, if there are none to be found.
  bool complete_left_vectors() {
    release_workspaces();
    const Index k = std::ssize(result_.singular_values);
    const bool smallest = options_.which == Which::smallest;
    Index first = 0;
    Index last = k - 1;
    while (smallest && passes(last)) --last;
    while (!smallest && passes(first)) ++first;
    const Index count = last + 1 - first;
    const auto U = U_.columns(first, count);
    const auto known = smallest ? U_.columns(count, k - count) : U_.columns(0, first);
    NullVectorOptions options;
    options.limit = allowed(0) / std::sqrt(static_cast<double>(count));
    options.seed = options_.seed;
    options.stream = kNullStream;
    // Of the range of A, only what A makes of vectors beside V is to go: A V itself holds the
    // vectors looked for, as far as their σ are not zero.
    ProjectedOperator<T, Ctx> beside_V(context_, *tall_.A_transposed, V_.columns(0, k));
    const AdjointPair<T, Ctx> others{tall_.A, &beside_V};
    const SolveStatus status = NullVectors<T, Ctx>(context_, others, options, ending_, monitor_)
                                   .find(known, U, result_.orthogonalization);
    if (!extraction_.refine(context_, options_.which, first, U, V_.columns(first, count))) {
      return end_not_finite();
    }
    measure();
    if (status == SolveStatus::converged) return true;
    ending_.end(status, "vectors of the longer side for singular values near zero were not found");
    return false;
  }

  /// Frees the eigensolver's memory for what comes after it.
  void release_workspaces() {
    lobpcg_workspace_ = {};
    lanczos_workspace_ = {};
  }

  /// What the criterion allows for a residual at σ.
  double allowed(double sigma) const {
    switch (options_.criterion) {
      case Criterion::norm:
        return options_.tolerance * result_.norm;
      case Criterion::relative:
        return sigma > kZero<T> * result_.norm ? options_.tolerance * sigma
                                               : kZero<T> * result_.norm;
      case Criterion::absolute:
        return options_.tolerance;
    }
    return 0;
  }

  bool passes(Index triplet) const {
    const auto j = static_cast<std::size_t>(triplet);
    return extraction_.residuals()[j] <= allowed(result_.singular_values[j]);
  }

  bool orthonormal() const { return result_.orthogonality <= kOrthogonalityLimit<T>; }

  /// Whether all triplets do, with orthonormal vectors.
  bool pass() const {
    bool all = orthonormal();
    for (Index j = 0; all && j < std::ssize(result_.singular_values); ++j) all = passes(j);
    return all;
  }

  /// The most by which an error exceeds what is allowed, infinite where vectors are not
  /// orthonormal, else at least 1. The error is the residual, or σ where that is less: a σ that is
  /// small enough passes with the vectors of `complete_left_vectors`.
  double worst_excess() const {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    double worst = orthonormal() ? 1 : kInfinity;
    for (std::size_t j = 0; j < result_.singular_values.size(); ++j) {
      const double sigma = result_.singular_values[j];
      const double error = std::min(extraction_.residuals()[j], sigma);
      const double limit = allowed(sigma);
      if (error > limit) worst = std::max(worst, limit > 0 ? error / limit : kInfinity);
    }
    return worst;
  }

  bool left_vectors_missing() const { return !pass() && worst_excess() <= 1; }

  void write_end() {
    result_.status = ending_.status();
    const std::vector<double>& r = result_.residuals;
    const double worst = r.empty() ? std::numeric_limits<double>::quiet_NaN()
                                   : *std::max_element(r.begin(), r.end());
    result_.reason =
        fmt::format("{}: {} triplets, worst residual {:.2e}", ending_.reason(), r.size(), worst);
  }

  bool end_not_finite() {
    ending_.end(SolveStatus::breakdown, "products with A are not finite");
    return false;
  }

  Ctx& context_;
  AdjointPair<T, Ctx> pair_;
  Index applied_before_;
  bool wide_;
  AdjointPair<T, Ctx> tall_;  // rows ≥ columns
  Index n_;                   // its columns
  Route route_;
  const SingularOptions& options_;
  const Monitor& monitor_;
  StopControl ending_;
  MultiVector<T, Space> U_, V_;  // of tall_
  TripletExtraction<T, Ctx> extraction_;
  LobpcgWorkspace<T, Ctx> lobpcg_workspace_;
  BlockLanczosWorkspace<T, Ctx> lanczos_workspace_;
  SingularResult<T, Space> result_;
};

}  // namespace

Index singular_block_size(const SingularOptions& options, Index m, Index n) {
  const Index shorter = std::min(m, n);
  if (route_for(options, m, n) != Route::iterate) return shorter;
  return options.solver == SingularSolver::lobpcg
             ? lobpcg_block_size(options, shorter)
             : block_lanczos_shape(lanczos_options(options), shorter, false).block;
}

double singular_memory_bytes(const SingularOptions& options, Index m, Index n,
                             std::size_t scalar_size) {
  const auto as_double = [](Index count) { return static_cast<double>(count); };
  const auto padded = [&](Index count) {  // as `MultiVector` pads rows to 16 bytes
    const Index unit = 16 / static_cast<Index>(scalar_size);
    return as_double((count + unit - 1) / unit * unit);
  };
  const double shorter = as_double(std::min(m, n));
  const double longer = as_double(std::max(m, n));
  const auto bytes = [&](double long_columns, double short_columns) {
    return (longer * long_columns + shorter * short_columns) * static_cast<double>(scalar_size);
  };
  const Route route = route_for(options, m, n);
  const bool iterates = route == Route::iterate;
  const double nev = padded(options.nev);
  const double space = route == Route::dense ? shorter : nev;  // that triplets are taken from
  // U, the products with that space and their basis, and the operator's A X beside an eigensolver.
  const double block = iterates ? padded(singular_block_size(options, m, n)) : 0;
  const double short_columns = nev + (route == Route::dense ? shorter : 0);
  constexpr double kSmallMatrices = 16;  // R and its factors, Gram matrices, in double
  double stage = 0;                      // the largest of the stages of a search
  if (iterates) {
    stage = std::max(eigensolver_memory_bytes(options, std::min(m, n), scalar_size),
                     completion_memory_bytes(options.nev, shorter, longer, scalar_size));
  }
  if (route == Route::decompose || (iterates && decomposable(longer, shorter))) {
    const double panel = padded(std::min(std::min(m, n), kPanelColumns));
    stage = std::max(stage, bytes(panel, panel));
  }
  return bytes(nev + 2 * space + block, short_columns) +
         sizeof(double) * kSmallMatrices * space * space + stage;
}

template <Scalar T, class Ctx>
SingularResult<T, typename Ctx::Space> singular_triplets(Ctx& context,
                                                         const AdjointPair<T, Ctx>& pair,
                                                         const SingularOptions& options,
                                                         const Monitor& monitor) {
  check(pair, options);
  SingularOptions complete = options;
  if (complete.tolerance == 0) complete.tolerance = kDefaultTolerance<T>;
  return SingularSolve<T, Ctx>(context, pair, complete, monitor).run();
}

#define HEDDLE_INSTANTIATE(T, Ctx)                                   \
  template SingularResult<T, typename Ctx::Space> singular_triplets( \
      Ctx&, const AdjointPair<T, Ctx>&, const SingularOptions&, const Monitor&);
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
