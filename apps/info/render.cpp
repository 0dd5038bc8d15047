#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <heddle/apps/info/matrix_report.hpp>
#include <heddle/apps/info/pencil_report.hpp>
#include <heddle/apps/report/levels.hpp>
#include <heddle/apps/report/value_table.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

namespace heddle::apps {
namespace {

/// A number of bytes in a suitable unit.
std::string bytes_text(double bytes) {
  constexpr const char* kUnits[] = {"B", "kB", "MB", "GB", "TB"};
  std::size_t unit = 0;
  for (; bytes >= 1000 && unit + 1 < std::size(kUnits); ++unit) bytes /= 1000;
  return fmt::format("{:.{}f} {}", bytes, unit == 0 ? 0 : 1, kUnits[unit]);
}

/// A label and its text.
using Line = std::pair<std::string, std::string>;

std::string plural(Index count, const char* one, const char* many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::string size_text(const MatrixFeatures& f) {
  return fmt::format("{} rows, {} columns{}", f.rows, f.cols,
                     f.rows == f.cols ? "" : ": not square");
}

std::string entries_text(const MatrixFeatures& f) {
  const double places = static_cast<double>(f.rows) * static_cast<double>(f.cols);
  if (places == 0) return fmt::format("{}", f.nnz);
  return fmt::format("{}, {:.3g} % of all places", f.nnz,
                     100 * static_cast<double>(f.nnz) / places);
}

std::string symmetry_text(const MatrixReport& report) {
  if (report.features.rows != report.features.cols) return "no, not square";
  if (report.symmetric) return "yes, to the last bit";
  const auto& worst = *report.asymmetry;
  const double apart = std::abs(worst.value - std::conj(worst.transposed)) / report.largest_entry;
  if (worst.row == worst.col) {
    return fmt::format("no: entry ({0}, {0}) is {1}, not real", worst.row + 1,
                       entry_text(worst.value, true));
  }
  return fmt::format(
      "no: entry ({}, {}) is {}, entry ({}, {}) is {}; {:.2g} of the largest entry apart",
      worst.row + 1, worst.col + 1, entry_text(worst.value, report.complex), worst.col + 1,
      worst.row + 1, entry_text(worst.transposed, report.complex), apart);
}

std::string diagonal_text(const DiagonalReport& diagonal) {
  const std::string range =
      fmt::format("from {:.6g} to {:.6g}", diagonal.smallest, diagonal.largest);
  if (diagonal.not_positive == 0) return "all positive, " + range;
  return fmt::format("{} zero or negative (first in row {}), {}",
                     plural(diagonal.not_positive, "entry", "entries"),
                     diagonal.first_not_positive + 1, range);
}

std::string spectrum_text(const MatrixReport& report) {
  const SpectrumEnds& ritz = *report.ritz;
  const SpectrumEnds& bounds = *report.gershgorin;
  return fmt::format(
      "smallest at most {:.6g}, largest at least {:.6g} (Lanczos); all within "
      "[{:.6g}, {:.6g}] (Gershgorin)",
      ritz.lower, ritz.upper, bounds.lower, bounds.upper);
}

std::string rows_text(const MatrixFeatures& f) {
  return fmt::format("mean {:.2f}, deviation {:.2f} ({:.2f} of the mean), longest {}, {}",
                     f.row_mean, f.row_deviation, f.variation(), f.row_max,
                     f.empty_rows == 0 ? "none empty" : fmt::format("{} empty", f.empty_rows));
}

std::string memory_text(const MatrixReport& report) {
  const MatrixFeatures& f = report.features;
  const auto bytes = [&f](std::size_t scalar) {
    return static_cast<double>(f.nnz) * static_cast<double>(scalar + sizeof(std::int32_t)) +
           static_cast<double>(f.rows + 1) * sizeof(std::int64_t);
  };
  if (report.complex) {
    return fmt::format("{} in double precision; {} a column of a double block",
                       bytes_text(bytes(2 * sizeof(double))),
                       bytes_text(static_cast<double>(f.cols) * 2 * sizeof(double)));
  }
  return fmt::format("{} in double precision, {} in single; {} a column of a double block",
                     bytes_text(bytes(sizeof(double))), bytes_text(bytes(sizeof(float))),
                     bytes_text(static_cast<double>(f.cols) * sizeof(double)));
}

std::vector<Line> describe(const MatrixReport& report) {
  const MatrixFeatures& f = report.features;
  std::vector<Line> lines{{"matrix", report.name},
                          {"size", size_text(f)},
                          {"entries", entries_text(f)},
                          {report.complex ? "Hermitian" : "symmetric", symmetry_text(report)}};
  if (report.complex) lines.insert(lines.begin() + 1, {"numbers", "complex"});
  if (!report.symmetric && f.rows == f.cols) {
    lines.emplace_back("pattern", f.symmetric_pattern ? "symmetric" : "not symmetric");
  }
  if (report.ritz) {
    lines.emplace_back("definite", definiteness(report));
    lines.emplace_back("eigenvalues", spectrum_text(report));
  }
  if (report.diagonal) lines.emplace_back("diagonal", diagonal_text(*report.diagonal));
  lines.emplace_back("norm", fmt::format("{:.6g} (largest column sum), largest entry {:.6g}",
                                         report.norm_1, report.largest_entry));
  lines.emplace_back("memory", memory_text(report));
  return lines;
}

std::string massless_text(const PencilReport& pencil) {
  if (pencil.massless == 0) return "no row";
  std::string text = fmt::format("{} (first is row {}): each makes an eigenvalue infinite",
                                 plural(pencil.massless, "row", "rows"), pencil.first_massless + 1);
  if (pencil.empty == 0) return text;
  return text + fmt::format("; of these, empty in the matrix, too: {} (first is row {}), to remove",
                            pencil.empty, pencil.first_empty + 1);
}

/// The mass matrix and the pencil.
std::vector<Line> describe(const PencilReport& pencil) {
  std::vector<Line> lines = describe(pencil.mass);
  lines.front().first = "mass";
  if (pencil.diagonal) lines.emplace_back("form", "diagonal");
  if (!pencil.mass.complex)
    lines.emplace_back(
        "sum",
        fmt::format("{:.6g} of all entries: the mass times the number of directions, where all "
                    "rows are displacements",
                    pencil.sum));
  lines.emplace_back("massless", massless_text(pencil));
  if (!pencil.quotients) return lines;
  const auto [lower, upper] = *pencil.quotients;
  lines.emplace_back("pencil", fmt::format("smallest eigenvalue at most {:.6g}, largest at least "
                                           "{:.6g} (quotients of the diagonals)",
                                           lower, upper));
  lines.emplace_back("frequencies", fmt::format("lowest at most {:.6g}, highest at least {:.6g} "
                                                "cycles per unit of time",
                                                frequency_of(lower), frequency_of(upper)));
  return lines;
}

/// What matters for products with the matrix.
std::vector<Line> describe_structure(const MatrixFeatures& f) {
  return {{"row lengths", rows_text(f)},
          {"bandwidth", fmt::format("{}; from first to last entry a row spans {:.1f} columns in "
                                    "the mean",
                                    f.bandwidth, f.mean_bandwidth)},
          {"block fill",
           fmt::format("{:.3f} of 2x2 blocks, {:.3f} of 3x3, {:.3f} of 4x4, {:.3f} of 8x8",
                       f.block_fill_2, f.block_fill_3, f.block_fill_4, f.block_fill_8)},
          {"reuse", fmt::format("each column met {:.2f} times in 8 rows, {:.2f} in 32, "
                                "{:.2f} in 128, {:.2f} in 2048, {:.2f} in 32768",
                                f.reuse_8, f.reuse_32, f.reuse_128, f.reuse_2048, f.reuse_32768)}};
}

/// A table of one backend's kernels. A reason equal to that of the previous line is not repeated.
template <class KernelOf, class ReasonOf>
void append_kernels(fmt::memory_buffer& text, const char* title, const MatrixReport& report,
                    const KernelOf& kernel_of, const ReasonOf& reason_of) {
  std::size_t width = 0;
  for (const KernelReport& line : report.kernels) width = std::max(width, kernel_of(line).size());
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "\n{}\n{:>5}  {:>10}  {:<{}}  why\n", title, "N", "moves", "kernel",
                 std::max<std::size_t>(width, 6));
  const std::string* above = nullptr;
  for (const KernelReport& line : report.kernels) {
    const std::string& reason = reason_of(line);
    fmt::format_to(out, "{:>5}  {:>10}  {:<{}}  {}\n", line.N, bytes_text(line.compulsory_bytes),
                   kernel_of(line), std::max<std::size_t>(width, 6),
                   above != nullptr && *above == reason ? "as above" : reason);
    above = &reason;
  }
}

void append_lines(fmt::memory_buffer& text, const std::vector<Line>& lines) {
  for (const auto& [label, value] : lines) {
    fmt::format_to(std::back_inserter(text), "{:<13}{}\n", label, value);
  }
}

void append_products(fmt::memory_buffer& text, const MatrixReport& report) {
  append_lines(text, describe_structure(report.features));
  append_kernels(
      text, "SpMM with N columns on the host", report,
      [](const KernelReport& line) -> const std::string& { return line.host; },
      [](const KernelReport& line) -> const std::string& { return line.host_reason; });
  if (report.complex) return;
  append_kernels(
      text, "SpMM with N columns on a GPU", report,
      [](const KernelReport& line) -> const std::string& { return line.cuda; },
      [](const KernelReport& line) -> const std::string& { return line.cuda_reason; });
}

nlohmann::ordered_json kernels_json(const MatrixReport& report) {
  nlohmann::ordered_json kernels = nlohmann::ordered_json::array();
  for (const KernelReport& line : report.kernels) {
    nlohmann::ordered_json& kernel = kernels.emplace_back();
    kernel = {{"N", line.N},
              {"compulsory_bytes", line.compulsory_bytes},
              {"host", {{"kernel", line.host}, {"reason", line.host_reason}}}};
    if (!report.complex) kernel["cuda"] = {{"kernel", line.cuda}, {"reason", line.cuda_reason}};
  }
  return kernels;
}

/// Writes one line per bin, with the number of eigenvalues in the bin and up to its end. Rounding
/// may make an estimate negative.
void append_spectrum(fmt::memory_buffer& text, const SpectrumReport& spectrum) {
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "\nEstimated numbers of eigenvalues\n{:>13}  {:>13}  {:>12}  {:>9}  {:>12}\n",
                 "from", "to", "count", "+-", "up to here");
  double total = 0;
  for (std::size_t k = 0; k < spectrum.bins.size(); ++k) {
    const EigenvalueCount& bin = spectrum.bins[k];
    total += bin.count;
    fmt::format_to(out, "{:>13.6g}  {:>13.6g}  {:>12.1f}  {:>9.1f}  {:>12.1f}\n", spectrum.edge(k),
                   spectrum.edge(k + 1), std::max(0.0, bin.count), bin.deviation, total);
  }
}

nlohmann::ordered_json spectrum_json(const SpectrumReport& spectrum) {
  nlohmann::ordered_json bins = nlohmann::ordered_json::array();
  for (std::size_t k = 0; k < spectrum.bins.size(); ++k) {
    const EigenvalueCount& bin = spectrum.bins[k];
    bins.push_back({{"from", spectrum.edge(k)},
                    {"to", spectrum.edge(k + 1)},
                    {"count", bin.count},
                    {"deviation", bin.deviation}});
  }
  return bins;
}

/// A number, or [real part, imaginary part] of a complex matrix.
nlohmann::ordered_json entry_json(std::complex<double> value, bool complex) {
  if (!complex) return value.real();
  return {value.real(), value.imag()};
}

/// The report on a matrix without what follows on request.
nlohmann::ordered_json matrix_json(const MatrixReport& report) {
  const MatrixFeatures& f = report.features;
  nlohmann::ordered_json json{{"matrix", report.name},
                              {"rows", f.rows},
                              {"cols", f.cols},
                              {"nnz", f.nnz},
                              {report.complex ? "hermitian" : "symmetric", report.symmetric},
                              {"symmetric_pattern", f.symmetric_pattern},
                              {"norm_1", report.norm_1},
                              {"largest_entry", report.largest_entry},
                              {"row_mean", f.row_mean},
                              {"row_deviation", f.row_deviation},
                              {"row_max", f.row_max},
                              {"empty_rows", f.empty_rows},
                              {"bandwidth", f.bandwidth},
                              {"mean_bandwidth", f.mean_bandwidth},
                              {"block_fill",
                               {{"2", f.block_fill_2},
                                {"3", f.block_fill_3},
                                {"4", f.block_fill_4},
                                {"8", f.block_fill_8}}},
                              {"reuse",
                               {{"8", f.reuse_8},
                                {"32", f.reuse_32},
                                {"128", f.reuse_128},
                                {"2048", f.reuse_2048},
                                {"32768", f.reuse_32768}}},
                              {"column_run", f.column_run},
                              {"rows_within_128", f.rows_within_128},
                              {"values_are_floats", f.values_are_floats}};
  if (report.asymmetry) {
    const auto& worst = *report.asymmetry;
    json["asymmetry"] = {{"row", worst.row},
                         {"col", worst.col},
                         {"value", entry_json(worst.value, report.complex)},
                         {"transposed", entry_json(worst.transposed, report.complex)}};
  }
  if (report.diagonal) {
    json["diagonal"] = {{"smallest", report.diagonal->smallest},
                        {"largest", report.diagonal->largest},
                        {"not_positive", report.diagonal->not_positive}};
  }
  if (report.gershgorin) {
    json["gershgorin"] = {report.gershgorin->lower, report.gershgorin->upper};
  }
  if (report.ritz) {
    json["ritz"] = {report.ritz->lower, report.ritz->upper};
    json["definite"] = definiteness(report);
  }
  return json;
}

nlohmann::ordered_json pencil_json(const PencilReport& pencil) {
  nlohmann::ordered_json json{{"diagonal_mass", pencil.diagonal}};
  if (!pencil.mass.complex) json["sum_of_mass"] = pencil.sum;
  json["massless_rows"] = pencil.massless;
  json["empty_rows"] = pencil.empty;
  if (pencil.quotients) {
    const auto [lower, upper] = *pencil.quotients;
    json["quotients"] = {lower, upper};
    json["frequencies"] = {frequency_of(lower), frequency_of(upper)};
  }
  return json;
}

}  // namespace

std::string to_text(const MatrixReport& report, const std::optional<PencilReport>& pencil) {
  fmt::memory_buffer text;
  append_lines(text, describe(report));
  if (pencil) {
    text.push_back('\n');
    append_lines(text, describe(*pencil));
  }
  if (!report.kernels.empty()) append_products(text, report);
  if (report.spectrum) append_spectrum(text, *report.spectrum);
  if (!report.levels.empty()) {
    fmt::format_to(std::back_inserter(text), "\nLevels of multigrid\n{}",
                   levels_table(report.levels));
  }
  return fmt::to_string(text);
}

std::string to_json(const MatrixReport& report, const std::optional<PencilReport>& pencil) {
  nlohmann::ordered_json json = matrix_json(report);
  if (pencil) {
    json["mass"] = matrix_json(pencil->mass);
    json["pencil"] = pencil_json(*pencil);
  }
  if (!report.kernels.empty()) json["kernels"] = kernels_json(report);
  if (report.spectrum) json["spectrum"] = spectrum_json(*report.spectrum);
  if (!report.levels.empty()) json["multigrid"] = levels_json(report.levels);
  return json.dump(2) + "\n";
}

}  // namespace heddle::apps
