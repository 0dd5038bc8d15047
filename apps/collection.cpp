#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <heddle/apps/collection.hpp>
#include <heddle/apps/programs_on_path.hpp>
#include <heddle/drivers/problem/matrix_argument.hpp>
#include <heddle/linalg/base/error.hpp>
#include <system_error>
#include <vector>

namespace heddle::apps {
namespace {

/// Whether `text` is a name of a group, matrix or part, which as a folder or file stays where it
/// is.
bool is_word(std::string_view text) {
  const auto is_letter = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  return !text.empty() && is_letter(text.front()) &&
         std::all_of(text.begin(), text.end(),
                     [&](char c) { return is_letter(c) || c == '.' || c == '+' || c == '-'; });
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

/// Runs `program` with stdout at /dev/null and returns its exit code, 128 + signal if one ended it.
int run(const std::filesystem::path& program, std::vector<std::string> arguments) {
  std::string name = program.string();
  std::vector<char*> words = {name.data()};
  for (std::string& argument : arguments) words.push_back(argument.data());
  words.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int error = posix_spawn(&child, name.c_str(), &actions, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    throw InputError(name, 0, "cannot be run: " + std::generic_category().message(error));
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return -1;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

std::string CollectionName::describe() const {
  return part.empty() ? fmt::format("{}/{}", group, name)
                      : fmt::format("{}/{}:{}", group, name, part);
}

std::optional<CollectionName> parse_collection_name(std::string_view text) {
  if (!detail::names_collection_matrix(text)) return std::nullopt;
  text.remove_prefix(detail::kCollectionPrefix.size());
  const std::size_t slash = std::min(text.find('/'), text.size());
  const std::size_t colon = std::min(text.find(':', slash), text.size());
  if (slash == text.size()) return std::nullopt;
  const bool has_part = colon < text.size();
  const CollectionName name{std::string(text.substr(0, slash)),
                            std::string(text.substr(slash + 1, colon - slash - 1)),
                            std::string(has_part ? text.substr(colon + 1) : "")};
  if (!is_word(name.group) || !is_word(name.name)) return std::nullopt;
  if (has_part && !is_word(name.part)) return std::nullopt;
  return name;
}

std::string describe_collection_names(std::string_view text) {
  return fmt::format(
      "'{}' is no name of a matrix: write SuiteSparse:GROUP/NAME, as SuiteSparse:HB/bcsstk17, or "
      "SuiteSparse:GROUP/NAME:PART for NAME_PART.mtx of the same archive",
      text);
}

std::filesystem::path data_folder() {
  if (const std::string named = variable("HEDDLE_DATA"); !named.empty()) {
    return std::filesystem::absolute(named);
  }
  // A relative XDG_CACHE_HOME is to be ignored (XDG Base Directory Specification).
  const std::filesystem::path caches = variable("XDG_CACHE_HOME");
  if (caches.is_absolute()) return caches / "heddle";
  const std::string home = variable("HOME");
  if (home.empty()) {
    throw InvalidArgument(
        "there is no folder for matrices: set HEDDLE_DATA, XDG_CACHE_HOME or HOME");
  }
  return std::filesystem::absolute(home) / ".cache" / "heddle";
}

std::filesystem::path cached_file(const CollectionName& name) {
  const std::string part = name.part.empty() ? "" : "_" + name.part;
  return data_folder() / "SuiteSparse" / name.group / name.name / (name.name + part + ".mtx");
}

std::filesystem::path collection_file(std::string_view text) {
  const std::optional<CollectionName> name = parse_collection_name(text);
  if (!name) throw InvalidArgument(describe_collection_names(text));
  const std::filesystem::path file = cached_file(*name);
  if (std::filesystem::is_regular_file(file)) return file;
  const std::string missing = fmt::format("is not in the cache ({})", data_folder().string());
  const std::string source(text);
  const auto program = find_program("fetch");
  if (!program) {
    throw InputError(
        source, 0,
        fmt::format("{}; heddle fetch {} fetches it. This command belongs to heddle's Python "
                    "package, which is neither beside this program nor on the path",
                    missing, name->describe()));
  }
  const int code = run(*program, {"--where", name->describe()});
  if (std::filesystem::is_regular_file(file)) return file;
  throw InputError(source, 0,
                   fmt::format("{}, and {} --where {} did not fetch it (exit code {})", missing,
                               program->string(), name->describe(), code));
}

}  // namespace heddle::apps
