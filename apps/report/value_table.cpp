#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <heddle/apps/report/value_table.hpp>
#include <iterator>
#include <vector>

namespace heddle::apps {
namespace {

/// Rows whose error bound exceeds this share of the value are marked.
constexpr double kMarkedError = 1e-6;

/// Marks rows whose error bound reaches across an end of the interval.
constexpr std::string_view kStraddles = " |";

/// Decimal digits behind the first one: at least, whatever the bound says, and at most.
constexpr int kLeastDigits = 5;
constexpr int kMostDigits = 14;

/// Frequencies from the first to below the second size are shown without an exponent.
constexpr double kPlainFrom = 1e-3;
constexpr double kPlainBelow = 1e6;

constexpr double kTwoPi = 6.283185307179586;

/// The decimal digits behind the first one that an error of up to `error` leaves certain. Negative
/// where the first one is not certain.
int certain_digits(double value, double error) {
  if (!std::isfinite(value) || !(error > 0)) return kMostDigits;
  if (error >= std::abs(value)) return -1;
  return static_cast<int>(
      std::min<double>(std::floor(std::log10(std::abs(value) / error)), kMostDigits));
}

/// `text` with its first `count` significant digits in bold.
std::string with_bold(const std::string& text, int count) {
  std::size_t end = 0;
  bool leading = true;
  for (; end < text.size() && count > 0; ++end) {
    const char c = text[end];
    if (c < '0' || c > '9') continue;
    leading = leading && c == '0';
    if (!leading) --count;
  }
  return end == 0 ? text : fmt::format("\x1b[1m{}\x1b[0m{}", text.substr(0, end), text.substr(end));
}

/// The largest residual at the level of rounding, in single precision.
constexpr double kNoise = 2e-5;

/// A number in a column.
struct Cell {
  double value;
  double error;
  bool rounding;  // whether rounding alone keeps it from more digits, so that it may be zero
};

std::string shown(const Cell& cell, int most, bool plain, int width, bool bold) {
  const int certain = certain_digits(cell.value, cell.error);
  if (certain < 0 && cell.rounding) return fmt::format("{:>{}}", 0, width);
  const int digits = std::clamp(certain, kLeastDigits, most);
  const double size = std::abs(cell.value);
  std::string text = fmt::format("{:.{}e}", cell.value, digits);
  if (plain && size >= kPlainFrom && size < kPlainBelow) {
    const int behind = digits - static_cast<int>(std::floor(std::log10(size)));
    text = fmt::format("{:.{}f}", cell.value, std::max(behind, 0));
  }
  const auto room = static_cast<std::size_t>(width);
  const std::string space(room - std::min(room, text.size()), ' ');
  return space + (bold && certain < digits ? with_bold(text, certain + 1) : text);
}

/// The factor from cycles per unit of time, and the head of the column.
struct Unit {
  double factor;
  std::string_view head;
};

Unit unit_of(FrequencyUnit unit) {
  switch (unit) {
    case FrequencyUnit::hertz:
      return {1, "f (Hz)"};
    case FrequencyUnit::kilohertz:
      return {1e-3, "f (kHz)"};
    case FrequencyUnit::radians:
      return {kTwoPi, "ω (rad/s)"};
    default:
      return {1, "frequency"};
  }
}

/// A bound of the error of the frequency of a λ with an error of up to `error`.
double frequency_error(double lambda, double error) {
  const double f = frequency_of(lambda);
  if (error <= 1e-3 * std::abs(lambda)) {  // of differences, no digit would be left
    const double share = error / std::abs(lambda);
    return std::abs(f) * share / (1 + std::sqrt(1 - share));
  }
  return std::max(frequency_of(lambda + error) - f, f - frequency_of(lambda - error));
}

/// The rows of a table of values.
class ValueRows {
 public:
  ValueRows(const Solution& result, TableStyle style)
      : result_(result),
        values_(result.singular_values.empty() ? result.eigenvalues : result.singular_values),
        unit_(unit_of(style.unit)),
        bold_(style.bold),
        eigenvalue_(style.eigenvalue),
        frequencies_(!result.frequencies.empty() && style.unit != FrequencyUnit::none) {}

  std::string head() const {
    const std::string first =
        frequencies_ ? fmt::format("  {:>12}  {:>9}", unit_.head, "±") : std::string();
    return fmt::format("{:>5}{}  {:>22}  {:>9}  {:>9}\n", "", first,
                       result_.singular_values.empty() ? eigenvalue_ : "singular value", "±",
                       "residual");
  }

  std::string row(std::size_t i) const {
    const double residual = i < result_.residuals.size() ? result_.residuals[i] : 0;
    const Cell value{values_[i], error(i), may_be_zero(i)};
    return fmt::format("{:>5}{}  {}  {:>9.1e}  {:>9.1e}{}{}{}\n", i + 1, frequency(i),
                       shown(value, kMostDigits, false, 22, bold_), value.error, residual, mark(i),
                       end_mark(i), unconverged_mark(result_, i));
  }

  int width() const { return frequencies_ ? 12 : 22; }

  std::string legend() const {
    std::string text =
        explain(" *", "the error may exceed 1e-6 of the value") +
        explain(" ~", "the error may exceed 1e-6 of the value: rounding allows no more digits");
    if (std::find(result_.straddles.begin(), result_.straddles.end(), true) !=
        result_.straddles.end()) {
      text += fmt::format("{}  an end of the interval lies within the error\n", kStraddles);
    }
    return text;
  }

 private:
  double error(std::size_t i) const {
    return i < result_.error_bounds.size() ? result_.error_bounds[i] : 0;
  }

  bool rounding(std::size_t i) const {
    return i < result_.limited_by_rounding.size() && result_.limited_by_rounding[i];
  }

  bool may_be_zero(std::size_t i) const {
    return rounding(i) && i < result_.residuals.size() && result_.residuals[i] <= kNoise;
  }

  std::string frequency(std::size_t i) const {
    if (!frequencies_) return "";
    const double error = unit_.factor * frequency_error(values_[i], this->error(i));
    const Cell cell{unit_.factor * result_.frequencies[i], error, may_be_zero(i)};
    return fmt::format("  {}  {:>9.1e}", shown(cell, kLeastDigits, true, 12, bold_), error);
  }

  std::string_view mark(std::size_t i) const {
    if (error(i) <= kMarkedError * std::abs(values_[i])) return "";
    return rounding(i) ? " ~" : " *";
  }

  std::string_view end_mark(std::size_t i) const {
    return i < result_.straddles.size() && result_.straddles[i] ? kStraddles : "";
  }

  /// A line of the legend, if a row has the mark.
  std::string explain(std::string_view sign, std::string_view text) const {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (mark(i) != sign) continue;
      return fmt::format("{}  {}{}\n", sign, text, bold_ ? "; certain digits are bold" : "");
    }
    return "";
  }

  const Solution& result_;
  const std::vector<double>& values_;
  Unit unit_;
  bool bold_;
  std::string_view eigenvalue_;
  bool frequencies_;
};

}  // namespace

std::string_view unconverged_mark(const Solution& result, std::size_t i) {
  const bool passes = result.status == SolveStatus::converged || i >= result.converged.size() ||
                      result.converged[i];
  return passes ? "" : "  not converged";
}

double frequency_of(double lambda) {
  return std::copysign(std::sqrt(std::abs(lambda)), lambda) / kTwoPi;
}

Table value_table(const Solution& result, TableStyle style) {
  const ValueRows rows(result, style);
  return {rows.head(), [rows](std::size_t i) { return rows.row(i); }, rows.width(), rows.legend()};
}

}  // namespace heddle::apps
