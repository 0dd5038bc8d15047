#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <heddle/apps/config/config.hpp>
#include <heddle/apps/config/yaml.hpp>
#include <memory>
#include <string>
#include <string_view>

/// libFuzzer: any text is a configuration or is refused with a `ConfigError` of one line, and what
/// is printed of an accepted one reads back as the same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace heddle::apps;
  const auto source = std::make_shared<const ConfigSource>(ConfigSource{"fuzz.yaml", "/folder"});
  const auto resolve = [&source](std::string_view text) {
    return resolve_config(parse_yaml(text, source), SolverType::lobpcg, "fuzz");
  };
  std::string printed;
  try {
    printed = to_yaml(resolve({reinterpret_cast<const char*>(data), size}).effective);
  } catch (const ConfigError& error) {
    if (std::string_view(error.what()).find('\n') != std::string_view::npos) std::abort();
    return 0;
  }
  if (to_yaml(resolve(printed).effective) != printed) std::abort();
  return 0;
}
