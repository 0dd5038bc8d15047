#pragma once

#include <string>
#include <string_view>

namespace heddle::apps {

/// The versions of this executable's source, compiler and libraries.
struct Versions {
  std::string_view heddle;
  std::string_view compiler;
  std::string_view build_type;
  std::string_view eigen;
  std::string_view commit;  ///< as `git describe` gives it, empty for a source without its history
};

/// The values are set when CMake configures the build, the commit at each build.
extern const Versions kVersions;

/// The text that --version prints for the executable `name`: versions, and the instruction set of
/// the host kernels. Throws as `instruction_set` does.
std::string version_text(std::string_view name);

}  // namespace heddle::apps
