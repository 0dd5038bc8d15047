#include <fmt/format.h>

#include <algorithm>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/edge_list/edges.hpp>
#include <heddle/linalg/files/file_content.hpp>
#include <heddle/linalg/files/words.hpp>
#include <heddle/linalg/formats/formats.hpp>
#include <heddle/linalg/matrix_market/header.hpp>
#include <heddle/linalg/matrix_market/read.hpp>
#include <heddle/linalg/numpy/npy.hpp>
#include <heddle/linalg/numpy/npy_array.hpp>
#include <heddle/linalg/numpy/npz.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <system_error>

namespace heddle {
namespace {

using detail::FileContent;

bool is_matrix_market(std::string_view bytes) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  constexpr std::string_view kBanner = "%%matrixmarket";
  if (bytes.starts_with(kByteOrderMark)) bytes.remove_prefix(kByteOrderMark.size());
  return detail::lower_case(bytes.substr(0, kBanner.size())) == kBanner;
}

bool is_npy(std::string_view bytes) { return bytes.starts_with("\x93NUMPY"); }

bool is_zip(std::string_view bytes) {
  return bytes.starts_with("PK\x03\x04") || bytes.starts_with("PK\x05\x06");
}

bool has_no_mark(std::string_view) { return false; }

/// A format with the functions that recognise its first bytes and read its files.
template <Scalar T>
struct FormatRow {
  FileFormat format;
  bool (*recognises)(std::string_view bytes);
  HostCsrMatrix<T> (*matrix)(HostContext&, FileContent file, std::string_view name, FirstLine);
  MultiVector<T, HostSpace> (*block)(HostContext&, FileContent file, std::string_view name);
};

/// Calls a reader of a format that is no edge list.
template <auto kTake>
auto take(HostContext& context, FileContent file, std::string_view name, FirstLine) {
  return kTake(context, std::move(file), name);
}

/// Reads an edge list, whose weights are real.
template <Scalar T>
HostCsrMatrix<T> take_edges(HostContext& context, FileContent file, std::string_view name,
                            FirstLine first_line) {
  if constexpr (kComplex<T>) {
    const HostCsrMatrix<RealOf<T>> A =
        detail::take_edge_list<RealOf<T>>(context, std::move(file), name, first_line);
    return convert<T>(context, A.view());
  } else {
    return detail::take_edge_list<T>(context, std::move(file), name, first_line);
  }
}

/// Calls a reader of bytes with those of a file.
template <auto kParse>
auto parse_bytes(HostContext& context, FileContent file, std::string_view name) {
  return kParse(context, file.bytes(), name);
}

template <Scalar T>
const std::vector<FormatRow<T>>& table() {
  static const std::vector<FormatRow<T>> rows = {
      {{"Matrix Market", {".mtx"}},
       is_matrix_market,
       take<detail::take_matrix_market<T>>,
       detail::take_matrix_market_block<T>},
      {{"NumPy", {".npy"}},
       is_npy,
       take<parse_bytes<parse_npy<T>>>,
       parse_bytes<parse_npy_block<T>>},
      {{"SciPy sparse", {".npz"}},
       is_zip,
       take<parse_bytes<parse_npz<T>>>,
       parse_bytes<parse_npz_block<T>>},
      {{"edge list", {".txt", ".tsv", ".edges", ".edgelist", ".el"}, false},
       has_no_mark,
       take_edges<T>,
       nullptr}};
  return rows;
}

/// The extension of a file name in lower case, without regard to ".gz".
std::string extension_of(const std::filesystem::path& path) {
  const std::string last = detail::lower_case(path.extension().string());
  return last == ".gz" ? detail::lower_case(path.stem().extension().string()) : last;
}

bool has_extension(const FileFormat& format, std::string_view extension) {
  return std::find(format.extensions.begin(), format.extensions.end(), extension) !=
         format.extensions.end();
}

template <Scalar T>
const FormatRow<T>& choose(std::string_view bytes, const std::filesystem::path& path) {
  const auto& rows = table<T>();
  auto found = std::find_if(rows.begin(), rows.end(),
                            [&](const FormatRow<T>& row) { return row.recognises(bytes); });
  if (found != rows.end()) return *found;
  const std::string_view foreign = foreign_format(bytes, path);
  if (!foreign.empty()) throw InputError(path.string(), 0, std::string(foreign));
  const std::string extension = extension_of(path);
  found = std::find_if(rows.begin(), rows.end(), [&](const FormatRow<T>& row) {
    return has_extension(row.format, extension);
  });
  if (found != rows.end()) return *found;
  throw InputError(path.string(), 0,
                   "neither its first bytes nor its name show a format that can be read: " +
                       describe_formats(false));
}

}  // namespace

const std::vector<FileFormat>& file_formats() {
  static const std::vector<FileFormat> formats = [] {
    std::vector<FileFormat> listed;
    for (const FormatRow<double>& row : table<double>()) listed.push_back(row.format);
    return listed;
  }();
  return formats;
}

std::string describe_formats(bool for_blocks) {
  std::string text;
  for (const FileFormat& format : file_formats()) {
    if (for_blocks && !format.holds_blocks) continue;
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", format.name,
                        fmt::join(format.extensions, ", "));
  }
  return text;
}

template <Scalar T>
HostCsrMatrix<T> read_matrix(HostContext& context, const std::filesystem::path& path,
                             FirstLine first_line) {
  FileContent file(context, path);
  const FormatRow<T>& row = choose<T>(file.bytes(), path);
  return row.matrix(context, std::move(file), path.string(), first_line);
}

template <Scalar T>
MultiVector<T, HostSpace> read_block(HostContext& context, const std::filesystem::path& path) {
  FileContent file(context, path);
  const FormatRow<T>& row = choose<T>(file.bytes(), path);
  if (!row.format.holds_blocks) {
    throw InputError(
        path.string(), 0,
        fmt::format("is taken for an {}, which holds no vectors; they are read from {}",
                    row.format.name, describe_formats(true)));
  }
  return row.block(context, std::move(file), path.string());
}

bool holds_complex_numbers(const std::filesystem::path& path) {
  constexpr std::size_t kMostOfHeader = 1 << 20;  // bytes
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(path, unknown)) return false;
  HostContext context(1);
  try {
    const FileContent beginning(context, path, kMostOfHeader);
    const std::string_view bytes = beginning.bytes();
    if (is_zip(bytes)) return detail::is_complex_npz(FileContent(context, path).bytes());
    return is_npy(bytes) ? detail::begins_complex_npy(bytes) : matrix_market::names_complex(bytes);
  } catch (const InputError&) {
    return false;
  }
}

#define HEDDLE_INSTANTIATE(T)                                                                   \
  template HostCsrMatrix<T> read_matrix(HostContext&, const std::filesystem::path&, FirstLine); \
  template MultiVector<T, HostSpace> read_block(HostContext&, const std::filesystem::path&);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
