#include <fmt/format.h>

#include <algorithm>
#include <heddle/apps/config/schema.hpp>
#include <heddle/apps/front/commands.hpp>
#include <heddle/apps/front/completion.hpp>
#include <heddle/apps/front/manual.hpp>
#include <heddle/apps/front/programs.hpp>
#include <heddle/linalg/base/error.hpp>
#include <iterator>

namespace heddle::apps {
namespace {

// heddle completes the commands that it has itself and the programs heddle-NAME on the path. The
// options of a command are those of its program.
constexpr std::string_view kBash = R"sh(
_heddle() {
  local current=${COMP_WORDS[COMP_CWORD]} previous= program=${COMP_WORDS[0]##*/} first=1
  COMPREPLY=()
  if [[ $program == heddle ]]; then
    if ((COMP_CWORD == 1)); then
      local programs
      programs=$(compgen -c heddle- | sed 's/^heddle-//')
      COMPREPLY=($(compgen -W "$_heddle_commands $programs" -- "$current"))
      return
    fi
    case ${COMP_WORDS[1]} in
      solve) program='heddle solve' ;;
      completion) COMPREPLY=($(compgen -W 'bash zsh' -- "$current")); return ;;
      config) COMPREPLY=($(compgen -W '--markdown --schema' -- "$current")); return ;;
      man) COMPREPLY=($(compgen -W "$_heddle_pages" -- "$current")); return ;;
      help) COMPREPLY=($(compgen -W "$_heddle_commands" -- "$current")); return ;;
      *) program=heddle-${COMP_WORDS[1]} ;;
    esac
    first=2
  fi
  if ((COMP_CWORD > first)); then previous=${COMP_WORDS[COMP_CWORD - 1]}; fi
  if [[ $previous == --set ]]; then
    COMPREPLY=($(compgen -S = -W "$_heddle_keys" -- "$current"))
    compopt -o nospace 2>/dev/null
    return
  fi
  local words
  if [[ $previous == -* ]] && words=$(_heddle_values "$program" "$previous"); then
    COMPREPLY=($(compgen -W "$words" -- "$current"))
    if [[ " $words " == *' FILE '* ]]; then COMPREPLY=($(compgen -f -- "$current")); fi
  elif [[ $current == -* ]]; then
    COMPREPLY=($(compgen -W "$(_heddle_options "$program")" -- "$current"))
  else
    COMPREPLY=($(compgen -f -- "$current"))
    compopt -o filenames 2>/dev/null
  fi
}

complete -F _heddle)sh";

constexpr std::string_view kZsh = R"sh(
_heddle() {
  local program=${words[1]:t}
  if [[ $program == heddle ]]; then
    if (( CURRENT == 2 )); then
      _describe command _heddle_commands
      return
    fi
    program=$words[2]
    shift words
    (( CURRENT -= 1 ))
    case $program in
      solve) program='heddle solve' ;;
      completion) compadd bash zsh; return ;;
      config) compadd -- --markdown --schema; return ;;
      man) compadd -- $=_heddle_pages; return ;;
      help) _describe command _heddle_commands; return ;;
      *) program=heddle-$program ;;
    esac
  fi
  case $program in
)sh";

std::string shell_word(std::string_view text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'') {
      result += "'\\''";
    } else {
      result += c;
    }
  }
  return result + "'";
}

std::string key_names(std::string_view suffix) {
  std::vector<std::string> names;
  for (const KeySpec& spec : config_schema()) {
    const std::string name = spec.path + std::string(suffix);
    const bool is_value = !spec.forms.section || spec.forms.file;
    const bool is_new = std::find(names.begin(), names.end(), name) == names.end();
    if (is_value && is_new) names.push_back(name);
  }
  return fmt::format("{}", fmt::join(names, " "));
}

std::string command_names() {
  std::string names = "solve";
  for (const Command& command : own_commands()) names += fmt::format(" {}", command.name);
  for (const PackageProgram& program : package_programs()) {
    names += fmt::format(" {}", program.name);
  }
  return names;
}

/// The names of the programs that the script is for.
std::string commands_with_completion() {
  std::string names = "heddle";
  for (const ProgramHelp& program : programs_with_options()) {
    if (program.name.find(' ') == std::string::npos) names += " " + program.name;
  }
  return names;
}

std::string bash_options(const std::vector<ProgramHelp>& programs) {
  std::string text = "_heddle_options() {\n  case $1 in\n";
  for (const ProgramHelp& program : programs) {
    std::vector<std::string> names;
    for (const OptionHelp& option : program.options) {
      names.insert(names.end(), option.names.begin(), option.names.end());
    }
    fmt::format_to(std::back_inserter(text), "    {}) echo {} ;;\n", shell_word(program.name),
                   shell_word(fmt::format("{}", fmt::join(names, " "))));
  }
  return text + "  esac\n}\n\n";
}

