#pragma once

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <heddle/drivers/problem/archive_values.hpp>
#include <heddle/drivers/problem/request.hpp>
#include <heddle/drivers/problem/request_values.hpp>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

/// Tables of the fields of a struct. From one row per field follow its key in a configuration, its
/// option, its keyword in Python, the message to other processes, checks and documents.
namespace heddle::detail {

/// A range of numbers.
template <class Number>
struct Range {
  Number low = std::numeric_limits<Number>::lowest();
  Number high = std::numeric_limits<Number>::max();
  bool open = false;  ///< the two ends are excluded

  bool contains(Number x) const noexcept {
    return open ? low < x && x < high : low <= x && x <= high;
  }
};

inline constexpr Range<Index> kCount{.low = 1};
inline constexpr Range<Index> kNatural{.low = 0};

/// The forms of value that a field accepts. A value must have one of them.
struct FieldForms {
  std::vector<std::string_view> words{};  ///< one of these
  std::optional<Range<Index>> integer{};
  std::optional<Range<double>> real{};
  bool interval = false;  ///< a list of two numbers in ascending order
  bool new_file = false;  ///< a file to write
};

/// The forms as text, one each: "auto", "an integer of at least 1".
std::vector<std::string> describe_forms(const FieldForms& forms);

/// "of at least 1", "from 0 to 4096", "above 0".
std::string describe_range(const Range<Index>& range);
std::string describe_range(const Range<double>& range);

/// "a, b or c".
std::string alternatives(const std::vector<std::string>& forms);

/// Whether lower and upper are the ends of an interval. Both may be infinite.
bool is_interval(double lower, double upper) noexcept;

/// The words that a field accepts, with their values.
template <class Value>
using Words = std::vector<std::pair<std::string_view, Value>>;

std::string to_text(const GivenValue& value);

/// The number in `given` as a Number. None if it holds none, or one that does not fit.
template <class Number>
std::optional<Number> number_in(const GivenValue& given) {
  return std::visit(
      [](const auto& value) -> std::optional<Number> {
        using Given = std::remove_cvref_t<decltype(value)>;
        if constexpr (std::same_as<Given, Index> || std::same_as<Given, std::uint64_t>) {
          if constexpr (std::is_floating_point_v<Number>) return static_cast<Number>(value);
          if constexpr (std::is_integral_v<Number>) {
            if (std::in_range<Number>(value)) return static_cast<Number>(value);
          }
        }
        if constexpr (std::same_as<Given, double> && std::is_floating_point_v<Number>) return value;
        return std::nullopt;
      },
      given);
}

/// Typed access to one member of an Owner.
template <class Owner>
class FieldMember {
 public:
  virtual ~FieldMember() = default;
  /// Sets the member. Returns false if `given` is of another kind, such as an unknown word.
  virtual bool set(Owner& owner, const GivenValue& given) const = 0;
  /// Whether the value is the default, that of a word, or one that `forms` accepts.
  virtual bool is_valid(const Owner& owner, const FieldForms& forms) const = 0;
  virtual void pass(Archive& archive, Owner& owner) const = 0;
  virtual bool same(const Owner& a, const Owner& b) const = 0;
  virtual std::string text(const Owner& owner) const = 0;
  virtual const void* address(const Owner& owner) const = 0;
};

inline bool same_value(const auto& a, const auto& b) { return a == b; }
inline bool same_value(const std::optional<RealInterval>& a, const std::optional<RealInterval>& b) {
  if (!a || !b) return !a && !b;
  return a->lower == b->lower && a->upper == b->upper;
}

/// The type of the member that `Access`, a lambda without captures, returns of an Owner.
template <class Owner, class Access>
using ValueOf = std::remove_cvref_t<std::invoke_result_t<Access, Owner&>>;

/// A member of an Owner. One class serves all members of a type: each has its pair of functions.
template <class Owner, class Value>
class TypedMember final : public FieldMember<Owner> {
 public:
  template <class Access>
  TypedMember(Access, Words<Value> words)
      : member_([](Owner& owner) -> Value& { return Access{}(owner); }),
        const_member_([](const Owner& owner) -> const Value& { return Access{}(owner); }),
        words_(std::move(words)) {}

  bool set(Owner& owner, const GivenValue& given) const override {
    return convert(given, member_(owner));
  }

