#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <heddle/apps/first_line_option.hpp>
#include <heddle/apps/number_checks.hpp>
#include <heddle/apps/spgemm/command_line.hpp>
#include <heddle/apps/version.hpp>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/formats/formats.hpp>
#include <vector>

namespace heddle::apps {
namespace {

constexpr const char* kFooter = R"(
Examples:
  heddle-spgemm A.mtx                                the product A A
  heddle-spgemm A.mtx B.mtx -o C.mtx                 A B, written to a file
  heddle-spgemm A.mtx --transpose                    A Aᵀ
  heddle-spgemm laplace3d:64,64,64 --power 3
  heddle-spgemm K.mtx --galerkin P.mtx -o coarse.mtx
  heddle-spgemm rmat:16:8 --json
  heddle-spgemm band:100000,2 --format dia           by diagonals; auto does so for bands

Exit codes:
    0  done
    1  usage, or matrices whose shapes do not fit
    2  an input file that cannot be used, or a result that cannot be written
    5  a device that is missing or fails, or out of memory)";

constexpr const char* kSummary = "Multiplies sparse matrices, on a GPU where there is one.";

/// Values that the options of the parser cannot store in a `SpgemmCommandLine` themselves.
struct Words {
  std::string precision = "double";
  std::string format = "auto";
};

void add_options(CLI::App& app, SpgemmCommandLine& line, Words& words) {
  app.footer(kFooter);
  const std::string matrix = fmt::format(
      "file, also gzipped: {}; -: standard input; SuiteSparse:GROUP/NAME; or a generated structure "
      "as NAME:SIZE,SIZE... or NAME:SIZE:DENSITY",
      describe_formats(false));
  CLI::Option* A = app.add_option("A", line.A, matrix);
  CLI::Option* B = app.add_option("B", line.B, "the second factor; without it, A A");
  static_cast<void>(A);
  CLI::Option* self = app.add_flag("--self", line.self, "A A, the default without B");
  CLI::Option* transpose = app.add_flag("--transpose", line.transpose, "A times its transpose");
  CLI::Option* power = app.add_option("--power", line.power, "A multiplied by itself, K factors")
                           ->check(CLI::Range(2, 1000).description(""))
                           ->type_name("K");
  CLI::Option* galerkin =
      app.add_option("--galerkin", line.galerkin, "the Galerkin product Pᵀ A P with this P")
          ->type_name("FILE|NAME:SIZES");
  const std::vector<CLI::Option*> kinds = {B, self, transpose, power, galerkin};
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) kinds[i]->excludes(kinds[j]);
  }
  app.add_option("--precision", words.precision, "of the factors and the product")
      ->check(CLI::IsMember({"double", "single"}).description(""))
      ->type_name("double|single")
      ->capture_default_str();
  app.add_option("--format", words.format,
                 "csr: compressed rows; dia: diagonals; auto: diagonals where both factors are "
                 "bands")
      ->check(CLI::IsMember({"auto", "csr", "dia"}).description(""))
      ->type_name("auto|csr|dia")
      ->capture_default_str();
  app.add_option("--threads", line.threads, "threads of the host; 0: by the machine")
      ->check(at_least(0))
      ->type_name("N");
  app.add_option("--device-memory", line.device_megabytes,
                 "most memory of a GPU in MB for the product, which is then computed in blocks of "
                 "rows; 0: what is free")
      ->check(finite_number(true))
      ->type_name("MB");
  add_first_line_option(app, line.first_line);
  app.add_option("-o,--output", line.output, "write the product to this Matrix Market file")
      ->type_name("FILE");
  app.add_flag("--json{-}", line.json, "print JSON; --json=FILE: write it to FILE");
  app.set_version_flag("--version", version_text(kSpgemmName));
}

}  // namespace

std::optional<SpgemmCommandLine> parse_spgemm_command_line(int argc, const char* const* argv) {
  SpgemmCommandLine line;
  Words words;
  CLI::App app(kSummary, kSpgemmName);
  add_options(app, line, words);
  if (!parse(app, with_joined_json(argc, argv))) return std::nullopt;
  if (line.A.empty()) {
    throw InvalidArgument(fmt::format("a matrix is missing; usage: {} A [B], see {} --help",
                                      kSpgemmName, kSpgemmName));
  }
  if (words.format != "auto") {
    line.format = words.format == "dia" ? SpgemmFormat::dia : SpgemmFormat::csr;
  }
  line.single = words.precision == "single";
  return line;
}

ProgramHelp spgemm_help() {
  SpgemmCommandLine line;
  Words words;
  CLI::App app(kSummary, kSpgemmName);
  add_options(app, line, words);
  return describe(app);
}

}  // namespace heddle::apps
