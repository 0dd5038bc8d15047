#pragma once

#include <cstdint>
#include <filesystem>
#include <heddle/apps/config/config.hpp>
#include <optional>
#include <string>
#include <vector>

namespace heddle::apps {

/// The facts that distinguish a run from another one that computes the same: the object `run` of
/// `result.json`.
struct RunFacts {
  std::string started;               ///< in UTC, as 2026-01-31T23:59:59Z (ISO 8601)
  std::string host;                  ///< the name of the machine
  std::string processor;             ///< the name of its CPU model, empty if it is unknown
  std::string folder;                ///< the current folder, to which relative names refer
  std::vector<std::string> command;  ///< the command line, one word per entry
};

/// The facts of this process, which starts now.
RunFacts run_facts(int argc, const char* const* argv);

/// A file that a run reads, as it was when the run read it.
struct InputSum {
  std::string key;  ///< of the configuration, such as "problem.matrix"
  std::filesystem::path path;
  std::uint64_t bytes = 0;
  std::uint32_t crc32 = 0;  ///< of the bytes of the file, as zlib and `crc32` compute it
};

/// The regular files that `config` names, in the order of its keys. A file that cannot be read is
/// left out.
std::vector<InputSum> input_sums(const Config& config);

}  // namespace heddle::apps
