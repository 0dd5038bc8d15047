#include <algorithm>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/blocks/complex_ops.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/solvers/iteration/orthonormal_block.hpp>
#include <heddle/solvers/rectangular/least_squares.hpp>
#include <heddle/solvers/rectangular/null_vectors.hpp>
#include <vector>

namespace heddle::detail {

template <Scalar T, class Ctx>
SolveStatus NullVectors<T, Ctx>::find(ConstBlockView<T, Space> known, Block U,
                                      OrthoCounts& counts) {
  constexpr int kRounds = 4;
  Orthogonalizer<T, Ctx> orthogonalizer(context_, U.cols(), known.cols());
  std::uint64_t stream = options_.stream;
  const Index first_row = pair_.A->row_range().first;
  fill_random<T>(context_, options_.seed, stream++, U, first_row);
  for (int round = 0;; ++round) {
    const OrthonormalBlock made = make_orthonormal<T, Ctx>(
        context_, orthogonalizer, nullptr, {Basis<T, Space>{known, known}}, U, U, counts);
    if (!made.finite) return SolveStatus::breakdown;
    if (made.rank == U.cols() && annihilated(U)) return SolveStatus::converged;
    if (round == kRounds) return SolveStatus::verification_failed;
    if (made.rank < U.cols()) {
      fill_random<T>(context_, options_.seed, stream++, U.columns(made.rank, U.cols() - made.rank),
                     first_row);
    }
    const SolveStatus status = remove_range(U);
    if (status == SolveStatus::interrupted || status == SolveStatus::time_limit) return status;
  }
}

/// Whether ‖Aᴴu‖₂ ≤ limit for all columns.
template <Scalar T, class Ctx>
bool NullVectors<T, Ctx>::annihilated(ConstBlockView<T, Space> U) {
  const Index c = U.cols();
  MultiVector<T, Space> AtU(context_, pair_.A->cols(), c);
  SmallMatrix<double, Space> norms(context_, c, 1);
  std::vector<double> on_host(static_cast<std::size_t>(c));
  pair_.A_transposed->apply(context_, U, AtU.view());
  column_norms<T>(context_, AtU.view(), norms.view(c, 1));
  fetch(context_, norms.view(c, 1), SmallView<double, HostSpace>{on_host.data(), c, 1, c});
  return std::all_of(on_host.begin(), on_host.end(),
                     [&](double norm) { return norm <= options_.limit; });
}

/// U ← U − A A⁺U. Returns the status of the least-squares solve.
template <Scalar T, class Ctx>
SolveStatus NullVectors<T, Ctx>::remove_range(Block U) {
  constexpr double kMargin = 0.1;
  LeastSquaresProblem<T, Ctx> problem;
  problem.A = pair_;
  problem.B = U;
  LeastSquaresOptions options;
  options.direct = false;  // the pair is adjoint for vectors of its range only
  // A Krylov space that all columns share would reach the null space of AᴴA, where pᴴAᴴA p = 0.
  options.algorithm = CgAlgorithm::pseudo_block;
  options.criterion = LinearCriterion::absolute;
  options.tolerance = kMargin * options_.limit;
  options.time_limit_s = std::max(0.0, control_.seconds_left());
  const auto result = least_squares(context_, problem, options, monitor_);
  MultiVector<T, Space> AX(context_, U.rows(), U.cols());
  pair_.A->apply(context_, result.solution.view(), AX.view());
  axpby<T>(context_, -1, AX.view(), 1, U);
  return result.status;
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class NullVectors<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
