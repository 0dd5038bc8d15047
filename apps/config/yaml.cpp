#include <fmt/format.h>
#include <yaml-cpp/emitter.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <fstream>
#include <heddle/apps/config/yaml.hpp>
#include <map>
#include <optional>
#include <sstream>
#include <utility>

namespace heddle::apps {
namespace {

constexpr std::size_t kMaxFileBytes = std::size_t{1} << 20;
/// A limit on the expansion of nested aliases.
constexpr std::size_t kMaxExpandedBytes = std::size_t{16} << 20;
/// A limit on nesting, deeper than any configuration and far below the size of the stack.
constexpr std::size_t kMaxDepth = 32;
constexpr std::string_view kMergeKey = "<<";

/// Builds the tree from the parser's events. There is one frame per open map or list. The frame of
/// a map holds the key whose value is being read.
class TreeBuilder final : public YAML::EventHandler {
 public:
  explicit TreeBuilder(std::shared_ptr<const ConfigSource> source) : source_(std::move(source)) {}

  ConfigNode take_root() { return std::move(root_); }

  Origin origin(const YAML::Mark& mark) const {
    return mark.is_null() ? Origin{source_} : Origin{source_, mark.line + 1, mark.column + 1};
  }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (documents_++ > 0) {
      throw ConfigError(origin(mark), "a second document begins here, a configuration has one");
    }
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    add(make(ConfigNode::Kind::null, mark), anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto target = anchors_.find(anchor);
    if (target == anchors_.end()) {
      throw ConfigError(origin(mark), "an alias inside the value it stands for");
    }
    ConfigNode copy = target->second;
    copy.origin = origin(mark);
    add(std::move(copy), YAML::NullAnchor);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    ConfigNode node = make(ConfigNode::Kind::scalar, mark);
    node.text = value;
    node.quoted = tag == "!" || tag == "tag:yaml.org,2002:str";
    check_tag(mark, tag);
    add(std::move(node), anchor);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(ConfigNode::Kind::sequence, mark, tag, anchor);
  }
  void OnSequenceEnd() override { close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(ConfigNode::Kind::map, mark, tag, anchor);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Frame {
    ConfigNode node;
    YAML::anchor_t anchor;
    std::optional<ConfigNode> key;        // a key that has been read, but not its value
    std::vector<ConfigNode> merged = {};  // the maps under `<<`
  };

  ConfigNode make(ConfigNode::Kind kind, const YAML::Mark& mark) const {
    ConfigNode node;
    node.kind = kind;
    node.origin = origin(mark);
    return node;
  }

  void check_tag(const YAML::Mark& mark, const std::string& tag) const {
    if (tag.size() > 1 && tag.rfind("tag:yaml.org,2002:", 0) != 0) {
      throw ConfigError(origin(mark), fmt::format("unknown tag '{}'", tag));
    }
  }

  void open(ConfigNode::Kind kind, const YAML::Mark& mark, const std::string& tag,
            YAML::anchor_t anchor) {
    if (frames_.size() == kMaxDepth) {
      throw ConfigError(origin(mark), fmt::format("nested more than {} levels deep", kMaxDepth));
    }
    check_tag(mark, tag);
    frames_.push_back({make(kind, mark), anchor, std::nullopt});
  }

  void close() {
    Frame frame = std::move(frames_.back());
    frames_.pop_back();
    for (const ConfigNode& map : frame.merged) merge_into(frame.node, map);
    add(std::move(frame.node), frame.anchor);
  }

  void merge_into(ConfigNode& target, const ConfigNode& map) {
    for (const ConfigEntry& entry : map.entries) {
      if (target.find(entry.key) == nullptr) target.entries.push_back(entry);
    }
  }

  static std::size_t expanded_bytes(const ConfigNode& node) {
    std::size_t bytes = sizeof(ConfigNode) + node.text.size();
    for (const ConfigNode& item : node.items) bytes += expanded_bytes(item);
    for (const ConfigEntry& entry : node.entries) {
      bytes += entry.key.size() + expanded_bytes(entry.value);
    }
    return bytes;
  }

  void add(ConfigNode node, YAML::anchor_t anchor) {
    expanded_bytes_ += expanded_bytes(node);
    if (expanded_bytes_ > kMaxExpandedBytes) {
      throw ConfigError(node.origin, "the values up to here are more than any configuration holds");
    }
    if (anchor != YAML::NullAnchor) anchors_[anchor] = node;
    if (frames_.empty()) {
      root_ = std::move(node);
    } else if (Frame& frame = frames_.back(); frame.node.is_sequence()) {
      frame.node.items.push_back(std::move(node));
    } else if (!frame.key) {
      add_key(frame, std::move(node));
    } else {
      add_value(frame, std::move(node));
    }
  }

  void add_key(Frame& frame, ConfigNode key) {
    if (!key.is_scalar()) throw ConfigError(key.origin, "a key must be a word");
    if (frame.node.find(key.text) != nullptr) {
      throw ConfigError(key.origin, fmt::format("key '{}' is given twice, first on line {}",
                                                key.text, first_line(frame.node, key.text)));
    }
    frame.key = std::move(key);
  }

  static int first_line(const ConfigNode& map, const std::string& key) {
    for (const ConfigEntry& entry : map.entries) {
      if (entry.key == key) return entry.origin.line;
    }
    return 0;
  }

  void add_value(Frame& frame, ConfigNode value) {
    const ConfigNode key = *std::exchange(frame.key, std::nullopt);
    // For a missing value, the parser reports the position of the next token.
    if (value.kind == ConfigNode::Kind::null) value.origin = key.origin;
    if (key.text != kMergeKey || key.quoted) {
      frame.node.entries.push_back({key.text, key.origin, std::move(value)});
    } else if (value.is_map()) {
      frame.merged.push_back(std::move(value));
    } else {
      add_merge_list(frame, value);
    }
  }

  void add_merge_list(Frame& frame, const ConfigNode& value) {
    if (!value.is_sequence()) throw ConfigError(value.origin, "'<<' takes a map or a list of maps");
    for (const ConfigNode& item : value.items) {
      if (!item.is_map()) throw ConfigError(item.origin, "'<<' takes a map or a list of maps");
      frame.merged.push_back(item);
    }
  }

  std::shared_ptr<const ConfigSource> source_;
  std::vector<Frame> frames_;
  std::map<YAML::anchor_t, ConfigNode> anchors_;
  ConfigNode root_;
  std::size_t expanded_bytes_ = 0;
  int documents_ = 0;
};

void emit(YAML::Emitter& out, const ConfigNode& node) {
  switch (node.kind) {
    case ConfigNode::Kind::null:
      out << YAML::Null;
      break;
    case ConfigNode::Kind::scalar:
      // The emitter writes a carriage return unchanged, which a reader takes for a line end.
      if (node.quoted || node.text.find('\r') != std::string::npos) out << YAML::DoubleQuoted;
      out << node.text;
      break;
    case ConfigNode::Kind::sequence:
      out << YAML::Flow << YAML::BeginSeq;
      for (const ConfigNode& item : node.items) emit(out, item);
      out << YAML::EndSeq;
      break;
    case ConfigNode::Kind::map:
      out << YAML::BeginMap;
      for (const ConfigEntry& entry : node.entries) {
        out << YAML::Key << entry.key << YAML::Value;
        emit(out, entry.value);
      }
      out << YAML::EndMap;
      break;
  }
}

}  // namespace

ConfigNode parse_yaml(std::string_view text, std::shared_ptr<const ConfigSource> source) {
  TreeBuilder builder(source);
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    if (!parser.HandleNextDocument(builder)) throw ConfigError({source}, "is empty");
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& error) {
    throw ConfigError(builder.origin(error.mark), "not readable as YAML: " + error.msg);
  }
  return builder.take_root();
}

ConfigNode read_yaml_file(const std::filesystem::path& path,
                          std::shared_ptr<const ConfigSource> source) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) throw ConfigError({source}, "no such file");
  if (std::filesystem::is_directory(status)) {
    throw ConfigError({source}, "is a folder, expected a YAML file");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) throw ConfigError({source}, "cannot be opened for reading");
  std::string text(kMaxFileBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) throw ConfigError({source}, "cannot be read");
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > kMaxFileBytes) {
    throw ConfigError({source}, "is larger than 1 MiB, not a configuration file");
  }
  return parse_yaml(text, source);
}

std::string to_yaml(const ConfigNode& node) {
  YAML::Emitter out;
  emit(out, node);
  return std::string(out.c_str()) + "\n";
}

}  // namespace heddle::apps
