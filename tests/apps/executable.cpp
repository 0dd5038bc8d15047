#include "apps/executable.hpp"

namespace heddle::apps::test {

std::string executable(const std::string& name) { return HEDDLE_EXECUTABLES "/" + name; }

}  // namespace heddle::apps::test
