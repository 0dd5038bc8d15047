#include "spmm/roofline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

namespace heddle::lab {
namespace {

constexpr double kWidth = 880;
constexpr double kHeight = 560;
constexpr double kLeft = 70;
constexpr double kRight = 190;  // for the names
constexpr double kTop = 40;
constexpr double kBottom = 50;
constexpr double kGiga = 1e9;

constexpr std::array kColours = {"#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b",
                                 "#e377c2", "#17becf", "#bcbd22", "#7f7f7f", "#393b79", "#843c39"};

/// A logarithmic axis from `low` to `high`, drawn from `first` to `last`.
struct Axis {
  double low;
  double high;
  double first;
  double last;

  double at(double value) const {
    return first + (last - first) * std::log(value / low) / std::log(high / low);
  }
  /// The powers of ten and their doubles and fives on the axis.
  std::vector<double> marks() const {
    std::vector<double> values;
    for (double decade = std::pow(10, std::floor(std::log10(low))); decade <= high; decade *= 10) {
      for (const double step : {1.0, 2.0, 5.0}) {
        if (decade * step >= low && decade * step <= high) values.push_back(decade * step);
      }
    }
    return values;
  }
};

/// An axis around values, with some room at both ends.
Axis axis_around(std::vector<double> values, double first, double last) {
  std::erase_if(values, [](double value) { return !(value > 0); });
  if (values.empty()) values.push_back(1);
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  constexpr double kRoom = 1.4;
  return {*least / kRoom, *most * kRoom, first, last};
}

/// Text in XML.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

/// A picture that grows by elements.
class Drawing {
 public:
  Drawing(const Axis& x, const Axis& y) : x_(x), y_(y) {
    add(R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {} {}" font-family="sans-serif" )"
        R"(font-size="12">)"
        "\n"
        R"(<rect width="{}" height="{}" fill="white"/>)"
        "\n",
        kWidth, kHeight, kWidth, kHeight);
  }

  template <class... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
  }

  void text(double x, double y, const char* anchor, const std::string& what) {
    add(R"(<text x="{:.1f}" y="{:.1f}" text-anchor="{}">{}</text>)"
        "\n",
        x, y, anchor, escaped(what));
  }

  void axes() {
    for (const double mark : x_.marks()) {
      line(x_.at(mark), y_.first, x_.at(mark), y_.last, "#dddddd");
      text(x_.at(mark), y_.first + 18, "middle", fmt::format("{:g}", mark));
    }
    for (const double mark : y_.marks()) {
      line(x_.first, y_.at(mark), x_.last, y_.at(mark), "#dddddd");
      text(x_.first - 6, y_.at(mark) + 4, "end", fmt::format("{:g}", mark / kGiga));
    }
    text((x_.first + x_.last) / 2, kHeight - 12, "middle", "flops per byte");
    text(10, kTop - 10, "start", "GFLOP/s");
  }

  /// The line of `bytes` per second, as far as it is within the picture.
  void roof(double bytes, const std::string& name) {
    const double from = std::max(x_.low, y_.low / bytes);
    const double to = std::min(x_.high, y_.high / bytes);
    if (!(from < to)) return;
    line(x_.at(from), y_.at(from * bytes), x_.at(to), y_.at(to * bytes), "#000000");
    text(x_.at(to) - 4, y_.at(to * bytes) + 14, "end", name);
  }

  void line(double x1, double y1, double x2, double y2, const char* colour) {
    add(R"(<line x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}" stroke="{}"/>)"
        "\n",
        x1, y1, x2, y2, colour);
  }

  void ring(double intensity, double rate, const char* colour, const std::string& what) {
    dot(intensity, rate, fmt::format(R"(fill="none" stroke="{}")", colour), what);
  }
  void disc(double intensity, double rate, const char* colour, const std::string& what) {
    dot(intensity, rate, fmt::format(R"(fill="{}")", colour), what);
  }

  void join(const RooflinePoint& a, const RooflinePoint& b, const char* colour) {
    line(x_.at(a.intensity), y_.at(a.predicted), x_.at(b.intensity), y_.at(b.predicted), colour);
  }

  std::string take() { return fmt::to_string(text_) + "</svg>\n"; }

 private:
  void dot(double intensity, double rate, const std::string& style, const std::string& what) {
    add(R"(<circle cx="{:.1f}" cy="{:.1f}" r="4" {}><title>{}</title></circle>)"
        "\n",
        x_.at(intensity), y_.at(rate), style, escaped(what));
  }

  Axis x_;
  Axis y_;
  fmt::memory_buffer text_;
};

void draw_kernel(Drawing& drawing, const std::vector<RooflinePoint>& points,
                 const std::string& kernel, const char* colour) {
  const RooflinePoint* before = nullptr;
  for (const RooflinePoint& point : points) {
    if (point.kernel != kernel) continue;
    if (before != nullptr) drawing.join(*before, point, colour);
    before = &point;
    drawing.ring(point.intensity, point.predicted, colour,
                 fmt::format("{}, N = {}: predicted {:.0f} GFLOP/s", kernel, point.N,
                             point.predicted / kGiga));
    if (point.measured > 0) {
      drawing.disc(point.intensity, point.measured, colour,
                   fmt::format("{}, N = {}: measured {:.0f} GFLOP/s", kernel, point.N,
                               point.measured / kGiga));
    }
  }
}

}  // namespace

RooflinePoint roofline_point(const MatrixFeatures& A, Index N, std::size_t scalar_bytes,
                             const KernelPrediction& prediction, double measured) {
  const double width = static_cast<double>(N);
  const double flops = 2 * static_cast<double>(A.nnz) * width;
  const double blocks =
      static_cast<double>(A.rows + A.cols) * width * static_cast<double>(scalar_bytes);
  return {std::string(prediction.kernel), N, flops / (prediction.storage_bytes + blocks),
          flops / prediction.seconds, measured};
}

std::string roofline_svg(const std::string& title, const std::vector<RooflinePoint>& points,
                         const DeviceSpeed& device) {
  std::vector<double> intensities;
  std::vector<double> rates;
  std::vector<std::string> kernels;
  for (const RooflinePoint& point : points) {
    intensities.push_back(point.intensity);
    rates.insert(rates.end(), {point.predicted, point.measured});
    if (std::find(kernels.begin(), kernels.end(), point.kernel) == kernels.end()) {
      kernels.push_back(point.kernel);
    }
  }
  const Axis x = axis_around(intensities, kLeft, kWidth - kRight);
  if (!intensities.empty()) rates.push_back(x.high * device.memory_bytes);
  Drawing drawing(x, axis_around(rates, kHeight - kBottom, kTop));
  drawing.text(kLeft, 22, "start", title);
  drawing.axes();
  drawing.roof(device.memory_bytes, fmt::format("memory, {:.2f} TB/s", device.memory_bytes / 1e12));
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    const char* const colour = kColours[k % kColours.size()];
    draw_kernel(drawing, points, kernels[k], colour);
    const double y = kTop + 20 * static_cast<double>(k + 1);
    drawing.add(R"(<circle cx="{:.1f}" cy="{:.1f}" r="4" fill="{}"/>)"
                "\n",
                kWidth - kRight + 20, y - 4, colour);
    drawing.text(kWidth - kRight + 32, y, "start", kernels[k]);
  }
  return drawing.take();
}

}  // namespace heddle::lab
