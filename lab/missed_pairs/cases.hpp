#pragma once

#include <heddle/drivers/problem/problem.hpp>
#include <heddle/drivers/problem/request.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "missed_pairs/spectra.hpp"

namespace heddle::lab {

/// A problem with a part that hides soft motions, and how it is solved. A seed determines it.
struct Case {
  Problem problem{};
  Request request{};
  std::vector<Mode> modes{};  ///< the nearest ones to the wanted end, which comes first
  std::string parts{};        ///< what the problem consists of
};

/// The names of the families.
const std::vector<std::string_view>& family_names();

/// `large`: with 10⁴ to 2·10⁵ rows, instead of 300 to 10⁴.
Case make_case(std::string_view family, std::uint64_t seed, bool large);

}  // namespace heddle::lab
