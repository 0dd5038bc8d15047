#pragma once

#include <heddle/apps/config/node.hpp>
#include <string>
#include <string_view>

/// YAML text from and to configuration trees.
namespace heddle::apps {

/// The one document in `text` as a tree; `<<` merges are resolved, explicit keys win over merged
/// ones. Throws `ConfigError` with line and column for what is not YAML, an empty text, several
/// documents, a key given twice, a key that is not a plain word, a tag beyond YAML's core schema,
/// and text that nests or expands (through aliases) beyond any use.
ConfigNode parse_yaml(std::string_view text, std::shared_ptr<const ConfigSource> source);

/// The file's tree, with paths in it relative to the file's folder. Throws `ConfigError`, also for
/// a file that cannot be read or is too large for a configuration.
ConfigNode read_yaml_file(const std::filesystem::path& path);

/// `node` as YAML text that `parse_yaml` reads back; lists on one line, maps in blocks.
std::string to_yaml(const ConfigNode& node);

}  // namespace heddle::apps
