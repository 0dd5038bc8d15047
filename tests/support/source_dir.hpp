#pragma once

#include <filesystem>
#include <vector>

namespace heddle::test {

/// The folder of heddle's sources.
///
/// It is a function in one small source file, not a macro for all files, because a path on the
/// command line would make a compiler cache miss for every other folder.
std::filesystem::path source_dir();

/// The files of configs/ that configure one solve, sorted. The others describe studies, which have
/// a key `matrices`.
std::vector<std::filesystem::path> recipe_files();

}  // namespace heddle::test
