#pragma once

#include <heddle/apps/config/schema.hpp>
#include <vector>

namespace heddle::apps {

/// The solvers of A x = λ B x.
inline const std::vector<SolverType> kEigensolvers = {SolverType::lobpcg, SolverType::block_lanczos,
                                                      SolverType::automatic};

/// Adds the rows of the fields of the request whose keys stand in `section`.
void add_request_rows(std::vector<KeySpec>& rows, std::string_view section);

/// Adds the rows of `solver` and of its keys.
void add_solver_rows(std::vector<KeySpec>& rows);

}  // namespace heddle::apps
