#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <heddle/linalg/base/sanitizers.hpp>
#include <numeric>
#include <vector>

namespace heddle::test {

/// Whether the tests are compiled with a sanitizer, which makes them ten times slower. What takes
/// longest does less there: sanitizers look at accesses, not at digits.
#if defined(HEDDLE_ADDRESS_SANITIZER) || defined(HEDDLE_THREAD_SANITIZER)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

/// The seeds 0 to count − 1, with a sanitizer two of them at most.
inline std::vector<std::uint64_t> seeds(std::size_t count) {
  std::vector<std::uint64_t> all(kSanitized ? std::min<std::size_t>(count, 2) : count);
  std::iota(all.begin(), all.end(), std::uint64_t{0});
  return all;
}

}  // namespace heddle::test

/// Leaves a test that takes long with a sanitizer, and whose code shorter tests run.
#define HEDDLE_SKIP_WITH_SANITIZER() \
  if (::heddle::test::kSanitized) GTEST_SKIP() << "takes long with a sanitizer"
