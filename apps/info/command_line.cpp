#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <heddle/apps/first_line_option.hpp>
#include <heddle/apps/info/command_line.hpp>
#include <heddle/apps/info/matrix_report.hpp>
#include <heddle/apps/version.hpp>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/formats/formats.hpp>

namespace heddle::apps {
namespace {

constexpr const char* kFooter = R"(
Examples:
  heddle-info bcsstk17.mtx.gz
  heddle-info K.mtx --mass M.mtx
  heddle-info SuiteSparse:HB/bcsstk17
  heddle-info laplace3d:64,64,64
  heddle-info laplace3d:64,64,64 --products
  heddle-info rmat:16:8 --transform laplacian
  heddle-info laplace2d:300,300 --spectrum --bins 40
  heddle-info elasticity3d:24,24,24 --multigrid
  heddle-info --list-generators

Exit codes:
    0  done
    1  usage, a structure that cannot be generated, the spectrum of an unsymmetric matrix, the
       levels of an indefinite one or the Laplacian of a directed graph
    2  an input file that cannot be used
    5  out of memory)";

/// Adds the options of heddle-info to `app`, which stores their values in `line`.
void add_options(CLI::App& app, InfoCommandLine& line) {
  app.footer(kFooter);
  app.add_option(
      "MATRIX", line.matrix,
      fmt::format("file, also gzipped: {}; -: standard input; SuiteSparse:GROUP/NAME; or "
                  "a generated structure as NAME:SIZE,SIZE... or NAME:SIZE:DENSITY",
                  describe_formats(false)));
  app.add_option("--mass", line.mass,
                 "mass matrix M, given like MATRIX: look at it and at K x = lambda M x as well")
      ->type_name("MATRIX");
  app.add_option("--transform", line.transform, "look at the graph Laplacian of the matrix instead")
      ->check(CLI::IsMember({"none", "laplacian", "normalized_laplacian"}).description(""))
      ->type_name("none|laplacian|normalized_laplacian");
  app.add_option("--weights", line.weights,
                 "edge weights of the Laplacian: the entries of the matrix, or 1 for each")
      ->check(CLI::IsMember({"stored", "unit"}).description(""))
      ->type_name("stored|unit");
  app.add_flag("--symmetrize", line.symmetrize,
               "take the Laplacian of a directed graph: both directions of an edge get the larger "
               "of the two weights");
  add_first_line_option(app, line.first_line);
  app.add_flag(
      "--products", line.products,
      "add what matters for products with a block: row lengths, bandwidth, blocks, and the "
      "kernels on the host and, predicted, on a GPU");
  CLI::Option* spectrum = app.add_flag(
      "--spectrum", line.spectrum, "estimate how many eigenvalues of a symmetric matrix lie where");
  app.add_option("--bins", line.bins,
                 fmt::format("equal parts of the spectrum to count in, up to {}", kMaxBins))
      ->check(CLI::Range(Index{1}, kMaxBins).description(""))
      ->type_name("N")
      ->capture_default_str()
      ->needs(spectrum);
  CLI::Option* multigrid =
      app.add_flag("--multigrid", line.multigrid,
                   "show the levels that multigrid makes of a symmetric positive semidefinite "
                   "matrix");
  app.add_option(
         "--coordinates", line.coordinates,
         "file with the positions of the nodes of an elastic body, for multigrid; generated "
         "bodies have theirs")
      ->type_name("FILE")
      ->needs(multigrid);
  app.add_flag("--json{-}", line.json, "print JSON; --json=FILE: write it to FILE");
  app.add_flag("--list-generators", line.list_generators,
               "list the structures that can be generated, and stop");
  app.set_version_flag("--version", version_text(kInfoName));
}

constexpr const char* kSummary =
    "Says what a sparse matrix is like: size, symmetry, definiteness, eigenvalues, products.";

/// Refuses what is known of one matrix only.
void refuse_of_pencils(const InfoCommandLine& line) {
  if (line.mass.empty()) return;
  if (line.spectrum) {
    throw InvalidArgument(
        "--spectrum does not go with --mass: eigenvalues are counted of one matrix, not of a "
        "pencil");
  }
  if (line.transform != "none") {
    throw InvalidArgument("--transform does not go with --mass: graph Laplacians have no mass");
  }
}

}  // namespace

std::optional<InfoCommandLine> parse_info_command_line(int argc, const char* const* argv) {
  InfoCommandLine line;
  CLI::App app(kSummary, kInfoName);
  add_options(app, line);
  if (!parse(app, with_joined_json(argc, argv), ", or give a mass matrix by --mass {}")) {
    return std::nullopt;
  }
  if (line.matrix.empty() && !line.list_generators) {
    throw InvalidArgument(
        fmt::format("a matrix is missing; usage: {} MATRIX, see {} --help", kInfoName, kInfoName));
  }
  refuse_of_pencils(line);
  return line;
}

ProgramHelp info_help() {
  InfoCommandLine line;
  CLI::App app(kSummary, kInfoName);
  add_options(app, line);
  return describe(app);
}

}  // namespace heddle::apps
