#pragma once

#include <string>

namespace heddle::lab::test {

/// Path of the program `name` of the lab of this build.
std::string program(const std::string& name);

}  // namespace heddle::lab::test
