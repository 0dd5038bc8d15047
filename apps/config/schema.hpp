#pragma once

#include <array>
#include <functional>
#include <heddle/apps/config/config.hpp>
#include <heddle/drivers/problem/fields.hpp>
#include <heddle/drivers/problem/request.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The table of configuration keys. A key is described in exactly one row, from which checks,
/// messages, defaults, help and the printed configuration are derived.
namespace heddle::apps {

/// The words for `solver.type`.
inline constexpr std::array kSolverTypes = {SolverType::automatic, SolverType::lobpcg,
                                            SolverType::block_lanczos, SolverType::block_cg};

/// The default of output.directory. Two solvers do not overwrite each other's results.
inline constexpr std::string_view kDefaultDirectory = "results/{name}-{solver}";

/// The placeholder, as a default, for the executable's solver.
inline constexpr std::string_view kSolverPlaceholder = "{solver}";

using detail::kCount;
using detail::kNatural;
using detail::Range;

/// The forms of value that a key accepts. A value must have one of them.
/// Files to write are relative to the current folder.
struct ValueForms : detail::FieldForms {
  bool section = false;  ///< a map with keys of its own
  bool one_key = false;  ///< a section that accepts just one of its keys
  bool file = false;     ///< an existing file, relative to the source of the value
  bool folder = false;   ///< a folder to write to, relative to the current folder
  std::optional<Range<Index>> integers{};  ///< a list of integers in this range

  /// The forms as text for messages and help: "auto or an integer of at least 1".
  std::string describe() const;

  /// Whether `node` has one of the forms.
  bool accepts(const ConfigNode& node) const;
};

/// One key. If it means something else for some solvers, these have a row of their own for it.
struct KeySpec {
  std::string path;  ///< dotted, e.g. "solver.nev"
  ValueForms forms;
  /// The default as YAML. If it is empty, there is none, and the key is optional.
  /// `kSolverPlaceholder` stands for the solver's name.
  std::string fallback;
  std::string doc;                        ///< one line
  bool required = false;                  ///< the key must be given if its section is present
  std::vector<SolverType> only_for;       ///< empty: every solver
  std::vector<std::string_view> aliases;  ///< names of this key in other packages, for suggestions
  /// Names of the option of the command line that sets this key, such as "-n,--nev". Empty: the key
  /// is set by the file or by --set only.
  std::string_view option;
  std::string_view option_sets;  ///< another KEY=VALUE that this option sets, or empty
  /// Whether the key affects how the problem is solved, but not which problem. With `solver.type:
  /// auto`, such a key may also be given for a method that is not chosen. It then has no effect.
  bool tuning = false;
  /// Stores the checked value in the configuration.
  std::function<void(const ConfigNode&, Config&)> store;

  std::string_view name() const noexcept;     ///< the path's last part
  std::string_view section() const noexcept;  ///< the path before it, empty at the top
  bool applies_to(SolverType solver) const noexcept;
};

/// All keys in the order in which they are printed. A section comes before its keys.
const std::vector<KeySpec>& config_schema();

/// The types that have the key, "all" if it is every one. `auto` is left out: it has the keys of
/// all.
std::string types_of(const KeySpec& spec);

/// The path of the file named by a value of the form `file`. `-` stays `-`, for standard input.
std::filesystem::path resolve_file(const ConfigNode& node);

/// A scalar as an integer, or empty if it is not one. Quoted text is never a number.
std::optional<Index> as_integer(const ConfigNode& node);
std::optional<double> as_real(const ConfigNode& node);

/// The end of an interval: a number, or `inf` or `-inf`, also with a dot before it as in YAML.
std::optional<double> as_end(const ConfigNode& node);

}  // namespace heddle::apps
