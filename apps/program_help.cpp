#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <heddle/apps/program_help.hpp>
#include <heddle/linalg/base/error.hpp>
#include <string_view>

namespace heddle::apps {
namespace {

std::vector<std::string> parts_of(const std::string& value) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin < value.size();) {
    const std::size_t end = std::min(value.find('|', begin), value.size());
    parts.push_back(value.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

bool is_typed(const std::string& part) {
  return !part.empty() && std::none_of(part.begin(), part.end(), [](char c) {
    return std::isupper(static_cast<unsigned char>(c)) != 0;
  });
}

/// The fault in the first argument that `app` has no use for.
std::string describe_unexpected(const CLI::App& app, std::string_view advice) {
  const std::vector<std::string> words = app.remaining();
  const auto option = std::find_if(words.begin(), words.end(), [](const std::string& word) {
    return word.size() > 1 && word.front() == '-';
  });
  if (option != words.end()) return fmt::format("{} has no option {}", app.get_name(), *option);
  return fmt::format("{} is one file too many: run {} once per file{}", words.front(),
                     app.get_name(), fmt::format(fmt::runtime(advice), words.front()));
}

}  // namespace

std::vector<std::string> words_of(const OptionHelp& option) {
  std::vector<std::string> words = parts_of(option.value);
  words.erase(std::remove_if(words.begin(), words.end(),
                             [](const std::string& part) { return !is_typed(part); }),
              words.end());
  return words;
}

bool takes_path(const OptionHelp& option) {
  const std::vector<std::string> parts = parts_of(option.value);
  return std::any_of(parts.begin(), parts.end(), [](const std::string& part) {
    return part == "FILE" || part == "FOLDER" || part == "MATRIX" || part == "CONFIG";
  });
}

ProgramHelp describe(const CLI::App& app) {
  ProgramHelp help{app.get_name(), app.get_description(), {}, {}, app.get_footer()};
  for (const CLI::Option* option : app.get_options()) {
    OptionHelp described;
    for (const std::string& name : option->get_snames()) described.names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) described.names.push_back("--" + name);
    if (option->get_items_expected_max() > 0) described.value = option->get_type_name();
    described.text = option->get_description();
    if (described.names.empty()) {
      described.value = option->get_name(true);
      help.arguments.push_back(std::move(described));
    } else {
      help.options.push_back(std::move(described));
    }
  }
  return help;
}

std::vector<std::string> with_joined_json(int argc, const char* const* argv) {
  std::vector<std::string> words;
  for (int i = 0; i < argc; ++i) {
    const std::string_view word = argv[i];
    const bool is_value = i > 0 && std::string_view(argv[i - 1]) == "--json" &&
                          (word == "-" || word.ends_with(".json"));
    if (is_value) {
      words.back() += fmt::format("={}", word);
    } else {
      words.emplace_back(word);
    }
  }
  return words;
}

bool parse(CLI::App& app, const std::vector<std::string>& arguments, std::string_view advice) {
  std::vector<const char*> words;
  for (const std::string& argument : arguments) words.push_back(argument.c_str());
  try {
    app.parse(static_cast<int>(words.size()), words.data());
  } catch (const CLI::Success& request) {
    app.exit(request);
    return false;
  } catch (const CLI::ExtrasError&) {
    throw InvalidArgument(
        fmt::format("{}; see {} --help", describe_unexpected(app, advice), app.get_name()));
  } catch (const CLI::ParseError& error) {
    throw InvalidArgument(fmt::format("{}; see {} --help", error.what(), app.get_name()));
  }
  return true;
}

}  // namespace heddle::apps
