#pragma once

#include <heddle/drivers/problem.hpp>
#include <heddle/linalg/data/multivector.hpp>

/// Problems and solutions between process 0, which has the whole of them, and the processes of the
/// context `team`, which solve together. With one process, all of these return their argument.
namespace heddle::detail {

/// The part of `problem` in the rows of this process. Only the problem of process 0 is read, and
/// released when its rows are sent. All processes call it together.
template <Scalar T>
HostProblem<T> share(HostContext& team, HostProblem<T> problem);

/// X in host memory: on process 0 with the rows of all processes, on the others empty. `host`: the
/// context of the result.
template <Scalar T>
MultiVector<T, HostSpace> whole(HostContext& team, HostContext& host, MultiVector<T, HostSpace> X);

}  // namespace heddle::detail
