#include <algorithm>
#include <cstring>
#include <heddle/linalg/context/host_parallel.hpp>
#include <heddle/linalg/files/text_pieces.hpp>

namespace heddle::detail {

const char* line_end(const char* begin, const char* end) noexcept {
  const void* found = std::memchr(begin, '\n', static_cast<std::size_t>(end - begin));
  return found != nullptr ? static_cast<const char*>(found) : end;
}

Index count_line_feeds(std::string_view text) noexcept {
  return std::count(text.begin(), text.end(), '\n');
}

std::size_t line_number(std::string_view text, const char* where) noexcept {
  const auto before = static_cast<std::size_t>(where - text.data());
  return 1 + static_cast<std::size_t>(count_line_feeds(text.substr(0, before)));
}

std::vector<TextPiece> cut_at_lines(HostContext& context, std::string_view text) {
  constexpr Index kLeastText = 1 << 18;  // bytes of a piece of work
  const Slabs slabs = make_slabs(static_cast<Index>(text.size()), kLeastText);
  std::vector<TextPiece> pieces;
  std::size_t begin = 0;
  for (Index slab = 0; slab < slabs.count(); ++slab) {
    const std::size_t least = static_cast<std::size_t>(slabs.end(slab));
    if (least <= begin) continue;
    const std::size_t end = std::min(text.find('\n', least - 1), text.size() - 1) + 1;
    pieces.push_back({.text = text.substr(begin, end - begin)});
    begin = end;
  }
  parallel_for(context.threads(), static_cast<Index>(pieces.size()), [&](Index index) {
    TextPiece& piece = pieces[static_cast<std::size_t>(index)];
    piece.lines = count_line_feeds(piece.text) + (piece.text.back() != '\n');
  });
  return pieces;
}

}  // namespace heddle::detail
