#include <fmt/format.h>

#include <cmath>
#include <heddle/drivers/problem/fields.hpp>
#include <type_traits>

namespace heddle::detail {
namespace {

template <class Number>
std::string range_text(const Range<Number>& range) {
  const bool low = range.low != std::numeric_limits<Number>::lowest();
  const bool high = range.high != std::numeric_limits<Number>::max();
  if (range.open && high) return fmt::format("above {} and below {}", range.low, range.high);
  if (range.open) return fmt::format("above {}", range.low);
  if (low && high) return fmt::format("from {} to {}", range.low, range.high);
  if (low) return fmt::format("of at least {}", range.low);
  return std::is_floating_point_v<Number> ? "that is finite" : "of any size";
}

}  // namespace

std::string describe_range(const Range<Index>& range) { return range_text(range); }
std::string describe_range(const Range<double>& range) { return range_text(range); }

std::vector<std::string> describe_forms(const FieldForms& forms) {
  std::vector<std::string> described;
  if (forms.new_file) described.emplace_back("a file name");
  for (const std::string_view word : forms.words) described.emplace_back(word);
  if (forms.integer) described.push_back("an integer " + describe_range(*forms.integer));
  if (forms.real) described.push_back("a number " + describe_range(*forms.real));
  if (forms.interval) {
    described.emplace_back("a list of two numbers or -inf or inf, the larger one last");
  }
  return described;
}

std::string alternatives(const std::vector<std::string>& forms) {
  if (forms.size() < 2) return forms.empty() ? std::string() : forms.front();
  return fmt::format("{} or {}", fmt::join(forms.begin(), forms.end() - 1, ", "), forms.back());
}

std::string accepted(const FieldForms& forms) {
  const bool words_alone = !forms.words.empty() && !forms.integer && !forms.real;
  if (words_alone) return fmt::format("one of '{}'", fmt::join(forms.words, "', '"));
  return alternatives(describe_forms(forms));
}

bool is_interval(double lower, double upper) noexcept { return lower <= upper; }

std::string to_text(const GivenValue& value) {
  return std::visit(
      [](const auto& one) {
        using Given = std::remove_cvref_t<decltype(one)>;
        if constexpr (std::same_as<Given, std::vector<double>>) {
          return fmt::format("[{}]", fmt::join(one, ", "));
        } else {
          return fmt::format("{}", one);
        }
      },
      value);
}

}  // namespace heddle::detail
