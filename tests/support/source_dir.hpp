#pragma once

#include <filesystem>

namespace heddle::test {

/// The folder of heddle's sources.
///
/// A function of one small source file and not a macro for all: a compiler cache takes the same
/// test in another folder for another one when that folder stands on its command line.
std::filesystem::path source_dir();

}  // namespace heddle::test
