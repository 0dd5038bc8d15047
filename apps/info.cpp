#include <fmt/format.h>

#include <cstdio>
#include <heddle/apps/exit_codes.hpp>
#include <heddle/apps/info/command_line.hpp>
#include <heddle/apps/info/levels.hpp>
#include <heddle/apps/info/pencil_report.hpp>
#include <heddle/apps/input_file.hpp>
#include <heddle/apps/report/output_files.hpp>
#include <heddle/apps/run_together.hpp>
#include <heddle/drivers/problem/matrix_argument.hpp>
#include <heddle/linalg/formats/formats.hpp>
#include <heddle/linalg/gallery/gallery.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <optional>
#include <utility>
#include <vector>

namespace {

using namespace heddle;
using namespace heddle::apps;

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

/// The matrix of an argument, whose name on the command line is `name`.
template <WideScalar W>
HostCsrMatrix<W> load(HostContext& context, const InfoCommandLine& arguments,
                      const std::string& argument, const char* name) {
  return read_input(argument, name, [&](const std::filesystem::path& path) {
    return detail::load_matrix<W>(context, path.string(), arguments.first_line);
  });
}

/// The Laplacian of the graph of A.
HostCsrMatrix<double> laplacian(HostContext& context, const InfoCommandLine& arguments,
                                const HostCsrMatrix<double>& A) {
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

/// The positions of the nodes, those of a generated body included.
Block coordinates_of(HostContext& context, const InfoCommandLine& arguments) {
  if (!arguments.coordinates.empty()) {
    return read_input(arguments.coordinates, "--coordinates",
                      [&context](const std::filesystem::path& path) {
                        return Block(read_block<double>(context, path));
                      });
  }
  if (arguments.transform != "none" || !detail::names_generator(arguments.matrix)) return {};
  return Block(node_coordinates(context, detail::parse_generator(arguments.matrix)));
}

/// The levels that multigrid makes of A.
std::vector<OperatorLevel> levels_of(HostContext& context, const InfoCommandLine& arguments,
                                     const std::string& name, const HostCsrMatrix<double>& A) {
  const CsrView<double, HostSpace> view = A.view();
  const auto offsets = static_cast<std::size_t>(view.rows + 1);
  const auto entries = static_cast<std::size_t>(view.nnz);
  const Matrix borrowed(view.rows, view.cols, std::span(view.row_offsets, offsets),
                        {view.columns, entries}, std::span(view.values, entries));
  return inspect_levels(context, name, borrowed, coordinates_of(context, arguments));
}

template <WideScalar W>
std::string report_on(const InfoCommandLine& arguments) {
  HostContext context;
  HostCsrMatrix<W> A = load<W>(context, arguments, arguments.matrix, "MATRIX");
  if constexpr (RealScalar<W>) {
    if (arguments.transform != "none") A = laplacian(context, arguments, A);
  }
  const std::string name = arguments.transform == "none"
                               ? arguments.matrix
                               : fmt::format("{} of {}", arguments.transform, arguments.matrix);
  const std::vector<Index> widths =
      arguments.products ? std::vector<Index>{1, 4, 8, 16, 32, 64} : std::vector<Index>{};
  MatrixReport report = inspect(context, name, std::as_const(A).view(), widths);
  std::optional<PencilReport> pencil;
  if (!arguments.mass.empty()) {
    const HostCsrMatrix<W> M = load<W>(context, arguments, arguments.mass, "--mass");
    pencil = inspect_pencil<W>(context, name, std::as_const(A).view(), arguments.mass, M.view());
  }
  if constexpr (RealScalar<W>) {
    if (arguments.multigrid) report.levels = levels_of(context, arguments, name, A);
  }
  if (arguments.spectrum) {
    report.spectrum = inspect_spectrum(context, name, std::move(A), arguments.bins);
  }
  return arguments.json.empty() ? to_text(report, pencil) : to_json(report, pencil);
}

std::string answer(const InfoCommandLine& arguments) {
  if (arguments.list_generators) return generators_text();
  if (!names_complex_matrix(arguments.matrix) && !names_complex_matrix(arguments.mass)) {
    return report_on<double>(arguments);
  }
  if (arguments.transform != "none") {
    throw InvalidArgument("--transform takes graphs with real weights, a matrix is complex");
  }
  if (arguments.multigrid) {
    throw InvalidArgument("--multigrid takes real matrices, a matrix is complex");
  }
  return report_on<std::complex<double>>(arguments);
}

}  // namespace

int main(int argc, char** argv) {
  return run_on_process_0(kInfoName, argc, argv, [&] {
    const auto arguments = parse_info_command_line(argc, argv);
    if (!arguments) return ExitCode::converged;
    const std::string text = answer(*arguments);
    if (arguments->json.empty() || arguments->json == "-") {
      std::fputs(text.c_str(), stdout);
    } else {
      write_text(arguments->json, text);
    }
    return ExitCode::converged;
  });
}
