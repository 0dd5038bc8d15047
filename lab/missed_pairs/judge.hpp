#pragma once

#include <heddle/drivers/problem/solution.hpp>

#include "missed_pairs/cases.hpp"

namespace heddle::lab {

/// What is wrong with a solution.
enum class Verdict {
  right,
  missing,         ///< converged without a pair that lies before the last value
  proven_missing,  ///< the same, and called proven
  beyond_bound,    ///< converged, with a value that is not within its error bound
  unsolved,        ///< another status than converged
};

Verdict judge(const Case& given, const Solution& solution);

}  // namespace heddle::lab