  bool is_valid(const Owner& owner, const FieldForms& forms) const override {
    const Value& value = const_member_(owner);
    for (const auto& [word, meaning] : words_) {
      if (same_value(meaning, value)) return true;
    }
    if (same_value(value, const_member_(defaults()))) return true;
    if constexpr (std::is_floating_point_v<Value>) {
      return !forms.real || forms.real->contains(value);
    } else if constexpr (std::is_integral_v<Value> && !std::same_as<Value, bool>) {
      return !forms.integer || !std::in_range<Index>(value) ||
             forms.integer->contains(static_cast<Index>(value));
    } else if constexpr (std::same_as<Value, std::optional<double>>) {
      return std::isfinite(*value);
    } else if constexpr (std::same_as<Value, std::optional<RealInterval>>) {
      return is_interval(value->lower, value->upper);
    } else {
      return true;
    }
  }

  void pass(Archive& archive, Owner& owner) const override {
    detail::pass(archive, member_(owner));
  }

  bool same(const Owner& a, const Owner& b) const override {
    return same_value(const_member_(a), const_member_(b));
  }

  std::string text(const Owner& owner) const override {
    const Value& value = const_member_(owner);
    for (const auto& [word, meaning] : words_) {
      if (same_value(meaning, value)) return std::string(word);
    }
    if constexpr (std::is_arithmetic_v<Value>) {
      using Number =
          std::conditional_t<std::is_floating_point_v<Value>, double,
                             std::conditional_t<std::is_signed_v<Value>, Index, std::uint64_t>>;
      return to_text(GivenValue(static_cast<Number>(value)));
    } else if constexpr (std::same_as<Value, std::string>) {
      return value;
    } else if constexpr (std::same_as<Value, std::filesystem::path>) {
      return value.string();
    } else if constexpr (std::same_as<Value, std::optional<double>>) {
      return value ? to_text(GivenValue(*value)) : std::string();
    } else if constexpr (std::same_as<Value, std::optional<RealInterval>>) {
      return value ? to_text(std::vector{value->lower, value->upper}) : std::string();
    } else {
      return {};
    }
  }

  const void* address(const Owner& owner) const override { return &const_member_(owner); }

 private:
  static const Owner& defaults() {
    static const Owner defaults{};
    return defaults;
  }

  bool convert(const GivenValue& given, Value& value) const {
    if (const auto* word = std::get_if<std::string>(&given)) {
      for (const auto& [known, meaning] : words_) {
        if (known == *word) return value = meaning, true;
      }
      if constexpr (std::same_as<Value, std::string> || std::same_as<Value, std::filesystem::path>)
        return value = *word, true;
      return false;
    }
    if constexpr (std::same_as<Value, bool>) {
      const bool* const flag = std::get_if<bool>(&given);
      return flag != nullptr && (value = *flag, true);
    } else if constexpr (std::is_arithmetic_v<Value>) {
      const std::optional<Value> number = number_in<Value>(given);
      if (!number) return false;
      // The number that stands for a word, such as 0 for auto, is said by the word.
      if constexpr (std::is_integral_v<Value>) {
        for (const auto& [word, meaning] : words_) {
          if (meaning == *number) return false;
        }
      }
      return value = *number, true;
    } else if constexpr (std::same_as<Value, std::optional<double>>) {
      const std::optional<double> number = number_in<double>(given);
      return number && (value = number, true);
    } else if constexpr (std::same_as<Value, std::optional<RealInterval>>) {
      const auto* const ends = std::get_if<std::vector<double>>(&given);
      return ends != nullptr && ends->size() == 2 &&
             (value = RealInterval{(*ends)[0], (*ends)[1]}, true);
    } else {
      return false;
    }
  }

