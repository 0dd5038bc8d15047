#pragma once

#include <string>

namespace heddle::apps {

/// The configuration as a JSON Schema (draft 7), by which editors complete and check YAML files. A
/// file that names its `solver.type` may have the keys of this type only.
std::string config_json_schema();

}  // namespace heddle::apps
