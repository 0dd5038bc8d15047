#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <heddle/linalg/block_ops.hpp>
#include <heddle/linalg/error.hpp>
#include <heddle/linalg/instantiate.hpp>
#include <heddle/solvers/block_lanczos.hpp>
#include <heddle/solvers/detail/require.hpp>
#include <heddle/solvers/detail/triplet_extraction.hpp>
#include <heddle/solvers/lobpcg.hpp>
#include <heddle/solvers/singular_values.hpp>
#include <limits>
#include <string_view>
#include <utility>

namespace heddle {
namespace {

/// Up to this length of the shorter side, the dense decomposition costs less than iterating.
constexpr Index kDenseOrder = 128;

/// The shorter side must be this many times nev, to leave an eigensolver's block room to move.
constexpr Index kRoom = 4;

constexpr int kMaxRounds = 4;
constexpr double kMargin = 0.3;  // of what is allowed, for an eigensolver to aim at

/// max(|UᵀU − I|, |VᵀV − I|) up to which vectors count as orthonormal.
template <Scalar T>
constexpr double kOrthogonalityLimit = 1e4 * static_cast<double>(std::numeric_limits<T>::epsilon());

/// The least tolerance that an eigensolver can meet.
template <Scalar T>
constexpr double kLeastTolerance = 4 * static_cast<double>(std::numeric_limits<T>::epsilon());

/// Singular values up to this share of ‖A‖₂ are zero to rounding.
template <Scalar T>
constexpr double kZero = 100 * static_cast<double>(std::numeric_limits<T>::epsilon());

/// Whether a matrix with a shorter side of n is decomposed as a dense one.
bool is_dense(const SingularOptions& options, Index n) {
  return n <= kDenseOrder || n < kRoom * options.nev;
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
}

template <Scalar T, class Ctx>
class SingularSolve {
 public:
  using Space = typename Ctx::Space;

  SingularSolve(Ctx& context, const AdjointPair<T, Ctx>& pair, const SingularOptions& options,
                const Monitor& monitor)
      : context_(context),
        pair_(pair),
        wide_(pair.A->rows() < pair.A->cols()),
        tall_(wide_ ? pair.transposed() : pair),
        n_(tall_.A->cols()),
        dense_(is_dense(options, n_)),
        options_(options),
        monitor_(monitor),
        U_(context, tall_.A->rows(), options.nev),
        V_(context, n_, options.nev),
        extraction_(context, tall_, dense_ ? n_ : options.nev, options.seed) {}

  SingularResult<T, Space> run() {
    const Index applied_before = pair_.columns_applied();
    dense_ ? solve_dense() : iterate();
    result_.operator_applications = pair_.columns_applied() - applied_before;
    result_.left_vectors = std::move(wide_ ? V_ : U_);
    result_.right_vectors = std::move(wide_ ? U_ : V_);
    return std::move(result_);
  }

 private:
  void solve_dense() {
    MultiVector<T, Space> identity(context_, n_, n_);
    set_identity(context_, identity.view());
    if (!take_triplets(identity.view(), options_.nev)) return;
    if (worst_excess() <= 1) {
      end(SolveStatus::converged, "solved as a dense problem");
    } else {
      end(SolveStatus::stagnated, "the dense solution is as good as the precision allows");
    }
  }

