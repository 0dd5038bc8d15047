#pragma once

#include <string>

namespace heddle::apps::test {

/// Path of the executable `name` (e.g. heddle-cg) of this build.
///
/// A function of one small source file and not a macro for all: a compiler cache takes the same
/// test in another folder for another one when that folder stands on its command line.
std::string executable(const std::string& name);

}  // namespace heddle::apps::test
