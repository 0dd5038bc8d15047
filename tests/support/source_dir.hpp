#pragma once

#include <filesystem>

namespace heddle::test {

/// The folder of heddle's sources.
///
/// It is a function in one small source file, not a macro for all files, because a path on the
/// command line would make a compiler cache miss for every other folder.
std::filesystem::path source_dir();

}  // namespace heddle::test
