#include <algorithm>
#include <array>
#include <heddle/linalg/files/checks.hpp>
#include <heddle/linalg/files/words.hpp>
#include <heddle/linalg/formats/formats.hpp>
#include <string>
#include <vector>

/// Files of kinds that heddle does not read.
namespace heddle {
namespace {

using namespace std::string_view_literals;

/// A kind of file with what it begins with, or the extensions of its names.
struct ForeignKind {
  std::string_view message;
  std::vector<std::string_view> beginnings;
  std::vector<std::string_view> extensions{};
};

const std::vector<ForeignKind>& foreign_kinds() {
  static const std::vector<ForeignKind> kinds = {
      {"is compressed by xz: decompress it with xz -d",
       {"\xFD"
        "7zXZ"sv},
       {".xz"}},
      {"is compressed by bzip2: decompress it with bzip2 -d", {"BZh"sv}, {".bz2"}},
      {"is compressed by zstd: decompress it with zstd -d", {"\x28\xB5\x2F\xFD"sv}, {".zst"}},
      {"is a 7z archive: extract the file that it holds", {"7z\xBC\xAF\x27\x1C"sv}, {".7z"}},
      {"is a MATLAB file: save the matrix as .npz, with scipy.io.loadmat and "
       "scipy.sparse.save_npz, or with h5py for version 7.3",
       {"MATLAB "sv},
       {".mat"}},
      {"is an HDF5 file: save the matrix as .npz, with h5py and scipy.sparse.save_npz",
       {"\x89HDF\r\n\x1a\n"sv},
       {".h5", ".hdf5"}},
      {"is a binary matrix of PETSc: write it as Matrix Market or .npz", {"\x00\x12\x7B\x50"sv}},
      {"is a pointer of Git LFS in place of the file: fetch the file with git lfs pull",
       {"version https://git-lfs"sv}},
      {"is text in UTF-16: convert it with iconv -f UTF-16 -t UTF-8", {"\xFF\xFE"sv, "\xFE\xFF"sv}},
  };
  return kinds;
}

std::string_view first_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

bool consists_of(std::string_view text, std::string_view characters) {
  return text.find_first_not_of(characters) == std::string_view::npos;
}

/// A title, a line of numbers, then a line that begins with the type, such as RSA, as
/// Harwell-Boeing and Rutherford-Boeing have it. Source: I. Duff, R. Grimes, J. Lewis, User's Guide
/// for the Harwell-Boeing Sparse Matrix Collection, 1992.
bool is_harwell_boeing(std::string_view text) {
  first_line(text);
  const std::string_view counts = first_line(text);
  const std::string type = detail::lower_case(first_line(text));
  constexpr std::string_view kDigits = "0123456789 \r";
  return counts.size() >= 14 && consists_of(counts, kDigits) && type.size() >= 14 &&
         "rcpiq"sv.find(type[0]) != std::string_view::npos &&
         "suhzr"sv.find(type[1]) != std::string_view::npos &&
         "ae"sv.find(type[2]) != std::string_view::npos && consists_of(type.substr(3), kDigits);
}

/// Whether the first line that is no comment holds numbers between commas or semicolons.
bool is_csv(std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = first_line(text);
    if (consists_of(line, " \t\r") || line.front() == '#' || line.front() == '%') continue;
    const std::size_t comma = line.find_first_of(",;");
    return comma != std::string_view::npos && comma > 0 && comma + 1 < line.size() &&
           consists_of(line, "0123456789+-.eE,; \t\r");
  }
  return false;
}

bool is_markup(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  const std::string beginning = detail::lower_case(text.substr(0, 16));
  constexpr std::array kTags = {"<!doctype"sv, "<html"sv, "<head"sv, "<?xml"sv};
  return std::any_of(kTags.begin(), kTags.end(),
                     [&beginning](std::string_view tag) { return beginning.starts_with(tag); });
}

constexpr std::string_view kHarwellBoeing =
    "is a Harwell-Boeing file: write it as Matrix Market, with scipy.io.hb_read and mmwrite";
constexpr std::string_view kCsv =
    "is a CSV file: save a table as .npy, or write a list of edges with blanks in a .txt file";

/// The same by the extension of a name, for files whose bytes tell nothing.
std::string_view foreign_name(std::string_view extension) {
  constexpr std::array kHarwellBoeingNames = {".hb"sv, ".rb"sv, ".rsa"sv, ".rua"sv, ".psa"sv};
  const auto is_one = [extension](std::string_view known) { return known == extension; };
  if (std::any_of(kHarwellBoeingNames.begin(), kHarwellBoeingNames.end(), is_one)) {
    return kHarwellBoeing;
  }
  if (extension == ".csv") return kCsv;
  for (const ForeignKind& kind : foreign_kinds()) {
    if (std::any_of(kind.extensions.begin(), kind.extensions.end(), is_one)) return kind.message;
  }
  return {};
}

}  // namespace

std::string_view foreign_format(std::string_view bytes, const std::filesystem::path& path) {
  for (const ForeignKind& kind : foreign_kinds()) {
    const bool begins =
        std::any_of(kind.beginnings.begin(), kind.beginnings.end(),
                    [bytes](std::string_view start) { return bytes.starts_with(start); });
    if (begins) return kind.message;
  }
  if (detail::is_tar(bytes)) return "is a tar archive: extract the file that it holds";
  if (is_markup(bytes))
    return "is a web page or another XML file, such as that of a failed download";
  if (is_harwell_boeing(bytes)) return kHarwellBoeing;
  if (is_csv(bytes)) return kCsv;
  return foreign_name(detail::lower_case(path.extension().string()));
}

}  // namespace heddle
