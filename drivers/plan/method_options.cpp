#include <heddle/drivers/plan/memory.hpp>
#include <heddle/drivers/plan/method_options.hpp>

namespace heddle::detail {

EigenOptions eigen_options(const Request& request) {
  return {request.nev,          request.which,
          request.block_size,   request.tolerance,
          request.criterion,    request.max_iterations,
          request.time_limit_s, request.seed,
          request.checkpoint,   kFactorShare * host_memory_bytes()};
}

CertifyOptions certify_options(const Request& request) {
  return {eigen_options(request), request.certify};
}

LobpcgOptions lobpcg_options(const Request& request) {
  return {eigen_options(request), request.refresh_interval, request.start};
}

IntervalOptions interval_options(const Request& request) {
  return {eigen_options(request), request.interval->lower, request.interval->upper};
}

IntervalOptions sliced_options(const Request& request, Index n) {
  IntervalOptions options = interval_options(request);
  if (options.nev == 0) options.nev = n;
  return options;
}

NearestOptions nearest_options(const Request& request, bool buckling) {
  NearestOptions options;
  static_cast<EigenOptions&>(options) = eigen_options(request);
  options.sigma = *request.sigma;
  if (buckling) options.definite = Definite::A;
  options.limit_to(request.side.value_or(Side::both));
  options.max_basis = request.max_basis;
  return options;
}

SingularOptions singular_options(const Request& request) {
  SingularOptions options;
  static_cast<EigenOptions&>(options) = eigen_options(request);
  options.solver =
      request.method == Method::lobpcg ? SingularSolver::lobpcg : SingularSolver::block_lanczos;
  return options;
}

BlockCgOptions block_cg_options(const Request& request) {
  return {{request.tolerance, request.linear_criterion, request.max_iterations,
           request.time_limit_s, request.checkpoint},
          request.algorithm,
          request.refresh_interval};
}

LeastSquaresOptions least_squares_options(const Request& request) {
  LeastSquaresOptions options = block_cg_options(request);
  options.damp = request.damp;
  return options;
}

BlockLanczosOptions block_lanczos_options(const Request& request, bool inner_solves) {
  const LanczosFilter fallback = inner_solves ? LanczosFilter::none : LanczosFilter::automatic;
  return {eigen_options(request), request.max_basis, request.filter.value_or(fallback)};
}

}  // namespace heddle::detail
