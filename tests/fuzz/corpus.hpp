#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>

#include "support/sanitized.hpp"
#include "support/source_dir.hpp"
#include "support/temporary_folder.hpp"

namespace heddle::test {

/// The seeds of a fuzz target by name, for tests that read them without the fuzzer.
inline std::map<std::string, std::string> corpus(const std::string& target) {
  std::map<std::string, std::string> seeds;
  const auto folder = source_dir() / "tests/fuzz/corpus" / target;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    seeds[entry.path().filename().string()] = contents(entry.path());
  }
  return seeds;
}

/// Expects that `fault_of` finds nothing wrong with what the readers do to the seeds, to every
/// beginning of one, and to seeds with one byte changed.
inline void expect_read_or_refused(const std::string& target,
                                   const std::function<std::string(std::string_view)>& fault_of) {
  const auto seeds = corpus(target);
  ASSERT_FALSE(seeds.empty());
  for (const auto& [name, seed] : seeds) {
    ASSERT_EQ(fault_of(seed), "") << name;
    for (std::size_t at = 0; at < seed.size(); ++at) {
      ASSERT_EQ(fault_of(std::string_view(seed).substr(0, at)), "") << name << " up to " << at;
      for (const int change : {0x01, 0x80}) {
        if (kSanitized && at % 5 != 0) continue;  // the fuzzer changes them with sanitizers
        std::string changed = seed;
        changed[at] = static_cast<char>(changed[at] ^ change);
        ASSERT_EQ(fault_of(changed), "") << name << ", byte " << at << " changed by " << change;
      }
    }
  }
}

}  // namespace heddle::test
