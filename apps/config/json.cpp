#include <heddle/apps/config/json.hpp>
#include <heddle/apps/config/schema.hpp>
#include <nlohmann/json.hpp>

namespace heddle::apps {
namespace {

using Json = nlohmann::ordered_json;

Json scalar_json(const ConfigNode& node) {
  if (node.quoted) return node.text;
  if (node.text == "true" || node.text == "false") return node.text == "true";
  if (const auto value = as_integer(node)) return *value;
  if (const auto value = as_real(node)) return *value;
  return node.text;
}

}  // namespace

Json to_json(const ConfigNode& node) {
  switch (node.kind) {
    case ConfigNode::Kind::null:
      return nullptr;
    case ConfigNode::Kind::scalar:
      return scalar_json(node);
    case ConfigNode::Kind::sequence: {
      Json list = Json::array();
      for (const ConfigNode& item : node.items) list.push_back(to_json(item));
      return list;
    }
    case ConfigNode::Kind::map: {
      Json map = Json::object();
      for (const ConfigEntry& entry : node.entries) map[entry.key] = to_json(entry.value);
      return map;
    }
  }
  return nullptr;
}

}  // namespace heddle::apps
