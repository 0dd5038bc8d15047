#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <heddle/apps/first_line_option.hpp>
#include <heddle/apps/number_checks.hpp>
#include <heddle/apps/spmm/command_line.hpp>
#include <heddle/apps/version.hpp>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/formats/formats.hpp>

namespace heddle::apps {
namespace {

constexpr const char* kFooter = R"(
Examples:
  heddle-spmm A.mtx --multiply B.npy --output C.npy          the product, in double precision
  heddle-spmm A.mtx --multiply B.npy --output C.mtx --precision bf16
  heddle-spmm laplace3d:64,64,64 --columns 8                 a random B
  heddle-spmm A.mtx --columns 8 --device cuda --kernel row_split
  heddle-spmm A.mtx --columns 8 --precision half --device cuda          on tensor cores

half, bf16 and tf32 round A and B to these types; sums and C are in single precision. Products are
computed on the host, with --device cuda on a GPU.

Exit codes:
    0  done
    1  usage, shapes that do not fit, or numbers that a precision cannot hold
    2  an input file that cannot be used, or a result that cannot be written
    5  a device that is missing or fails, or out of memory)";

constexpr const char* kSummary =
    "Multiplies a sparse matrix by a block, C = A B, and compares the error with its bound.";

/// Values that the options of the parser cannot store in a `SpmmCommandLine` themselves.
struct Words {
  std::string precision = "double";
  std::string device = "host";
  std::string order = "natural";
  std::string layout = "row-major";
  bool unscaled = false;
  bool unchecked = false;
};

void add_options(CLI::App& app, SpmmCommandLine& line, Words& words) {
  app.footer(kFooter);
  SpmmProductOptions& product = line.product;
  app.add_option(
      "A", product.matrix,
      fmt::format("file, also gzipped: {}; -: standard input; SuiteSparse:GROUP/NAME; or "
                  "a generated structure as NAME:SIZE,SIZE... or NAME:SIZE:DENSITY",
                  describe_formats(false)));
  add_first_line_option(app, product.first_line);
  CLI::Option* multiply = app.add_option("--multiply", product.block,
                                         fmt::format("the block B, a file: {}; -: standard input",
                                                     describe_formats(true)))
                              ->type_name("FILE");
  app.add_option("--columns", product.columns, "multiply a random block of N columns instead")
      ->check(at_least<Index>(1))
      ->type_name("N")
      ->excludes(multiply);
  app.add_option("-o,--output", product.output, "write C to this .npy or .mtx file")
      ->type_name("FILE");
  app.add_option("--precision", words.precision, "of the product")
      ->check(CLI::IsMember({"half", "bf16", "tf32", "single", "double"}).description(""))
      ->type_name("half|bf16|tf32|single|double");
  app.add_option("--device", words.device,
                 "where to multiply; cuda: half, bf16 and tf32 on tensor cores")
      ->check(CLI::IsMember({"host", "cuda"}).description(""))
      ->type_name("host|cuda");
  app.add_option("--kernel", product.kernel,
                 "auto, measure, or its name; an unknown one is answered by the names")
      ->type_name("auto|NAME");
  app.add_option(
         "--order", words.order,
         "of rows and columns in blocks for tensor cores; fastest: natural or clustered, by "
         "predicted times")
      ->check(CLI::IsMember({"natural", "fastest"}).description(""))
      ->type_name("natural|fastest");
  app.add_option("--layout", words.layout,
                 "how B and C are stored for the product; half, bf16 and tf32: how B is stored")
      ->check(CLI::IsMember({"row-major", "column-major"}).description(""))
      ->type_name("row-major|column-major");
  app.add_flag(
      "--no-scaling", words.unscaled,
      "do not scale rows of A and columns of B by powers of two to the range of half, bf16 "
      "and tf32; refuse what is beyond it");
  app.add_flag("--no-check", words.unchecked, "do not compare the product with its error bound");
  app.add_option("--threads", product.threads, "threads of the host; 0: by the machine")
      ->check(at_least(0))
      ->type_name("N");
  app.add_flag("--json{-}", line.json, "print JSON; --json=FILE: write it to FILE");
  app.set_version_flag("--version", version_text(kSpmmName));
}

bool is_narrow(ProductPrecision precision) {
  return precision != ProductPrecision::single_precision &&
         precision != ProductPrecision::double_precision;
}

void check(const SpmmProductOptions& product) {
  if (product.matrix.empty()) {
    throw InvalidArgument(fmt::format(
        "a matrix is missing; usage: {} A --multiply B, see {} --help", kSpmmName, kSpmmName));
  }
  if (product.block.empty() && product.columns == 0) {
    throw InvalidArgument("a block is missing: --multiply B, or --columns N for a random one");
  }
  if (product.fastest_order && !product.on_gpu) {
    throw InvalidArgument("--order fastest is for tensor cores: add --device cuda");
  }
  if (product.kernel != "auto" && is_narrow(product.precision) && !product.on_gpu) {
    throw InvalidArgument("--kernel with half, bf16 and tf32 is for GPUs: add --device cuda");
  }
  if (!product.output.empty()) check_output_name(product.output);
}

}  // namespace

std::optional<SpmmCommandLine> parse_spmm_command_line(int argc, const char* const* argv) {
  SpmmCommandLine line;
  Words words;
  CLI::App app(kSummary, kSpmmName);
  add_options(app, line, words);
  if (!parse(app, with_joined_json(argc, argv))) return std::nullopt;
  SpmmProductOptions& product = line.product;
  if (words.unscaled) product.scaling = RangeScaling::none;
  product.precision = *find_precision(words.precision);
  product.check = !words.unchecked;
  product.on_gpu = words.device == "cuda";
  product.fastest_order = words.order == "fastest";
  product.by_columns = words.layout == "column-major";
  check(product);
  return line;
}

ProgramHelp spmm_help() {
  SpmmCommandLine line;
  Words words;
  CLI::App app(kSummary, kSpmmName);
  add_options(app, line, words);
  return describe(app);
}

}  // namespace heddle::apps
