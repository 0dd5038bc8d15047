#include <algorithm>
#include <array>
#include <cmath>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/process_sums.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/orthogonal/orthogonalize.hpp>
#include <heddle/solvers/iteration/eigen_verifier.hpp>
#include <heddle/solvers/iteration/require.hpp>
#include <heddle/solvers/iteration/stop_control.hpp>
#include <heddle/solvers/null_space/null_pairs.hpp>
#include <heddle/solvers/problem/padded_columns.hpp>
#include <limits>

namespace heddle {
namespace {

/// Columns for which products are computed at once.
constexpr Index kSlab = 8;

/// The norms of the first `count` null vectors.
std::vector<double> norms_of(HostContext& host, const GraphNullSpace& found, Index count) {
  std::vector<double> norms(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < found.vector.size(); ++i) {
    if (found.vector[i] < 0 || found.vector[i] >= count) continue;
    norms[static_cast<std::size_t>(found.vector[i])] += found.entries[i] * found.entries[i];
  }
  sum_over_processes(host, {{norms.data(), count, 1, count}});
  for (double& norm : norms) norm = std::sqrt(norm);
  return norms;
}

template <Scalar T>
MultiVector<T, HostSpace> assembled(HostContext& host, const GraphNullSpace& found, Index count) {
  const std::vector<double> norms = norms_of(host, found, count);
  MultiVector<T, HostSpace> Z(host, std::ssize(found.vector), count);
  set_zero<T>(host, Z.view());
  for (std::size_t i = 0; i < found.vector.size(); ++i) {
    const Index j = found.vector[i];
    if (j < 0 || j >= count) continue;
    Z.view()(static_cast<Index>(i), j) =
        static_cast<T>(found.entries[i] / norms[static_cast<std::size_t>(j)]);
  }
  return Z;
}

template <Scalar T>
MultiVector<T, HostSpace> moved(HostContext&, MultiVector<T, HostSpace> Z) {
  return Z;
}

#ifdef HEDDLE_HAS_CUDA
template <Scalar T>
MultiVector<T, DeviceSpace> moved(CudaContext& context, const MultiVector<T, HostSpace>& Z) {
  MultiVector<T, DeviceSpace> there(context, Z.rows(), Z.cols());
  send<T>(context, Z.view(), there.view());
  context.synchronize();
  return there;
}
#endif

template <Scalar T, class Ctx>
void require_null_pairs(const EigenProblem<T, Ctx>& problem, const EigenOptions& options) {
  const detail::Require require{"null_pairs"};
  require(problem.A != nullptr, "the problem has no A");
  detail::require_square<T, Ctx>(require, "A", problem.A->rows(), problem.A);
  detail::require_square<T, Ctx>(require, "B", problem.A->rows(), problem.B);
  detail::require_eigen_options(require, options);
  detail::require_null_vectors(require, problem, options);
  require(options.nev >= 1 && options.nev <= problem.null_vectors.cols(),
          "nev is {}, there are {} null vectors", options.nev, problem.null_vectors.cols());
}

}  // namespace

template <Scalar T, class Ctx>
MultiVector<T, typename Ctx::Space> null_vectors(Ctx& context, HostContext& host,
                                                 const GraphNullSpace& found, Index count,
                                                 LinearOperator<T, Ctx>* B) {
  MultiVector<T, typename Ctx::Space> Z =
      moved(context, assembled<T>(host_of(context, host), found, count));
  if (B == nullptr || count == 0) return Z;
  MultiVector<T, typename Ctx::Space> BZ(context, Z.rows(), count);
  Orthogonalizer<T, Ctx> orthogonalizer(context, count, 0);
  for (int round = 0; round < 2; ++round) {
    B->apply(context, Z.view(), BZ.view());
    const OrthoReport report = orthogonalizer.orthonormalize(context, Z.view(), BZ.view());
    if (report.rank < count) return MultiVector<T, typename Ctx::Space>(context, Z.rows(), 0);
  }
  return Z;
}

template <Scalar T, class Ctx>
EigenResult<T, typename Ctx::Space> null_pairs(Ctx& context, const EigenProblem<T, Ctx>& problem,
                                               const EigenOptions& options) {
  require_null_pairs(problem, options);
  detail::StopControl control(options.max_iterations, options.time_limit_s);
  const Index n = problem.A->rows();
  const Index applications_before = problem.A->columns_applied();
  const bool pencil = problem.B != nullptr;
  detail::EigenVerifier<T, Ctx> verifier(context, n, options.nev, pencil);
  verifier.norms().prepare(context, problem);
  EigenResult<T, typename Ctx::Space> result;
  result.eigenvectors = MultiVector<T, typename Ctx::Space>(context, n, options.nev);
  const auto V = result.eigenvectors.view();
  copy<T>(context, problem.null_vectors.columns(0, options.nev), V);
  MultiVector<T, typename Ctx::Space> AV(context, n, null_pairs_block_size(options));
  MultiVector<T, typename Ctx::Space> BV(context, n, pencil ? null_pairs_block_size(options) : 0);

  verifier.set_values(std::vector<double>(static_cast<std::size_t>(options.nev)));
  verifier.measure(context, problem, V, AV.view(), BV.view());
  const double tolerance = options.tolerance == 0 ? kDefaultTolerance<T> : options.tolerance;
  const detail::EigenConvergence convergence(
      options.criterion, tolerance, problem.A->one_norm().value_or(0),
      pencil ? problem.B->one_norm().value_or(1) : 1, std::numeric_limits<T>::epsilon());
  // There may be further null vectors, and rounding decides which of them are the first ones.
  const std::array<double, 1> further = {convergence.largest_zero()};
  const detail::Verdict verdict =
      verifier.judge(convergence, {.values = further,
                                   .residuals = further,
                                   .joint = true,
                                   .below = detail::ErrorBounds::kNoneBeyond,
                                   .end = Which::smallest});
  verifier.report(convergence, result);
  result.completeness = {CompletenessMethod::graph, verdict.residuals};
  result.operator_applications = problem.A->columns_applied() - applications_before;
  const double worst = *std::max_element(result.residuals.begin(), result.residuals.end());
  const Index converged = std::count(result.converged.begin(), result.converged.end(), true);
  result.history.push_back(
      {0, converged, worst, control.seconds(), options.nev, result.operator_applications});
  if (verdict.confirmed()) {
    control.end(SolveStatus::converged, "all pairs are null vectors, and passed verification");
  } else {
    control.end(SolveStatus::stagnated, "the null vectors are as good as rounding allows");
  }
  result.status = control.status();
  control.write_sentence({converged, options.nev, "pairs", 0, "iterations", worst}, result.reason);
  if (!verdict.confirmed()) result.reason += "; " + verifier.refutation(convergence);
  return result;
}

Index null_pairs_block_size(const EigenOptions& options) noexcept {
  return std::min(kSlab, options.nev);
}

double null_pairs_memory_bytes(const EigenOptions& options, Index n, bool pencil,
                               std::size_t scalar_size) {
  const auto padded = [&](Index count) { return detail::padded_columns(count, scalar_size); };
  const double columns = padded(options.nev) +
                         (pencil ? 2 : 1) * padded(null_pairs_block_size(options)) +
                         detail::error_norm_columns(pencil, scalar_size);
  const auto pairs = static_cast<double>(options.nev);
  return columns * static_cast<double>(n) * static_cast<double>(scalar_size) +
         8 * 6 * pairs * pairs;
}

#define HEDDLE_INSTANTIATE(T, Ctx)                                                           \
  template MultiVector<T, typename Ctx::Space> null_vectors(                                 \
      Ctx&, HostContext&, const GraphNullSpace&, Index, LinearOperator<T, Ctx>*);            \
  template EigenResult<T, typename Ctx::Space> null_pairs(Ctx&, const EigenProblem<T, Ctx>&, \
                                                          const EigenOptions&);
HEDDLE_FOR_EACH_REAL_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
