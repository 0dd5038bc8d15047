#pragma once

#include <cstddef>
#include <filesystem>
#include <heddle/linalg/base/error.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::apps {

/// The origin of configuration text: a file, or one `--set` on the command line.
struct ConfigSource {
  std::string name;                      ///< the name in messages
  std::filesystem::path base_directory;  ///< the folder that relative matrix paths in it refer to
  bool has_lines = true;                 ///< whether messages give lines and columns
};

/// The position of a key or value in its source.
struct Origin {
  std::shared_ptr<const ConfigSource> source;
  int line = 0;  ///< from 1; 0 if the error belongs to the source as a whole
  int column = 0;

  /// "SOURCE:LINE:COLUMN", or "SOURCE" alone.
  std::string describe() const;
};

/// An invalid configuration. `what()` is "ORIGIN: message" on one line, whatever characters the
/// configuration contains.
class ConfigError : public InvalidArgument {
 public:
  ConfigError(const Origin& origin, const std::string& message);
};

struct ConfigEntry;

/// A value of a configuration tree: YAML with anchors, aliases and merges resolved.
struct ConfigNode {
  enum class Kind { null, scalar, sequence, map };

  Kind kind = Kind::null;
  Origin origin;
  std::string text;  ///< scalar: its characters, unquoted
  bool quoted =
      false;  ///< scalar: written in quotes, so it is a string even if it looks like a number
  std::vector<ConfigNode> items;     ///< sequence
  std::vector<ConfigEntry> entries;  ///< map, in the order written, keys unique

  bool is_map() const noexcept { return kind == Kind::map; }
  bool is_sequence() const noexcept { return kind == Kind::sequence; }
  bool is_scalar() const noexcept { return kind == Kind::scalar; }

  /// The value at `key` of a map, null if there is none.
  const ConfigNode* find(std::string_view key) const noexcept;
  ConfigNode* find(std::string_view key) noexcept;
};

/// One key of a map.
struct ConfigEntry {
  std::string key;
  Origin origin;  ///< of the key
  ConfigNode value;
};

}  // namespace heddle::apps