/// A function that prints the words which may follow an option, with FILE where files may, and
/// fails for options without a value.
std::string bash_values(const std::vector<ProgramHelp>& programs) {
  std::string text = "_heddle_values() {\n  case \"$1 $2\" in\n";
  for (const ProgramHelp& program : programs) {
    for (const OptionHelp& option : program.options) {
      if (option.value.empty()) continue;
      std::vector<std::string> patterns;
      for (const std::string& name : option.names) {
        patterns.push_back(shell_word(program.name + " " + name));
      }
      std::vector<std::string> words = words_of(option);
      if (takes_path(option)) words.emplace_back("FILE");
      fmt::format_to(std::back_inserter(text), "    {}) echo {} ;;\n", fmt::join(patterns, " | "),
                     shell_word(fmt::format("{}", fmt::join(words, " "))));
    }
  }
  return text + "    *) return 1 ;;\n  esac\n}\n";
}

std::string bash_script() {
  const std::vector<ProgramHelp> programs = programs_with_options();
  return fmt::format(
      "# Completion for bash, made by: heddle completion bash\n"
      "# source <(heddle completion bash)\n\n"
      "_heddle_commands={}\n_heddle_pages={}\n_heddle_keys={}\n\n{}{}{} {}\n",
      shell_word(command_names()), shell_word(fmt::format("{}", fmt::join(manual_pages(), " "))),
      shell_word(key_names("")), bash_options(programs), bash_values(programs), kBash,
      commands_with_completion());
}

/// Text within the brackets or after a colon of a specification of _arguments.
std::string zsh_text(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string zsh_action(const OptionHelp& option) {
  if (option.value == "KEY=VALUE") return ":KEY=VALUE:_heddle_set";
  if (option.value == "A B" || option.value == "F1 F2") return ":from: :to: ";
  const std::vector<std::string> words = words_of(option);
  const std::string message = zsh_text(option.value);
  if (takes_path(option)) return fmt::format(":{}:_files", message);
  if (words.empty()) return fmt::format(":{}: ", message);
  return fmt::format(":{}:({})", message, fmt::join(words, " "));
}

/// The specifications of an option for _arguments, one per name.
std::string zsh_option(const OptionHelp& option) {
  std::string text;
  const bool repeats = option.value == "KEY=VALUE";
  const std::string summary = option.text.substr(0, option.text.find(';'));
  for (const std::string& name : option.names) {
    const bool is_long = name.starts_with("--");
    const std::string joined = option.value.empty() ? "" : is_long ? "=" : "+";
    const std::string others = repeats ? "*" : fmt::format("({})", fmt::join(option.names, " "));
    text +=
        fmt::format("        {} \\\n",
                    shell_word(fmt::format("{}{}{}[{}]{}", others, name, joined, zsh_text(summary),
                                           option.value.empty() ? "" : zsh_action(option))));
  }
  return text;
}

std::string zsh_script() {
  std::string text = fmt::format(
      "#compdef {}\n# Completion for zsh, made by: heddle completion zsh\n\n"
      "typeset -ga _heddle_commands\n_heddle_commands=(\n  'solve:solves a problem'\n",
      commands_with_completion());
  const auto describe = [&text](std::string_view name, std::string_view summary) {
    text += fmt::format("  {}\n", shell_word(fmt::format("{}:{}", name, zsh_text(summary))));
  };
  for (const Command& command : own_commands()) describe(command.name, command.summary);
  for (const PackageProgram& program : package_programs()) describe(program.name, program.summary);
  for (const ProgramHelp& program : programs_with_options()) {
    constexpr std::string_view kPrefix = "heddle-";
    if (!program.name.starts_with(kPrefix)) continue;
    describe(std::string_view(program.name).substr(kPrefix.size()), program.summary);
  }
  text += fmt::format(
      ")\n_heddle_pages={}\n\n_heddle_set() {{\n  compadd \"$@\" -S '' -- {}\n}}\n{}",
      shell_word(fmt::format("{}", fmt::join(manual_pages(), " "))), key_names("="), kZsh);
  for (const ProgramHelp& program : programs_with_options()) {
    text += fmt::format("    {})\n      _arguments -s \\\n", shell_word(program.name));
    for (const OptionHelp& option : program.options) text += zsh_option(option);
    text += "        '1:file:_files' ;;\n";
  }
  return text +
         "    *) _files ;;\n  esac\n}\n\n"
         "if [[ $funcstack[1] == _heddle ]]; then _heddle \"$@\"; else compdef _heddle " +
         commands_with_completion() + "; fi\n";
}

}  // namespace

std::string completion_script(std::string_view shell) {
  if (shell == "bash") return bash_script();
  if (shell == "zsh") return zsh_script();
  throw InvalidArgument(fmt::format("completion is made for bash and zsh, not {}", shell));
}

}  // namespace heddle::apps
