#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <heddle/apps/first_line_option.hpp>
#include <heddle/apps/number_checks.hpp>
#include <heddle/apps/spmm/command_line.hpp>
#include <heddle/apps/version.hpp>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/formats/formats.hpp>
#include <utility>

namespace heddle::apps {
namespace {

constexpr const char* kFooter = R"(
Examples:
  heddle-spmm A.mtx --multiply B.npy --output C.npy          the product, in double precision
  heddle-spmm A.mtx --multiply B.npy --output C.mtx --precision bf16
  heddle-spmm laplace3d:64,64,64 --columns 8 --precision half,bf16,tf32,single,double
  heddle-spmm A.mtx --columns 8 --precision half --device cuda          on tensor cores
  heddle-spmm A.mtx --reorder rcm,metis --columns 16                    orders of rows and columns
  heddle-spmm A.mtx laplace3d:160,160,160 --widths 8,32 --explain

half, bf16 and tf32 round A and B to these types; sums and C are in single precision. Products with
--multiply or --columns are computed on the host, with --device cuda on a GPU.

Exit codes:
    0  done
    1  usage, shapes that do not fit, or numbers that a precision cannot hold
    2  an input file that cannot be used, or a result that cannot be written
    5  a device that is missing or fails, or out of memory)";

constexpr const char* kSummary =
    "Multiplies a sparse matrix by a block, C = A B, and compares the error with its bound. "
    "Without "
    "a block, times the SpMM kernels on a GPU against each other, cuSPARSE and the bound that "
    "memory "
    "bandwidth sets.";

/// What the options of the parser cannot store in a `SpmmCommandLine` themselves.
struct Words {
  std::vector<std::string> precisions = {"double"};
  std::string device = "host";
  std::string order = "natural";
  std::string layout = "row-major";
  std::vector<std::string> reorder;
  bool unscaled = false;
  bool unchecked = false;
};

void add_product_options(CLI::App& app, SpmmCommandLine& line, Words& words) {
  CLI::Option* multiply = app.add_option("--multiply", line.product.block,
                                         fmt::format("the block B, a file: {}; -: standard input",
                                                     describe_formats(true)))
                              ->type_name("FILE");
  app.add_option("--columns", line.product.columns, "multiply a random block of N columns instead")
      ->check(at_least<Index>(1))
      ->type_name("N")
      ->excludes(multiply);
  app.add_option("-o,--output", line.product.output, "write C to this .npy or .mtx file")
      ->type_name("FILE");
  app.add_option("--precision", words.precisions,
                 "of the products, several by commas; kernels are timed in double and single")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"half", "bf16", "tf32", "single", "double"}).description(""))
      ->type_name("half|bf16|tf32|single|double");
  app.add_option("--device", words.device,
                 "where to multiply; cuda: half, bf16 and tf32 on tensor cores")
      ->check(CLI::IsMember({"host", "cuda"}).description(""))
      ->type_name("host|cuda");
  app.add_option(
         "--order", words.order,
         "of rows and columns in blocks for tensor cores; fastest: natural or clustered, by "
         "times measured on the GPU")
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
  app.add_option("--threads", line.product.threads, "threads of the host; 0: by the machine")
      ->check(at_least(0))
      ->type_name("N");
}

void add_timing_options(CLI::App& app, SpmmCommandLine& line) {
  app.add_option("--widths", line.comparison.widths, "columns of B to time kernels with")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(at_least<Index>(1))
      ->type_name("N,N");
  app.add_option("--kernels", line.comparison.kernels, "names of the kernels to time, or all")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("NAME,NAME");
  app.add_flag("!--no-cusparse", line.comparison.cusparse, "leave cuSPARSE out");
  app.add_flag("--explain", line.explain,
               "print features, predictions and measurements, and how the choice fared");
  app.add_option("--roofline", line.roofline,
                 "file for a picture of predicted and measured throughput (SVG)")
      ->type_name("FILE");
}

void add_reordering_options(CLI::App& app, SpmmCommandLine& line, Words& words) {
  app.add_option("--reorder", words.reorder,
                 "time products with --columns N (16) in these orders of rows and columns, of a "
                 "matrix that is not square of rows alone")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"all", "rcm", "metis", "radix", "jaccard"}).description(""))
      ->type_name("all|rcm|metis|radix|jaccard");
  app.add_option("--products", line.reordering.products,
                 "within which an order of --reorder must pay")
      ->check(finite_number(false))
      ->type_name("N")
      ->capture_default_str();
  app.add_flag("--shuffle", line.reordering.shuffled,
               "permute the matrix of --reorder at random first, and compare with before");
}

