#include <algorithm>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/context/host_parallel.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/files/text_pieces.hpp>
#include <heddle/linalg/matrix_market/entries.hpp>
#include <heddle/linalg/matrix_market/line.hpp>
#include <utility>

namespace heddle::matrix_market {
namespace {

using detail::cut_at_lines;
using detail::line_end;
using detail::skip_blanks;
using detail::TextPiece;

template <Scalar T>
Fault read_line(const char* begin, const char* end, const Header& header,
                Entry<T>& entry) noexcept {
  if (header.format == Format::array) return read_last(begin, end, header, entry.value);
  return read_coordinates(begin, end, header, entry.row, entry.col, entry.value);
}

/// The line of `text` that holds its entry `index`, counted from 0. Blank lines are not entries.
std::string_view find_entry(std::string_view text, Index index) noexcept {
  const char* end = text.data() + text.size();
  for (const char* line = text.data();; line = line_end(line, end) + 1) {
    const char* stop = line_end(line, end);
    if (skip_blanks(line, stop) == stop) continue;
    if (index-- == 0) return {line, static_cast<std::size_t>(stop - line)};
  }
}

/// The index, among the stored values of an array file, of the first value of column `col`.
Index column_start(const Header& header, Index col) noexcept {
  switch (header.symmetry) {
    case Symmetry::symmetric:
    case Symmetry::hermitian:
      return col * header.rows - col * (col - 1) / 2;
    case Symmetry::skew_symmetric:
      return col * (header.rows - 1) - col * (col - 1) / 2;
    case Symmetry::general:
      break;
  }
  return col * header.rows;
}

/// The first stored row of column `col` of an array file.
Index first_stored_row(const Header& header, Index col) noexcept {
  if (header.symmetry == Symmetry::general) return 0;
  return header.symmetry == Symmetry::skew_symmetric ? col + 1 : col;
}

/// The column of the stored value `index` of an array file.
Index column_of(const Header& header, Index index) noexcept {
  Index first = 0;
  Index last = header.cols;  // the first column known to start after `index`
  while (last - first > 1) {
    const Index middle = first + (last - first) / 2;
    (column_start(header, middle) <= index ? first : last) = middle;
  }
  return first;
}

/// Parses `piece` up to its first wrong line into `to`. Returns the number of entries.
template <Scalar T>
Index parse_piece(TextPiece& piece, const Header& header, Entry<T>* to) noexcept {
  Entry<T>* next = to;
  const char* end = piece.text.data() + piece.text.size();
  const char* stop = nullptr;
  for (const char* line = piece.text.data(); line != end; line = stop + (stop != end)) {
    stop = line_end(line, end);
    const char* begin = skip_blanks(line, stop);
    if (begin == stop) continue;
    if (read_line(begin, stop, header, *next) != Fault::none) {
      piece.fault = begin;
      break;
    }
    ++next;
  }
  return next - to;
}

/// Throws an `InputError` for the first wrong line, for the first line after the last entry, or for
/// a missing entry.
template <Scalar T>
void check(const std::vector<TextPiece>& pieces, const Entries<T>& entries, std::string_view text,
           const Header& header, std::string_view name) {
  const auto fail = [&](const char* where, const std::string& message) {
    throw InputError(std::string(name), detail::line_number(text, where), message);
  };
  const std::string promised =
      std::to_string(header.entries) + (header.entries == 1 ? " entry" : " entries");
  Index found = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const TextPiece& piece = pieces[i];
    const Index count = entries.pieces[i].count;
    if (found + count > header.entries) {
      fail(find_entry(piece.text, header.entries - found).data(),
           "the size line promises " + promised + ", but here is one more");
    }
    found += count;
    if (piece.fault == nullptr) continue;
    const char* end = line_end(piece.fault, piece.text.data() + piece.text.size());
    const std::string_view line(piece.fault, static_cast<std::size_t>(end - piece.fault));
    Entry<T> ignored;
    fail(piece.fault, describe(read_line(piece.fault, end, header, ignored), line, header));
  }
  if (found < header.entries) {
    fail(text.data() + text.size() - (text.back() == '\n' ? 1 : 0),
         "the file ends after " + std::to_string(found) + " of the " + promised +
             " that the size line promises");
  }
}

/// Assigns rows and columns to the values of an array file.
template <Scalar T>
void place_array_values(HostContext& context, const Header& header, Entries<T>& entries) {
  std::vector<Index> firsts;
  Index next = 0;
  for (const auto& piece : entries.pieces) {
    firsts.push_back(next);
    next += piece.count;
  }
  parallel_for(context.threads(), static_cast<Index>(firsts.size()), [&](Index index) {
    const auto& piece = entries.pieces[static_cast<std::size_t>(index)];
    Index value = firsts[static_cast<std::size_t>(index)];
    const Index end = value + piece.count;
    Entry<T>* entry = entries.storage.data() + piece.first;
    for (Index col = column_of(header, value); value < end; ++col) {
      const Index start = column_start(header, col);
      const Index stop = std::min(end, column_start(header, col + 1));
      for (; value < stop; ++value, ++entry) {
        entry->row = static_cast<std::int32_t>(first_stored_row(header, col) + value - start);
        entry->col = static_cast<std::int32_t>(col);
      }
    }
  });
}

/// Throws an `InputError` for the first number on the diagonal of a Hermitian array that is not
/// real.
template <ComplexScalar T>
void check_diagonal(const Entries<T>& entries, std::string_view text, const Header& header,
                    std::string_view name) {
  Index index = 0;
  for (const auto& piece : entries.pieces) {
    const Entry<T>* entry = entries.storage.data() + piece.first;
    for (const Entry<T>* end = entry + piece.count; entry != end; ++entry, ++index) {
      if (entry->row != entry->col || entry->value.imag() == 0) continue;
      const std::string_view line = find_entry(text.substr(header.body), index);
      throw InputError(std::string(name), detail::line_number(text, line.data()),
                       describe(Fault::imaginary_on_diagonal, line, header));
    }
  }
}

/// The entries in `pieces`, each up to its first wrong line.
template <Scalar T>
Entries<T> parse_pieces(HostContext& context, std::vector<TextPiece>& pieces,
                        const Header& header) {
  Entries<T> entries;
  if (header.symmetry != Symmetry::general) {
    entries.mirror = header.symmetry == Symmetry::skew_symmetric ? -1 : 1;
    entries.conjugated = header.symmetry == Symmetry::hermitian;
  }
  Index lines = 0;
  for (const TextPiece& piece : pieces) {
    entries.pieces.push_back({.first = lines});
    lines += piece.lines;
  }
  entries.storage = {context, static_cast<std::size_t>(lines)};
  parallel_for(context.threads(), static_cast<Index>(pieces.size()), [&](Index index) {
    const auto i = static_cast<std::size_t>(index);
    Entry<T>* to = entries.storage.data() + entries.pieces[i].first;
    entries.pieces[i].count = parse_piece(pieces[i], header, to);
  });
  return entries;
}

}  // namespace

