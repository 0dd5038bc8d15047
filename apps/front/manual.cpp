#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <heddle/apps/config/schema.hpp>
#include <heddle/apps/front/commands.hpp>
#include <heddle/apps/front/manual.hpp>
#include <heddle/apps/front/programs.hpp>
#include <heddle/apps/version.hpp>
#include <heddle/linalg/base/nearest_name.hpp>
#include <sstream>

namespace heddle::apps {
namespace {

constexpr std::string_view kKeysPage = "heddle-config";

/// Text that roff prints as it is.
std::string literal(std::string_view text) {
  std::string escaped;
  bool starts_line = true;
  for (const char c : text) {
    if (starts_line && (c == '.' || c == '\'')) escaped += "\\&";
    if (c == '\\') {
      escaped += "\\e";
    } else if (c == '-') {
      escaped += "\\-";
    } else {
      escaped += c;
    }
    if (c == '|') escaped += "\\:";  // allows the end of a line here
    starts_line = c == '\n';
  }
  return escaped;
}

std::string head(std::string_view name, int section, std::string_view summary) {
  std::string title(name);
  std::transform(title.begin(), title.end(), title.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return fmt::format(".TH {} {} \"\" \"heddle {}\" \"heddle\"\n.ad l\n.SH NAME\n{} \\- {}\n",
                     literal(title), section, kVersions.heddle, literal(name), literal(summary));
}

std::string item(const std::string& term, const std::string& text) {
  return fmt::format(".TP\n{}\n{}\n", term, text);
}

std::string option_item(const OptionHelp& option) {
  std::string term;
  for (const std::string& name : option.names) {
    term += fmt::format("{}\\fB{}\\fR", term.empty() ? "" : ", ", literal(name));
  }
  if (!option.value.empty()) {
    term += fmt::format("{}\\fI{}\\fR", term.empty() ? "" : " ", literal(option.value));
  }
  return item(term, literal(option.text));
}

/// The paragraphs of a program's footer. A first line that ends in a colon is the heading of the
/// lines below it.
std::string footer_sections(const std::string& footer) {
  std::string text;
  std::istringstream lines(footer);
  bool in_list = false;
  bool begins = true;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) {
      if (in_list) text += ".fi\n";
      in_list = false;
      begins = true;
      continue;
    }
    if (begins && line.back() == ':') {
      text += fmt::format(".SH {}\n.nf\n", literal(line.substr(0, line.size() - 1)));
      in_list = true;
    } else {
      if (begins) text += ".SH NOTES\n";
      text += literal(line) + "\n";
    }
    begins = false;
  }
  return in_list ? text + ".fi\n" : text;
}

std::string see_also(std::string_view page) {
  std::string text;
  for (const std::string& name : manual_pages()) {
    if (name == page) continue;
    text += fmt::format("{}\\fB{}\\fR({})", text.empty() ? "" : ",\n", literal(name),
                        name == kKeysPage ? 5 : 1);
  }
  return ".SH SEE ALSO\n" + text + "\n";
}

std::string program_page(const ProgramHelp& program) {
  const std::string name = one_word(program.name);
  std::string text = head(name, 1, program.summary);
  text += fmt::format(".SH SYNOPSIS\n\\fB{}\\fR [\\fIOPTION\\fR...]", literal(program.name));
  for (const OptionHelp& argument : program.arguments) {
    text += fmt::format(" \\fI{}\\fR", literal(argument.value));
  }
  text += "\n.SH ARGUMENTS\n";
  for (const OptionHelp& argument : program.arguments) text += option_item(argument);
  text += ".SH OPTIONS\n";
  for (const OptionHelp& option : program.options) text += option_item(option);
  return text + footer_sections(program.footer) + see_also(name);
}

std::string front_page() {
  std::string text = head("heddle", 1, "eigenpairs and linear systems of large sparse matrices");
  text += ".SH SYNOPSIS\n\\fBheddle\\fR \\fICOMMAND\\fR [\\fIARGUMENT\\fR...]\n.SH COMMANDS\n";
  text += item("\\fBsolve\\fR",
               literal("finds eigenpairs, singular triplets or solutions: heddle-solve(1)"));
  for (const Command& command : own_commands()) {
    text += item(fmt::format("\\fB{}\\fR {}", command.name, literal(command.usage)),
                 literal(command.summary));
  }
  for (const PackageProgram& program : package_programs()) {
    text += item(fmt::format("\\fB{}\\fR {}", program.name, literal(program.usage)),
                 literal(program.summary) + ".\nIt belongs to heddle's Python package.");
  }
  text += item("\\fINAME\\fR",
               literal("runs the program heddle-NAME, from the folder of heddle or the path"));
  return text + see_also("heddle");
}

std::string keys_page() {
  std::string text = head(kKeysPage, 5, "keys of heddle's configurations");
  text +=
      ".SH DESCRIPTION\nA configuration is a YAML file. A dot in a key stands for one level of "
      "a map.\n.SH KEYS\n";
  for (const KeySpec& spec : config_schema()) {
    std::string facts = literal(spec.doc) + ".";
    if (!spec.forms.describe().empty()) {
      facts += "\n.br\nValue: " + literal(spec.forms.describe()) + ".";
    }
    if (spec.required) facts += " Required.";
    const bool has_default = !spec.fallback.empty() && spec.fallback != kSolverPlaceholder;
    if (has_default) facts += " Default: " + literal(spec.fallback) + ".";
    if (!spec.option.empty()) facts += " Option: " + literal(spec.option) + ".";
    text += item(fmt::format("\\fB{}\\fR", literal(spec.path)), facts);
  }
  return text + see_also(kKeysPage);
}

}  // namespace

std::vector<std::string> manual_pages() {
  std::vector<std::string> names = {"heddle"};
  for (const ProgramHelp& program : programs_with_options())
    names.push_back(one_word(program.name));
  names.emplace_back(kKeysPage);
  return names;
}

std::string manual_page(std::string_view name) {
  const std::string page =
      name.starts_with("heddle") ? std::string(name) : fmt::format("heddle-{}", name);
  if (page == "heddle") return front_page();
  if (page == kKeysPage) return keys_page();
  for (const ProgramHelp& program : programs_with_options()) {
    if (one_word(program.name) == page) return program_page(program);
  }
  throw InvalidArgument(fmt::format("there is no manual page '{}'; pages: {}", name,
                                    fmt::join(manual_pages(), ", ")));
}

}  // namespace heddle::apps