void add_options(CLI::App& app, SpmmCommandLine& line, Words& words) {
  app.footer(kFooter);
  app.add_option(
      "A", line.matrices,
      fmt::format("file, also gzipped: {}; -: standard input; SuiteSparse:GROUP/NAME; or "
                  "a generated structure as NAME:SIZE,SIZE... or NAME:SIZE:DENSITY; "
                  "several to time kernels",
                  describe_formats(false)));
  add_first_line_option(app, line.first_line);
  add_product_options(app, line, words);
  add_timing_options(app, line);
  add_reordering_options(app, line, words);
  app.add_flag("--json{-}", line.json, "print JSON; --json=FILE: write it to FILE");
  app.set_version_flag("--version", version_text(kSpmmName));
}

/// Reads the words of --reorder.
void take_orders(const Words& words, SpmmCommandLine& line) {
  ReorderingOptions& options = line.reordering;
  const auto asked = [&](std::string_view word) {
    return std::find(words.reorder.begin(), words.reorder.end(), word) != words.reorder.end();
  };
  for (const RowOrder order : kRowOrders) {
    if (asked(row_order_name(order))) options.orders.push_back(order);
  }
  options.all = asked("all");
  options.matrix = line.matrices.front();
  options.first_line = line.first_line;
  if (line.product.columns > 0) options.columns = line.product.columns;
  options.threads = line.product.threads;
  options.on_gpu = words.device == "cuda";
}

/// Refuses options that belong to the other task.
void check_task(const SpmmCommandLine& line, const CLI::App& app) {
  const auto refuse = [&](std::initializer_list<const char*> names, const char* reason) {
    for (const char* name : names) {
      if (app.count(name) > 0) throw InvalidArgument(fmt::format("{} {}", name, reason));
    }
  };
  if (!line.reorders()) {
    refuse({"--products", "--shuffle"}, "belongs to --reorder");
  } else {
    refuse({"--multiply", "--output", "--precision", "--order", "--no-scaling", "--no-check",
            "--widths", "--kernels", "--no-cusparse", "--explain", "--roofline"},
           "does not go with --reorder");
    if (line.matrices.size() > 1) {
      throw InvalidArgument(
          fmt::format("--reorder takes one matrix, not {}", line.matrices.size()));
    }
    return;
  }
  if (line.multiplies()) {
    refuse({"--widths", "--kernels", "--no-cusparse", "--explain", "--roofline"},
           "times kernels, for which --multiply and --columns must be left out");
    if (line.matrices.size() > 1) {
      throw InvalidArgument(
          fmt::format("--multiply and --columns take one matrix, not {}", line.matrices.size()));
    }
  } else {
    refuse(
        {"--output", "--no-scaling", "--no-check", "--threads", "--device", "--order", "--layout"},
        "belongs to a product: give its block by --multiply, or --columns for a random one");
  }
}

}  // namespace

std::optional<SpmmCommandLine> parse_spmm_command_line(int argc, const char* const* argv) {
  SpmmCommandLine line;
  Words words;
  CLI::App app(kSummary, kSpmmName);
  add_options(app, line, words);
  if (!parse(app, with_joined_json(argc, argv))) return std::nullopt;
  if (line.matrices.empty()) {
    throw InvalidArgument(fmt::format(
        "a matrix is missing; usage: {} A [--multiply B], see {} --help", kSpmmName, kSpmmName));
  }
  take_orders(words, line);
  check_task(line, app);
  auto& kernels = line.comparison.kernels;
  if (kernels == std::vector<std::string>{"all"}) kernels.clear();
  line.product.matrix = line.matrices.front();
  line.product.first_line = line.first_line;
  if (words.unscaled) line.product.scaling = RangeScaling::none;
  line.product.check = !words.unchecked;
  line.product.on_gpu = words.device == "cuda";
  line.product.fastest_order = words.order == "fastest";
  if (line.product.fastest_order && !line.product.on_gpu) {
    throw InvalidArgument("--order fastest is for tensor cores: add --device cuda");
  }
  line.product.by_columns = words.layout == "column-major";
  line.product.precisions.clear();
  for (const std::string& word : words.precisions) {
    line.product.precisions.push_back(*find_precision(word));
    if (!line.multiplies() && word != "double" && word != "single") {
      throw InvalidArgument(fmt::format(
          "--precision {}: kernels are timed in double and single; --multiply B or --columns N "
          "computes a {} product",
          word, word));
    }
  }
  line.timed_precisions = std::move(words.precisions);
  if (!line.product.output.empty()) {
    check_output_name(line.product.output);
    if (line.product.precisions.size() > 1) {
      throw InvalidArgument("--output takes the product of one precision; give one by --precision");
    }
  }
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
