#include "lab/program.hpp"

namespace heddle::lab::test {

std::string program(const std::string& name) { return HEDDLE_LAB "/" + name; }

}  // namespace heddle::lab::test
