#pragma once

#include <functional>
#include <heddle/apps/config/config.hpp>
#include <heddle/drivers/methods.hpp>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The table of configuration keys. Everything said about a key stands in its one row; checks,
/// messages, defaults, help and the printed configuration come from the rows.
namespace heddle::apps {

using detail::method_name;

/// Stands for the configuration's name (its file's, without the extension) in a default.
inline constexpr std::string_view kNamePlaceholder = "{name}";

/// Stands for the executable's solver as a default.
inline constexpr std::string_view kSolverPlaceholder = "{solver}";

/// Numbers between two ends.
template <class Number>
struct Range {
  Number low = std::numeric_limits<Number>::lowest();
  Number high = std::numeric_limits<Number>::max();
  bool open = false;  ///< the ends themselves are outside

  bool contains(Number x) const noexcept {
    return open ? low < x && x < high : low <= x && x <= high;
  }
};

inline constexpr Range<Index> kCount{.low = 1};
inline constexpr Range<Index> kNatural{.low = 0};

/// The forms that a key's value may take; any one of them will do.
struct ValueForms {
  bool section = false;                 ///< a map with keys of its own
  bool one_key = false;                 ///< a section: with just one of them
  bool file = false;                    ///< a file to read, relative to where the value is written
  bool new_file = false;                ///< a file to write, relative to the current folder
  bool folder = false;                  ///< a folder to write to, relative to the current one
  std::vector<std::string_view> words;  ///< one of these
  std::optional<Range<Index>> integer;
  std::optional<Range<double>> real;
  std::optional<Range<Index>> integers;  ///< a list of integers in this range
  bool interval = false;                 ///< a list of two finite numbers, the larger one last

  /// For messages and help: "auto or an integer of at least 1".
  std::string describe() const;

  /// Whether `node` has one of the forms.
  bool accepts(const ConfigNode& node) const;
};

/// One key. Where it means something else to some solvers, these have a row of their own for it.
struct KeySpec {
  std::string path;  ///< dotted, e.g. "solver.nev"
  ValueForms forms;
  /// Default, as YAML; empty: none, the key may be left out. `kNamePlaceholder` in it stands for
  /// the configuration's name, `kSolverPlaceholder` is the solver's.
  std::string fallback;
  std::string doc;                        ///< one line
  bool required = false;                  ///< in a section that is there
  std::vector<SolverType> only_for;       ///< empty: every solver
  std::vector<std::string_view> aliases;  ///< names in other packages, for hints
  /// Puts the checked value into the configuration.
  std::function<void(const ConfigNode&, Config&)> store;

  std::string_view name() const noexcept;     ///< the path's last part
  std::string_view section() const noexcept;  ///< the path before it, empty at the top
  bool applies_to(SolverType solver) const noexcept;
};

/// All keys, a section before its keys, in the order in which they are printed.
const std::vector<KeySpec>& config_schema();

/// The file that a value of the form `file` names.
std::filesystem::path resolve_file(const ConfigNode& node);

/// A scalar as a number; empty if it does not read as one. Quoted text never does.
std::optional<Index> as_integer(const ConfigNode& node);
std::optional<double> as_real(const ConfigNode& node);

}  // namespace heddle::apps
