#pragma once

#include <heddle/apps/config/config.hpp>
#include <string>

namespace heddle::apps {

/// A preconditioner as it will be built.
struct PreconditionerPlan {
  PreconditionerChoice type = PreconditionerChoice::none;  ///< not `automatic`
  bool of_mass = false;                                    ///< from B instead of A
  int degree = 0;                                          ///< of a Chebyshev polynomial

  /// "none", "jacobi of A", "chebyshev of B, degree 10".
  std::string describe() const;
};

/// What `config` means for a single matrix or a pencil.
PreconditionerPlan plan_preconditioner(const Config& config, bool pencil);

}  // namespace heddle::apps
