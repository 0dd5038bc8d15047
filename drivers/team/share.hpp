#pragma once

#include <heddle/drivers/team/local.hpp>

namespace heddle::detail {

/// The part of `problem` in the rows of this process. Only the problem and the facts of process 0
/// are read, and released when its rows are sent, except for matrices of which each process has its
/// own rows (`Facts::own_rows`). With `normal_equations`, the columns of A have ranges of their
/// own: right vectors, solutions and Aᴴ are in these. All processes call it together.
template <Scalar T>
SharedProblem<T> share(HostContext& team, HostProblem<T> problem, Facts facts,
                       Distribution distribution);

}  // namespace heddle::detail
