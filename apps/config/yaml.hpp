#pragma once

#include <heddle/apps/config/node.hpp>
#include <string>
#include <string_view>

/// Conversion between YAML text and configuration trees.
namespace heddle::apps {

/// Parses `text`, which must be one YAML document, into a tree. `<<` merges are resolved, and
/// explicit keys take precedence over merged ones. Throws `ConfigError` with line and column for
/// invalid YAML, an empty text, several documents, duplicate keys, a key that is not a plain word,
/// a tag beyond YAML's core schema, and text that nests or expands (through aliases) too far.
ConfigNode parse_yaml(std::string_view text, std::shared_ptr<const ConfigSource> source);

/// Parses the file at `path`, which messages name as `source` does. Throws `ConfigError`, also for
/// a file that cannot be read or is too large for a configuration.
ConfigNode read_yaml_file(const std::filesystem::path& path,
                          std::shared_ptr<const ConfigSource> source);

/// `node` as YAML text that `parse_yaml` can read. Lists are on one line, maps in blocks.
std::string to_yaml(const ConfigNode& node);

}  // namespace heddle::apps
