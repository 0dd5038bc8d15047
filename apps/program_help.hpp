#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

/// The options of a program, as data from which manual pages and the completion of shells are made.
namespace heddle::apps {

/// An option, or an argument without a name.
struct OptionHelp {
  std::vector<std::string> names;  ///< such as "-n" and "--nev". Empty for an argument
  /// The value in help, such as "auto|N": lower-case words are typed, and capitals stand for
  /// values. Empty if the option has none.
  std::string value;
  std::string text;  ///< what it does
};

/// The words of `value` that are typed as they are.
std::vector<std::string> words_of(const OptionHelp& option);

/// Whether the value may be a file or a folder.
bool takes_path(const OptionHelp& option);

struct ProgramHelp {
  std::string name;     ///< as typed, "heddle solve"
  std::string summary;  ///< a sentence or more
  std::vector<OptionHelp> arguments;
  std::vector<OptionHelp> options;
  std::string footer;  ///< paragraphs, each a title with a colon and indented lines, or a text
};

/// The arguments and options of `app`.
ProgramHelp describe(const CLI::App& app);

/// Joins an optional value of the option `--json` to it, so that an argument that follows it is not
/// taken for its value: `-` and names that end in .json are values.
std::vector<std::string> with_joined_json(int argc, const char* const* argv);

/// Parses `arguments`, of which the first one is the program, by `app`. Returns false if only help
/// or the version was requested, which has then been printed to stdout. Throws `InvalidArgument`.
/// `advice`: what the message on a second file adds, with {} in place of its name.
bool parse(CLI::App& app, const std::vector<std::string>& arguments, std::string_view advice = "");

}  // namespace heddle::apps