  Value& (*member_)(Owner&);
  const Value& (*const_member_)(const Owner&);
  Words<Value> words_;
};

/// The key of a field for some of its readers, where it is described in several ways.
struct FieldVariant {
  unsigned readers = 0;
  std::string doc;         ///< one line
  std::string fallback{};  ///< the default in this key. Empty: that of the field
  /// Further words, which leave the field alone.
  std::vector<std::string_view> words = {};
};

/// All readers of a field.
inline constexpr unsigned kEverything = ~0U;

/// One field of an Owner.
template <class Owner>
struct Field {
  std::string path;     ///< of its key, such as "solver.nev". Empty: there is none
  std::string name;     ///< in errors: that of the member, such as "spmm.kernel"
  std::string keyword;  ///< in `set_field` and in Python. Empty: there is none
  std::string doc;      ///< one line
  FieldForms forms;
  std::string fallback;                   ///< the default as text. Empty: there is none
  bool required = false;                  ///< its key must be given if the section is
  unsigned readers = kEverything;         ///< bits of what reads it
  bool tuning = false;                    ///< as `KeySpec::tuning` of a configuration
  std::vector<std::string_view> aliases;  ///< its names in other packages, for suggestions
  std::string_view option;                ///< such as "-n,--nev", or empty
  std::string_view option_sets;           ///< another KEY=VALUE that the option sets, or empty
  std::vector<FieldVariant> variants;     ///< in place of `doc`, if there are any
  std::shared_ptr<const FieldMember<Owner>> member;

  bool is_default(const Owner& owner) const { return member->same(owner, Owner{}); }
  bool is_valid(const Owner& owner) const { return member->is_valid(owner, forms); }
  bool set(Owner& owner, const GivenValue& given) const { return member->set(owner, given); }
  /// The accepted values for messages: "one of 'a', 'b'", "auto or an integer of at least 1".
  std::string accepted() const;
};

template <class Owner>
using FieldTable = std::vector<Field<Owner>>;

/// As `Field::accepted`.
std::string accepted(const FieldForms& forms);

template <class Owner>
std::string Field<Owner>::accepted() const {
  return detail::accepted(forms);
}

/// Adds one row to a table. Each member function adds the property of its name and returns the row.
template <class Owner>
class FieldRow {
 public:
  /// A field whose default and whose names follow from its member and its path.
  template <class Access>
  FieldRow(FieldTable<Owner>& table, std::string path, std::string doc, Access access,
           Words<ValueOf<Owner, Access>> words = {})
      : field_(&table.emplace_back()) {
    field_->path = std::move(path);
    field_->name = field_->keyword = field_->path.substr(field_->path.rfind('.') + 1);
    field_->doc = std::move(doc);
    std::vector<std::string_view>& known = field_->forms.words;
    for (const auto& [word, value] : words) {
      if (std::find(known.begin(), known.end(), word) == known.end()) known.push_back(word);
    }
    using Member = TypedMember<Owner, ValueOf<Owner, Access>>;
    field_->member = std::make_shared<const Member>(access, std::move(words));
    field_->fallback = field_->member->text(Owner{});
  }

  FieldRow& name(std::string name) { return field_->name = std::move(name), *this; }
  FieldRow& keyword(std::string name) { return field_->keyword = std::move(name), *this; }
  FieldRow& integer(Range<Index> range) { return field_->forms.integer = range, *this; }
  FieldRow& real(Range<double> range) { return field_->forms.real = range, *this; }
  FieldRow& interval() { return field_->forms.interval = true, *this; }
  FieldRow& new_file() { return field_->forms.new_file = true, *this; }
  FieldRow& required() { return field_->required = true, *this; }
  FieldRow& readers(unsigned kinds) { return field_->readers = kinds, *this; }
  FieldRow& tuning() { return field_->tuning = true, *this; }
  FieldRow& aliases(std::vector<std::string_view> names) {
    return field_->aliases = std::move(names), *this;
  }
  FieldRow& option(std::string_view names, std::string_view also_sets = "") {
    field_->option = names;
    field_->option_sets = also_sets;
    return *this;
  }
  FieldRow& variant(FieldVariant variant) {
    return field_->variants.push_back(std::move(variant)), *this;
  }

 private:
  Field<Owner>* field_;  // valid until the next row is begun
};

/// Saves all fields of `owner` to an archive, or loads them.
template <class Owner>
void pass(Archive& archive, const FieldTable<Owner>& table, Owner& owner) {
  for (const Field<Owner>& field : table) field.member->pass(archive, owner);
}

/// The row with this keyword, null if there is none.
template <class Owner>
const Field<Owner>* field_of_keyword(const FieldTable<Owner>& table, std::string_view keyword) {
  for (const Field<Owner>& field : table) {
    if (!keyword.empty() && field.keyword == keyword) return &field;
  }
  return nullptr;
}

}  // namespace heddle::detail
