#pragma once

#include <heddle/drivers/problem/matrix.hpp>
#include <heddle/solvers/operators/preconditioner.hpp>
#include <string>
#include <vector>

namespace heddle::apps {

/// The levels that multigrid makes of a stored A, the finest first. `coordinates`: the positions of
/// the nodes of an elastic body, 0 columns if they are not known. Throws `InvalidArgument`, naming
/// the matrix `name`, if A is not symmetric to `kSymmetryTolerance`, is indefinite, or does not fit
/// the coordinates.
std::vector<OperatorLevel> inspect_levels(HostContext& context, const std::string& name, Matrix A,
                                          Block coordinates);

}  // namespace heddle::apps
