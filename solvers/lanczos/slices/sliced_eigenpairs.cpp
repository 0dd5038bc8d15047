#include <algorithm>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/iteration/dense_solve.hpp>
#include <heddle/solvers/iteration/error_norms.hpp>
#include <heddle/solvers/iteration/require.hpp>
#include <heddle/solvers/lanczos/slices/slice_sizes.hpp>
#include <heddle/solvers/lanczos/slices/solve.hpp>
#include <heddle/solvers/problem/padded_columns.hpp>

namespace heddle {
namespace {

/// The most pairs that a slice takes at once, unless copies of one value are more.
constexpr Index kMostAtOnce = 600;

/// Throws `InvalidArgument`, naming both sides, where the arguments do not fit together.
template <Scalar T, class Ctx>
void check_sliced(const EigenProblem<T, Ctx>& problem, const IndefiniteInverse<T, Ctx>& inverse,
                  const IntervalOptions& options) {
  const detail::Require require{"sliced_eigenpairs"};
  detail::require_factored<T, Ctx>(require, problem, inverse, options);
  require(problem.constraints.cols() == 0, "constraints are not taken, there are {}",
          problem.constraints.cols());
  require(options.lower <= options.upper,  // false for NaN
          "the ends of the interval must be in ascending order, they are {} and {}", options.lower,
          options.upper);
}

}  // namespace

double sliced_memory_bytes(const IntervalOptions& options, Index n, Index pairs, bool pencil,
                           std::size_t scalar_size, int processes) {
  const Index share = (pairs + processes - 1) / processes;
  NearestOptions slice;
  slice.block_size = options.block_size;
  slice.nev = std::min(share, kMostAtOnce);
  const Index all = n <= detail::kDenseOrder ? n : pairs;
  const auto p = static_cast<double>(all);
  const double column = static_cast<double>(n) * static_cast<double>(scalar_size);
  const double rows = column / processes;
  const double own = processes > 1 ? column * detail::padded_columns(share, scalar_size) : 0;
  const double work = std::max(nearest_memory_bytes(slice, n, 0, pencil, scalar_size), own);
  return rows * (detail::padded_columns(all, scalar_size) +
                 detail::error_norm_columns(pencil, scalar_size)) +
         own + std::max(work, 8 * 6 * p * p);
}

template <Scalar T, class Ctx>
EigenResult<T, typename Ctx::Space> sliced_eigenpairs(
    Ctx& context, const EigenProblem<T, Ctx>& problem, IndefiniteInverse<T, Ctx>& inverse,
    const IntervalOptions& options, const Monitor& monitor, const EigenProblem<T, Ctx>* whole) {
  const EigenProblem<T, Ctx>& searched = whole == nullptr ? problem : *whole;
  check_sliced(searched, inverse, options);
  IntervalOptions complete = options;
  if (complete.tolerance == 0) complete.tolerance = kDefaultTolerance<T>;
  return detail::SliceSolve<T, Ctx>(context, problem, searched, inverse, complete, monitor).run();
}

#define HEDDLE_INSTANTIATE(T, Ctx)                                                           \
  template EigenResult<T, typename Ctx::Space> sliced_eigenpairs(                            \
      Ctx&, const EigenProblem<T, Ctx>&, IndefiniteInverse<T, Ctx>&, const IntervalOptions&, \
      const Monitor&, const EigenProblem<T, Ctx>*);
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
