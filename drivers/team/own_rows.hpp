#pragma once

#include <cstdint>
#include <heddle/drivers/problem/problem.hpp>
#include <heddle/drivers/problem/request.hpp>
#include <heddle/drivers/team/matrices_by_rows.hpp>
#include <optional>

/// Problems of which each process makes its own rows, or reads them from files, and none the whole.
namespace heddle::detail {

/// The problem of `matrices` with the rows of this process, see `Facts::own_rows`. Ranges of
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

}  // namespace heddle::detail