template <Scalar T>
Entries<T> parse_entries(HostContext& context, std::string_view text, const Header& header,
                         std::string_view name) {
  std::vector<TextPiece> pieces = cut_at_lines(context, text.substr(header.body));
  Entries<T> entries = parse_pieces<T>(context, pieces, header);
  check(pieces, entries, text, header, name);
  if (header.format != Format::array) return entries;
  place_array_values(context, header, entries);
  if constexpr (kComplex<T>) {
    if (header.symmetry == Symmetry::hermitian) check_diagonal(entries, text, header, name);
  }
  return entries;
}

template <Scalar T>
std::optional<Entries<T>> parse_lines(HostContext& context, std::string_view text,
                                      const Header& header) {
  std::vector<TextPiece> pieces = cut_at_lines(context, text);
  Entries<T> entries = parse_pieces<T>(context, pieces, header);
  const bool wrong = std::any_of(pieces.begin(), pieces.end(),
                                 [](const TextPiece& piece) { return piece.fault != nullptr; });
  return wrong ? std::nullopt : std::optional<Entries<T>>(std::move(entries));
}

#define HEDDLE_INSTANTIATE(T)                                                      \
  template Entries<T> parse_entries(HostContext&, std::string_view, const Header&, \
                                    std::string_view);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

template std::optional<Entries<double>> parse_lines(HostContext&, std::string_view, const Header&);

}  // namespace heddle::matrix_market
