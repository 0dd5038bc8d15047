#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <heddle/apps/config/config.hpp>
#include <heddle/apps/config/yaml.hpp>
#include <memory>
#include <string>
#include <string_view>

namespace {

using namespace heddle::apps;

void check(std::string_view text, SolverType solver) {
  const auto source = std::make_shared<const ConfigSource>(ConfigSource{"fuzz.yaml", "/folder"});
  const auto resolve = [&](std::string_view yaml) {
    return resolve_config(parse_yaml(yaml, source), solver, "fuzz");
  };
  std::string printed;
  try {
    printed = to_yaml(resolve(text).effective);
  } catch (const ConfigError& error) {
    if (std::string_view(error.what()).find('\n') != std::string_view::npos) std::abort();
    return;
  }
  if (to_yaml(resolve(printed).effective) != printed) std::abort();
}

}  // namespace

/// libFuzzer: to each solver, any text is a configuration or is refused with a `ConfigError` of one
/// line, and what is printed of an accepted one reads back as the same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  for (const SolverType solver : {SolverType::automatic, SolverType::lobpcg,
                                  SolverType::block_lanczos, SolverType::block_cg}) {
    check({reinterpret_cast<const char*>(data), size}, solver);
  }
  return 0;
}
