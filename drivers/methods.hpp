#pragma once

#include <heddle/apps/config/config.hpp>
#include <heddle/apps/problem.hpp>
#include <heddle/solvers/cg/block_cg.hpp>
#include <heddle/solvers/interval/interval_eigenpairs.hpp>
#include <heddle/solvers/lanczos/block_lanczos.hpp>
#include <heddle/solvers/lobpcg/lobpcg.hpp>
#include <heddle/solvers/rectangular/least_squares.hpp>
#include <heddle/solvers/rectangular/singular_values.hpp>

/// What a configuration asks each solver for, and the sizes that follow. Where a function is not
/// for one solver, it is for `config.type`.
namespace heddle::apps {

LobpcgOptions lobpcg_options(const Config& config);
/// `inner_solves`: whether every product with B⁻¹A takes a solve with B.
BlockLanczosOptions block_lanczos_options(const Config& config, bool inner_solves = false);
/// Whether block Lanczos may factor A − σB.
bool may_invert(const Config& config);
/// Of a configuration that asks for an interval.
IntervalOptions interval_options(const Config& config);
/// Of a search for singular triplets.
SingularOptions singular_options(const Config& config);
/// Of linear systems and of least squares.
BlockCgOptions block_cg_options(const Config& config);

/// Columns that the solver multiplies by A at once.
Index solver_block_size(const Config& config, const ProblemSizes& sizes);

/// Bytes that the solver holds beside the operators, its result included.
double solver_memory_bytes(const Config& config, const ProblemSizes& sizes,
                           std::size_t scalar_size);

/// Columns of the eigenvectors or the solution that a solve gives.
Index result_columns(const Config& config, const ProblemSizes& sizes);

}  // namespace heddle::apps
