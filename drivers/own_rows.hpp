#pragma once

#include <cstdint>
#include <heddle/drivers/device.hpp>
#include <heddle/drivers/generated_matrices.hpp>
#include <heddle/drivers/problem.hpp>
#include <heddle/drivers/request.hpp>
#include <optional>

/// Generated matrices of which each process makes its own rows, and none the whole.
namespace heddle::detail {

/// `rows` rows of the right-hand sides of `matrices` from row `first` on.
Block generated_rhs(HostContext& context, const GeneratedMatrices& matrices, std::uint64_t seed,
                    Index first, Index rows);

/// Whether several `processes` can make the matrices by rows, and solve with them by `request`.
/// What process 0 finds in a whole matrix must be known without it: that it is symmetric and has no
/// null vectors, which holds for structures that are positive definite. Specs that cannot be
/// generated, or do not fit each other, are not for rows.
bool suits_own_rows(const GeneratedMatrices& matrices, const Request& request, int processes);

/// The problem of `matrices` with the rows of this process, see `HostProblem::own_rows`. Ranges of
/// rows and all bits are those of `share` for a problem that process 0 has. None if rows in order
/// may not do: METIS may find a distribution with a smaller halo, for which process 0 needs all of
/// A, or entries are so large that the problem must be scaled. All processes of `team` call it
/// together, with matrices that suit. Throws as `generate` does.
std::optional<Problem> own_rows(HostContext& team, const GeneratedMatrices& matrices,
                                const Request& request);

/// The same for process 0, which calls the other processes of `device` to it. These keep their rows
/// for one solve, the next that process 0 does.
std::optional<Problem> make_own_rows(Device& device, const GeneratedMatrices& matrices,
                                     const Request& request);

}  // namespace heddle::detail
