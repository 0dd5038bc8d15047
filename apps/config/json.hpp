#pragma once

#include <heddle/apps/config/node.hpp>
#include <nlohmann/json_fwd.hpp>

namespace heddle::apps {

/// `node` as JSON. Scalars that are not quoted become numbers and booleans where they read as such.
nlohmann::ordered_json to_json(const ConfigNode& node);

}  // namespace heddle::apps
