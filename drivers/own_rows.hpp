#pragma once

#include <cstdint>
#include <heddle/drivers/device.hpp>
#include <heddle/drivers/matrices_by_rows.hpp>
#include <heddle/drivers/problem.hpp>
#include <heddle/drivers/request.hpp>
#include <optional>

/// Problems of which each process makes its own rows, or reads them from files, and none the whole.
namespace heddle::detail {

/// `rows` rows of the right-hand sides of `matrices` from row `first` on.
Block generated_rhs(HostContext& context, const MatricesByRows& matrices, std::uint64_t seed,
                    Index first, Index rows);

/// Whether several `processes` may get the matrices by rows, and solve with them by `request`. What
/// is asked of a whole matrix must be known without it, or be found by parts: that A is symmetric
/// and shows no null vectors, and B is positive definite. It is known of structures that are
/// positive definite, and `own_rows` looks for it in files. Specs that cannot be generated, and
/// matrices that do not fit each other, are not for rows.
bool suits_own_rows(const MatricesByRows& matrices, const Request& request, int processes);

/// The problem of `matrices` with the rows of this process, see `HostProblem::own_rows`. Ranges of
/// rows and all bits are those of `share` for a problem that process 0 has. None, on all processes,
/// if process 0 needs the whole:
///   - METIS may find a distribution with a smaller halo than that of rows in order
///   - entries are so large that the problem must be scaled
///   - a process does not find a file, or something is wrong with it: process 0 reads it all, and
///     has the message of one process, with the line
///   - a matrix of a file is not symmetric, or its graph may show null vectors that the request
///     depends on, or it is a B whose rows do not show that it is definite: 0.99 b_ii ≥ Σ |b_ij|
/// All processes of `team` call it together, with matrices that suit. Throws as `generate` does,
/// and `OutOfMemory`.
std::optional<Problem> own_rows(HostContext& team, const MatricesByRows& matrices,
                                const Request& request);

/// The same for process 0, which calls the other processes of `device` to it. These keep their rows
/// for one solve, the next that process 0 does.
std::optional<Problem> make_own_rows(Device& device, const MatricesByRows& matrices,
                                     const Request& request);

}  // namespace heddle::detail
