#pragma once

#include <string_view>

namespace heddle::apps {

/// What this executable was built from and with.
struct Versions {
  std::string_view heddle;
  std::string_view compiler;
  std::string_view build_type;
  std::string_view eigen;
};

/// Set at configuration.
extern const Versions kVersions;

}  // namespace heddle::apps
