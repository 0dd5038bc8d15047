#include <algorithm>
#include <fstream>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/base/shared_file.hpp>
#include <heddle/linalg/files/checks.hpp>
#include <heddle/linalg/files/file_lines.hpp>
#include <heddle/linalg/matrix_market/by_parts.hpp>
#include <heddle/linalg/sparse/csr_assembly.hpp>
#include <numeric>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace heddle {
namespace {

using matrix_market::Entries;
using matrix_market::Header;
using Entry = matrix_market::Entry<double>;

constexpr std::size_t kMostOfHeader = 1 << 20;  // bytes

/// The first bytes of a file.
std::string beginning(const std::filesystem::path& path) {
  std::string text(kMostOfHeader, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

/// The entries that this process sends to others, or receives from them, process after process.
struct Packed {
  std::vector<Index> firsts;  ///< of each process, and the end
  Buffer<Entry, HostSpace> entries;

  Packed(HostContext& context, const std::vector<Index>& counts)
      : firsts(counts.size() + 1),
        entries(context,
                static_cast<std::size_t>(std::accumulate(counts.begin(), counts.end(), Index{0}))) {
    std::partial_sum(counts.begin(), counts.end(), firsts.begin() + 1);
  }

  std::vector<Processes::Message> messages() {
    std::vector<Processes::Message> list;
    for (std::size_t k = 0; k + 1 < firsts.size(); ++k) {
      const Index count = firsts[k + 1] - firsts[k];
      if (count == 0) continue;
      list.push_back({static_cast<int>(k), entries.data() + firsts[k],
                      static_cast<std::size_t>(count) * sizeof(Entry)});
    }
    return list;
  }
};

/// Calls visit(process, row, col, value) for the entries that belong to rows of other processes.
template <class Visit>
void for_each_of_others(const Entries<double>& entries, const RowRanges& ranges, int rank,
                        const Visit& visit) {
  int owner = rank;  // of the last entry, and mostly of the next
  RowRange range = ranges.of(owner);
  for (Index piece = 0; piece < std::ssize(entries.pieces); ++piece) {
    entries.for_each(piece, [&](Index row, Index col, double value) {
      if (row < range.first || row >= range.first + range.local) {
        owner = ranges.owner(row);
        range = ranges.of(owner);
      }
      if (owner != rank) visit(static_cast<std::size_t>(owner), row, col, value);
    });
  }
}

/// The entries of rows of this process in the parts of the others.
Packed received(HostContext& context, const Entries<double>& entries, const RowRanges& ranges) {
  Processes& processes = *context.processes();
  const auto size = static_cast<std::size_t>(processes.size());
  const auto rank = static_cast<std::size_t>(processes.rank());
  std::vector<Index> counts(size), all(size * size), from(size);
  for_each_of_others(entries, ranges, processes.rank(),
                     [&](std::size_t owner, Index, Index, double) { ++counts[owner]; });
  processes.gather_all(counts.data(), all.data(), size * sizeof(Index));
  for (std::size_t k = 0; k < size; ++k) from[k] = all[k * size + rank];
  Packed sent(context, counts), arrived(context, from);
  std::vector<Index> next = sent.firsts;
  for_each_of_others(entries, ranges, processes.rank(),
                     [&](std::size_t owner, Index row, Index col, double value) {
                       sent.entries.data()[next[owner]++] = {static_cast<std::int32_t>(row),
                                                             static_cast<std::int32_t>(col), value};
                     });
  processes.begin_exchange(arrived.messages(), sent.messages());
  processes.end_exchange();
  return arrived;
}

}  // namespace

std::optional<MatrixMarketFile> file_by_parts(const std::filesystem::path& path) {
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(path, unknown)) return std::nullopt;
  MatrixMarketFile file{std::filesystem::absolute(path),
                        file_number(path),
                        std::filesystem::file_size(path, unknown),
                        {}};
  const std::string text = beginning(path);
  try {
    file.header = matrix_market::parse_header(text, path.string());
  } catch (const InputError&) {
    return std::nullopt;
  }
  const Header& header = file.header;
  // A size line that ends with the text may go on behind it.
  const bool complete = header.body < text.size() || text.size() == file.bytes;
  const bool by_rows = header.format == matrix_market::Format::coordinate &&
                       header.field != matrix_market::Field::complex &&
                       header.rows == header.cols &&
                       detail::is_plausible(header.rows, header.entries);
  if (!complete || !by_rows || unknown) return std::nullopt;
  return file;
}

std::optional<MatrixMarketPart> MatrixMarketPart::read(HostContext& context,
                                                       const MatrixMarketFile& file) {
  Processes& processes = *context.processes();
  const std::uint64_t body = file.header.body;
  const auto begin_of = [&](int rank) {
    return body + (file.bytes - body) * static_cast<std::uint64_t>(rank) /
                      static_cast<std::uint64_t>(processes.size());
  };
  std::optional<Entries<double>> entries;
  {
    const detail::FileLines lines(context, file.path, file.number, file.bytes,
                                  begin_of(processes.rank()), begin_of(processes.rank() + 1));
    if (lines.found()) {
      entries = matrix_market::parse_lines<double>(context, lines.text(), file.header);
    }
  }
  double found = 0;
  if (entries) {
    for (const auto& piece : entries->pieces) found += static_cast<double>(piece.count);
  }
  processes.sum({&found, 1});
  const bool wrong = !entries || found != static_cast<double>(file.header.entries);
  if (processes.any(wrong)) return std::nullopt;
  return MatrixMarketPart(file.header, std::move(*entries));
}

HostCsrMatrix<double> MatrixMarketPart::rows(HostContext& context, const RowRanges& ranges) const {
  const Packed others = received(context, entries_, ranges);
  const Index rank = context.processes()->rank();
  const Index here = std::ssize(entries_.pieces);
  const RowRange own = ranges.of(context.processes()->rank());
  // Pieces in the order of the file: those of the processes before, of this one, of those behind.
  const auto for_each = [&](Index piece, auto emit) {
    if (piece >= rank && piece < rank + here) {
      entries_.for_each(piece - rank, [&](Index row, Index col, double value) {
        if (row >= own.first && row < own.first + own.local) emit(row - own.first, col, value);
      });
      return;
    }
    const auto from = static_cast<std::size_t>(piece < rank ? piece : piece - here + 1);
    for (Index k = others.firsts[from]; k < others.firsts[from + 1]; ++k) {
      const Entry& entry = others.entries.data()[k];
      emit(entry.row - own.first, entry.col, entry.value);
    }
  };
  return CsrAssembler<double>(context, own.local, header_.cols)
      .assemble(context.processes()->size() - 1 + here, for_each);
}

}  // namespace heddle
