#include <fmt/format.h>

#include <heddle/drivers/problem/problem.hpp>
#include <heddle/drivers/problem/request_fields.hpp>
#include <heddle/drivers/problem/request_values.hpp>

namespace heddle {
namespace {

using detail::Field;
using detail::request_fields;

constexpr std::string_view kOfPreconditioner = "preconditioner.";

bool is_of_preconditioner(std::string_view name) { return name.starts_with(kOfPreconditioner); }

const Field<Request>& known_field(std::string_view keyword) {
  if (keyword == "preconditioner") keyword = "preconditioner.type";
  if (const Field<Request>* field = detail::field_of_keyword(request_fields(), keyword))
    return *field;
  throw InvalidArgument(fmt::format("heddle knows no option {}; it knows {}", keyword,
                                    fmt::join(field_keywords(), ", ")));
}

[[noreturn]] void refuse_value(std::string name, const GivenValue& given,
                               std::string_view accepted) {
  const bool is_word = std::holds_alternative<std::string>(given);
  throw RequestError(std::move(name),
                     fmt::format(fmt::runtime(is_word ? " is '{}', not {}" : " is {}, not {}"),
                                 detail::to_text(given), accepted));
}

}  // namespace

std::vector<std::string> field_keywords() {
  std::vector<std::string> keywords;
  for (const Field<Request>& field : request_fields()) {
    if (field.keyword == "preconditioner.type") keywords.emplace_back("preconditioner");
    if (field.keyword.empty() || is_of_preconditioner(field.keyword)) continue;
    keywords.push_back(field.keyword);
  }
  return keywords;
}

void set_field(Request& request, std::string_view keyword, const GivenValue& value) {
  const auto& table = request_fields();
  if (is_of_preconditioner(keyword) && detail::field_of_keyword(table, keyword) == nullptr) {
    const std::string name(keyword.substr(kOfPreconditioner.size()));
    if (const Index* integer = std::get_if<Index>(&value)) {
      request.preconditioner.options[name] = *integer;
    } else if (const auto* word = std::get_if<std::string>(&value)) {
      request.preconditioner.options[name] = *word;
    } else {
      refuse_value(std::string(keyword), value, "an integer or a word");
    }
    return;
  }
  const Field<Request>& field = known_field(keyword);
  if (!field.set(request, value)) refuse_value(field.name, value, field.accepted());
}

std::string accepted_values(std::string_view keyword) { return known_field(keyword).accepted(); }

std::string keyword_of(std::string_view field) {
  if (is_of_preconditioner(field)) return std::string(field);
  for (const Field<Request>& row : request_fields()) {
    if (row.name == field && !row.keyword.empty()) return row.keyword;
  }
  return std::string(field);
}

}  // namespace heddle
