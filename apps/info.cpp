#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <heddle/apps/exit_codes.hpp>
#include <heddle/apps/info/matrix_report.hpp>
#include <heddle/apps/version.hpp>
#include <heddle/drivers/matrix_argument.hpp>
#include <heddle/linalg/formats/formats.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <optional>
#include <utility>

namespace {

using namespace heddle;
using namespace heddle::apps;

constexpr const char* kName = "heddle-info";

constexpr const char* kFooter = R"(
Examples:
  heddle-info bcsstk17.mtx.gz
  heddle-info laplace3d:64,64,64
  heddle-info rmat:16:8 --transform laplacian
  heddle-info laplace2d:300,300 --spectrum --bins 40
  heddle-info --list-generators

Exit codes:
    0  done
    1  usage, a structure that cannot be generated, the spectrum of an unsymmetric matrix or the
       Laplacian of a directed graph
    2  an input file that cannot be used
    5  out of memory)";

struct Arguments {
  std::string matrix;
  std::string transform = "none";
  std::string weights = "stored";
  bool symmetrize = false;
  bool spectrum = false;
  Index bins = 20;
  bool json = false;
  bool list_generators = false;
};

/// The parsed arguments. Returns nothing if only help or the version was requested, which it has
/// then printed to stdout. Throws `InvalidArgument`.
std::optional<Arguments> parse(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("Says what a sparse matrix is like and which kernel would multiply it by N columns.",
               kName);
  app.footer(kFooter);
  app.add_option("MATRIX", arguments.matrix,
                 fmt::format("file, also gzipped: {}; or a generated structure as "
                             "NAME:SIZE,SIZE... or NAME:SIZE:DENSITY",
                             describe_formats(false)));
  app.add_option("--transform", arguments.transform,
                 "look at the graph Laplacian of the matrix instead")
      ->check(CLI::IsMember({"none", "laplacian", "normalized_laplacian"}));
  app.add_option("--weights", arguments.weights,
                 "edge weights of the Laplacian: the entries of the matrix, or 1 for each")
      ->check(CLI::IsMember({"stored", "unit"}));
  app.add_flag("--symmetrize", arguments.symmetrize,
               "take the Laplacian of a directed graph: both directions of an edge get the larger "
               "of the two weights");
  CLI::Option* spectrum =
      app.add_flag("--spectrum", arguments.spectrum,
                   "estimate how many eigenvalues of a symmetric matrix lie where");
  app.add_option("--bins", arguments.bins,
                 fmt::format("equal parts of the spectrum to count in, up to {}", kMaxBins))
      ->check(CLI::Range(Index{1}, kMaxBins))
      ->capture_default_str()
      ->needs(spectrum);
  app.add_flag("--json", arguments.json, "print JSON");
  app.add_flag("--list-generators", arguments.list_generators,
               "list the structures that can be generated, and stop");
  app.set_version_flag("--version", fmt::format("{} {}", kName, kVersions.heddle));
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& request) {
    app.exit(request);
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    throw InvalidArgument(fmt::format("{}; see {} --help", error.what(), kName));
  }
  if (arguments.matrix.empty() && !arguments.list_generators) {
    throw InvalidArgument(
        fmt::format("a matrix is missing; usage: {} MATRIX, see {} --help", kName, kName));
  }
  return arguments;
}

std::string generators_text() {
  std::string text;
  for (const GalleryStructure& structure : gallery_structures()) {
    text += fmt::format("{:<18}{}", structure.name, structure.size);
    if (!structure.density.empty()) {
      text +=
          fmt::format(", density: {} (default {})", structure.density, structure.default_density);
    }
    text += fmt::format("\n    {}\n", structure.description);
  }
  return text;
}

HostCsrMatrix<double> load(HostContext& context, const Arguments& arguments) {
  HostCsrMatrix<double> A = detail::load_matrix(context, arguments.matrix);
  if (arguments.transform == "none") return A;
  if (A.rows() != A.cols()) {
    throw InvalidArgument(
        fmt::format("{}: a Laplacian needs a square matrix, this one has {} rows and {} columns",
                    arguments.matrix, A.rows(), A.cols()));
  }
  LaplacianOptions options{.symmetrize = arguments.symmetrize};
  if (arguments.transform != "laplacian") options.kind = LaplacianKind::normalized;
  if (arguments.weights == "unit") options.weights = EdgeWeights::unit;
  try {
    return graph_laplacian(context, A.view(), options);
  } catch (const InvalidArgument& error) {
    throw InvalidArgument(fmt::format("{}: {}", arguments.matrix, error.what()));
  }
}

std::string answer(const Arguments& arguments) {
  if (arguments.list_generators) return generators_text();
  HostContext context;
  HostCsrMatrix<double> A = load(context, arguments);
  const std::string name = arguments.transform == "none"
                               ? arguments.matrix
                               : fmt::format("{} of {}", arguments.transform, arguments.matrix);
  MatrixReport report = inspect(context, name, std::as_const(A).view(), {1, 4, 8, 16, 32, 64});
  if (arguments.spectrum) {
    report.spectrum = inspect_spectrum(context, name, std::move(A), arguments.bins);
  }
  return arguments.json ? to_json(report) : to_text(report);
}

}  // namespace

int main(int argc, char** argv) {
  return run_reporting_failures(kName, [&] {
    const std::optional<Arguments> arguments = parse(argc, argv);
    if (arguments) std::fputs(answer(*arguments).c_str(), stdout);
    return ExitCode::converged;
  });
}