  void iterate() {
    NormalEquationsOperator<T, Ctx> F(context_, tall_);
    EigenProblem<T, Ctx> problem;
    problem.A = &F;
    const std::optional<double> norm_F = F.one_norm();
    const double estimate = estimate_norm(problem);  // ‖A‖₂²
    if (!std::isfinite(estimate)) {
      return end(SolveStatus::breakdown, "products with A are not finite");
    }
    // A residual of the eigenproblem is σ times that of the triplet: for σ = ‖A‖₂ this suffices.
    const double share = norm_F && *norm_F > 0 ? estimate / *norm_F : 1;
    double tolerance = kMargin * share * (estimate > 0 ? allowed(result_.norm) / result_.norm : 1);
    for (int round = 1;; ++round) {
      tolerance = std::clamp(tolerance, kLeastTolerance<T>, kMargin);
      const EigenResult<T, Space>& pairs = solve_eigenproblem(problem, tolerance);
      const Index found = std::ssize(pairs.eigenvalues);
      if (found > 0 && !take_triplets(pairs.eigenvectors.columns(0, found), found)) return;
      // Once all pairs are found, rounding may end a stricter round before its own criterion does.
      const bool found_all = pairs.status == SolveStatus::converged ||
                             (pairs.status == SolveStatus::stagnated && round > 1);
      if (!found_all) return end(pairs.status, pairs.reason);
      const double excess = worst_excess();
      if (excess <= 1) {
        return end(SolveStatus::converged, "all triplets converged and passed verification");
      }
      if (left_vector_undetermined()) {
        return end(SolveStatus::verification_failed,
                   "a singular value is zero, which leaves its vector on the longer side open");
      }
      if (pairs.status == SolveStatus::stagnated || tolerance <= kLeastTolerance<T>) {
        return end(SolveStatus::stagnated, "the normal equations are solved to rounding");
      }
      if (round == kMaxRounds) {
        return end(SolveStatus::verification_failed,
                   "the normal equations are solved, the triplets are not");
      }
      tolerance *= kMargin / excess;
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
    const double begun = seconds();
    const auto fill = [&](EigenOptions& options) {
      options = options_;
      options.criterion = Criterion::norm;
      options.tolerance = tolerance;
      options.max_iterations = options_.max_iterations - result_.iterations;
      options.time_limit_s = std::max(0.0, options_.time_limit_s - begun);
    };
    EigenResult<T, Space>* pairs = nullptr;
    if (options_.solver == SingularSolver::lobpcg) {
      LobpcgOptions options;
      fill(options);
      pairs = &lobpcg(context_, problem, options, lobpcg_workspace_, monitor_);
    } else {
      BlockLanczosOptions options;
      fill(options);
      pairs = &block_lanczos(context_, problem, options, lanczos_workspace_, monitor_);
    }
    for (IterationRecord record : pairs->history) {
      record.iteration += result_.iterations;
      record.seconds += begun;
      result_.history.push_back(record);
    }
    result_.iterations += pairs->iterations;
    return *pairs;
  }

  /// Puts the `count` best triplets that the space of X holds into the result, measured. False, and
  /// the solve has ended, if they are not finite.
  bool take_triplets(ConstBlockView<T, Space> X, Index count) {
    const auto U = U_.columns(0, count);
    const auto V = V_.columns(0, count);
    if (!extraction_.extract(context_, options_.which, X, U, V)) {
      end(SolveStatus::breakdown, "products with A are not finite");
      return false;
    }
    extraction_.measure(context_, U, V);
    result_.singular_values = extraction_.values();
    result_.norm = std::max(result_.norm, extraction_.largest());
    result_.orthogonality = extraction_.orthogonality();
    result_.residuals.clear();
    for (const double residual : extraction_.residuals()) {
      result_.residuals.push_back(residual == 0 ? 0 : residual / result_.norm);
    }
    return true;
  }

  /// What the criterion allows for a residual at σ.
  double allowed(double sigma) const {
    switch (options_.criterion) {
      case Criterion::norm:
        return options_.tolerance * result_.norm;
      case Criterion::relative:
        return options_.tolerance * sigma;
      case Criterion::absolute:
        return options_.tolerance;
    }
    return 0;
  }

  /// The largest residual over what is allowed; infinite where vectors are not orthonormal.
  double worst_excess() const {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    double worst = result_.orthogonality <= kOrthogonalityLimit<T> ? 0 : kInfinity;
    for (std::size_t j = 0; j < result_.residuals.size(); ++j) {
      const double residual = extraction_.residuals()[j];
      const double limit = allowed(result_.singular_values[j]);
      if (!(residual <= limit)) worst = std::max(worst, limit > 0 ? residual / limit : kInfinity);
    }
    return worst;
  }

  /// Whether a triplet that does not pass has σ = 0 to rounding.
  bool left_vector_undetermined() const {
    for (std::size_t j = 0; j < result_.singular_values.size(); ++j) {
      const double sigma = result_.singular_values[j];
      const bool zero = sigma <= kZero<T> * result_.norm;
      if (zero && !(extraction_.residuals()[j] <= allowed(sigma))) return true;
    }
    return false;
  }

  void end(SolveStatus status, std::string_view reason) {
    result_.status = status;
    const std::vector<double>& r = result_.residuals;
    const double worst = r.empty() ? std::numeric_limits<double>::quiet_NaN()
                                   : *std::max_element(r.begin(), r.end());
    result_.reason = fmt::format("{}: {} triplets, worst residual {:.2e}", reason, r.size(), worst);
  }

  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

  Ctx& context_;
  AdjointPair<T, Ctx> pair_;
  bool wide_;
  AdjointPair<T, Ctx> tall_;  // rows ≥ columns
  Index n_;                   // its columns
  bool dense_;
  const SingularOptions& options_;
  const Monitor& monitor_;
  MultiVector<T, Space> U_, V_;  // of tall_
  TripletExtraction<T, Ctx> extraction_;
  LobpcgWorkspace<T, Ctx> lobpcg_workspace_;
  BlockLanczosWorkspace<T, Ctx> lanczos_workspace_;
  SingularResult<T, Space> result_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace

Index singular_block_size(const SingularOptions& options, Index m, Index n) {
  const Index shorter = std::min(m, n);
  if (is_dense(options, shorter)) return shorter;
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
  const bool dense = is_dense(options, std::min(m, n));
  const double nev = padded(options.nev);
  const double space = dense ? shorter : nev;  // columns that triplets are taken from
  // U, the products with that space and their basis, and the operator's A X beside an eigensolver.
  const double block = dense ? 0 : padded(singular_block_size(options, m, n));
  const double long_columns = nev + 2 * space + block;
  const double short_columns = nev + (dense ? shorter : 0);
  constexpr double kSmallMatrices = 16;  // R and its factors, Gram matrices, in double
  const double eigensolver =
      dense ? 0 : eigensolver_memory_bytes(options, std::min(m, n), scalar_size);
  return (longer * long_columns + shorter * short_columns) * static_cast<double>(scalar_size) +
         sizeof(double) * kSmallMatrices * space * space + eigensolver;
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
