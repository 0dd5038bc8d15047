#pragma once

#include <heddle/solvers/null_space/graph_null_space.hpp>
#include <heddle/solvers/problem/eigen_problem.hpp>
#include <heddle/solvers/problem/options.hpp>
#include <heddle/solvers/problem/result.hpp>

namespace heddle {

/// The first `count` ≤ k null vectors as the columns of a block Z in the context's memory, with
/// ZᵀBZ = I, for `EigenProblem::null_vectors`. `B` null: the identity. Then each column keeps its
/// rows to itself. If B is not positive definite, fewer columns remain. `host`: the host context
/// for the assembly, which is `context` itself where that is one. Of distributed vectors, `found`
/// has the rows of this process.
template <Scalar T, class Ctx>
MultiVector<T, typename Ctx::Space> null_vectors(Ctx& context, HostContext& host,
                                                 const GraphNullSpace& found, Index count,
                                                 LinearOperator<T, Ctx>* B = nullptr);

/// The `nev` smallest pairs of A x = λ B x if `problem.null_vectors` are all of them: λ = 0, and
/// the vectors are the first nev null vectors. Nothing is iterated. Fresh products with A and B
/// measure residuals, error bounds and orthogonality. The status is `converged` if these pass the
/// criterion, else `stagnated`, since only rounding errors keep null vectors from passing. The
/// history holds one record, iteration 0. Throws `InvalidArgument` for fewer than nev null vectors,
/// the largest end and constraints.
template <Scalar T, class Ctx>
EigenResult<T, typename Ctx::Space> null_pairs(Ctx& context, const EigenProblem<T, Ctx>& problem,
                                               const EigenOptions& options);

/// The number of columns that `null_pairs` multiplies by A at once.
Index null_pairs_block_size(const EigenOptions& options) noexcept;

/// Estimated bytes of the context's memory that `null_pairs` holds, with its result and without the
/// null vectors. `scalar_size`: bytes per scalar of the blocks.
double null_pairs_memory_bytes(const EigenOptions& options, Index n, bool pencil,
                               std::size_t scalar_size);

}  // namespace heddle
