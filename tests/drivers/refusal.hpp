#pragma once

#include <heddle/drivers/solve.hpp>
#include <heddle/linalg/base/error.hpp>
#include <string>

namespace heddle::test {

/// The message by which a solve is refused. Empty: it is not refused.
inline std::string refusal(const Problem& problem, const Request& request = {.nev = 1}) {
  try {
    solve(problem, request);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

}  // namespace heddle::test
