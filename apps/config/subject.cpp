#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <heddle/apps/config/programs.hpp>
#include <heddle/apps/config/settings.hpp>
#include <heddle/apps/config/subject.hpp>
#include <heddle/apps/config/yaml.hpp>
#include <heddle/apps/standard_input.hpp>
#include <heddle/drivers/problem/matrix_argument.hpp>
#include <heddle/linalg/formats/formats.hpp>
#include <string_view>

namespace heddle::apps {
namespace {

using namespace std::string_view_literals;

/// The first bytes of compressed files, NumPy arrays and zip archives (npz), which no configuration
/// begins with.
constexpr std::array kMatrixSignatures = {"\x1f\x8b"sv, "\x93NUMPY"sv, "PK\x03\x04"sv,
                                          "%%MatrixMarket"sv, "%%matrixmarket"sv};

std::string beginning_of(const std::filesystem::path& path) {
  constexpr std::size_t kBytes = 1 << 16;
  std::string text(kBytes, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  return text;
}

/// Whether the first line that is no comment begins with two numbers, as in a list of edges or
/// entries.
bool begins_with_numbers(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first == std::string_view::npos || line[first] == '#' || line[first] == '%') continue;
    const std::size_t gap = line.find_first_not_of("0123456789", first);
    const std::size_t second =
        gap == std::string_view::npos ? gap : line.find_first_not_of(" \t,", gap);
    return gap != first && second != std::string_view::npos && second != gap &&
           std::isdigit(static_cast<unsigned char>(line[second])) != 0;
  }
  return false;
}

/// Whether the name ends as those of matrix files do.
bool is_named_as_matrix(const std::filesystem::path& path) {
  const bool is_compressed = path.extension() == ".gz";
  std::string extension = (is_compressed ? path.stem() : path).extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const std::vector<FileFormat>& formats = file_formats();
  return is_compressed ||
         std::any_of(formats.begin(), formats.end(), [&extension](const FileFormat& format) {
           const auto& known = format.extensions;
           return std::find(known.begin(), known.end(), extension) != known.end();
         });
}

/// Whether a file is named as a matrix, or is no text or another text than a configuration.
bool is_matrix(const std::filesystem::path& path) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (is_named_as_matrix(path)) return true;
  const std::string whole = beginning_of(path);
  std::string_view text = whole;
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  return begins_with_numbers(text) || !foreign_format(text, path).empty() ||
         text.find('\0') != std::string_view::npos ||
         std::any_of(kMatrixSignatures.begin(), kMatrixSignatures.end(),
                     [&text](std::string_view signature) { return text.starts_with(signature); });
}

/// The name of a file without its folder and extensions, "K" for "data/K.mtx.gz".
std::string stem_of(const std::string& argument) {
  std::filesystem::path name = std::filesystem::path(argument).filename();
  if (name.extension() == ".gz") name = name.stem();
  return name.stem().string();
}

std::string name_of(const std::string& argument) {
  if (argument == kStandardInput) return "stdin";
  if (detail::names_generator(argument)) return argument.substr(0, argument.find(':'));
  return stem_of(argument);
}

/// The configuration of a problem with this matrix and no other key.
ConfigNode configuration_of_matrix(const std::string& argument) {
  const auto& schema = config_schema();
  const auto key = std::find_if(schema.begin(), schema.end(),
                                [](const KeySpec& spec) { return spec.path == "problem.matrix"; });
  ConfigNode tree;
  tree.kind = ConfigNode::Kind::map;
  tree.origin.source = std::make_shared<const ConfigSource>(ConfigSource{argument, {}, false});
  apply_setting(tree, {&*key, {argument}});
  return tree;
}

}  // namespace

GivenConfig read_subject(const std::string& argument, SolverType solver) {
  const bool is_standard_input = argument == kStandardInput;
  const std::filesystem::path path =
      is_standard_input ? standard_input_file() : std::filesystem::path(argument);
  const auto source = std::make_shared<const ConfigSource>(
      is_standard_input ? ConfigSource{"standard input", {}}
                        : ConfigSource{path.string(), path.parent_path()});
  const bool is_file =
      !detail::names_generator(argument) && !detail::names_collection_matrix(argument);
  if (is_file && !is_matrix(path)) {
    if (is_standard_input) claim_standard_input("the configuration");
    return {read_yaml_file(path, source), name_of(argument)};
  }
  if (solver == SolverType::automatic) {
    return {configuration_of_matrix(argument), name_of(argument)};
  }
  throw ConfigError({source}, fmt::format("is a matrix, {} expects a configuration; run heddle "
                                          "solve {} --solver {}",
                                          program_of(solver).name, argument, method_name(solver)));
}

}  // namespace heddle::apps
