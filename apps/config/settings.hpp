#pragma once

#include <heddle/apps/config/config.hpp>
#include <heddle/apps/config/schema.hpp>
#include <string>
#include <string_view>
#include <vector>

/// Options of the command line that set keys of the configuration. They are read from the schema:
/// every key with `KeySpec::option` has one.
namespace heddle::apps {

/// An option that sets a key.
struct KeyOption {
  const KeySpec* key;    ///< the first row with this option and this path
  std::string argument;  ///< its value in help: lower-case words are typed, capitals are values
  int words = 1;         ///< words that the value consists of
};

/// The options that a program for `solver` takes, in the order of the schema. `automatic` takes
/// all.
std::vector<KeyOption> key_options(SolverType solver);

/// The value of an option on a command line.
struct Setting {
  const KeySpec* key;
  std::vector<std::string> words;
  std::string given{};  ///< the option with its words, where it is not one of the key's
};

/// An option that sets a key to eigenvalues (2π f)², given as frequencies f in cycles per unit of
/// time. The eigenvalues keep the signs of the frequencies.
struct FrequencyOption {
  std::string_view name;
  const KeySpec* key;
  std::string_view argument;  ///< as that of `KeyOption`
  int words;
  std::string_view doc;
};

/// The options in frequencies whose keys `solver` reads.
std::vector<FrequencyOption> frequency_options(SolverType solver);

/// The setting of the key to the squares. Throws `InvalidArgument` for words that are no numbers.
Setting setting_of(const FrequencyOption& option, const std::vector<std::string>& words);

/// Sets the value of `setting` in `tree`. A matrix may be given as a file or as NAME:SIZE,SIZE, as
/// `detail::names_generator` distinguishes them. A section that accepts one of several keys is
/// given as KEY:VALUE, or KEY:VALUE,VALUE for a list, unless a file has this name. Files are
/// relative to the current folder.
void apply_setting(ConfigNode& tree, const Setting& setting);

/// Sets the values of all `settings` in `tree`. Before them, it sets the other keys that their
/// options set, so that an option for such a key keeps its value.
void apply_settings(ConfigNode& tree, const std::vector<Setting>& settings);

}  // namespace heddle::apps
