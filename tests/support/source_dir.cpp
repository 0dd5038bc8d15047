#include "support/source_dir.hpp"

namespace heddle::test {

std::filesystem::path source_dir() { return HEDDLE_SOURCE_DIR; }

}  // namespace heddle::test
