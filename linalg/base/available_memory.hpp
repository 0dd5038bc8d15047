#pragma once

#include <filesystem>
#include <string>

namespace heddle::detail {

/// Host memory that this process may use in all, with what it uses now.
struct AvailableMemory {
  double bytes = 0;
  double unused = 0;  ///< the part of it that this process does not use now
  std::string owner;  ///< what limits it, as the subject of a sentence
};

/// The smallest of: the physical memory of this machine; the limits of this process's control
/// groups (memory.max of version 2, memory.limit_in_bytes of version 1), less what other processes
/// of the group use, without the cache of files; and the limits of the address space and the data
/// segment (ulimit -v and -d), less what this process has mapped without using it. `root` is the
/// folder that holds proc and sys.
AvailableMemory available_memory(const std::filesystem::path& root = "/");

}  // namespace heddle::detail
