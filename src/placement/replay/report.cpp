#include "placement/replay/report.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/format.h"

namespace placement::replay {
namespace {

std::string_view order_name(Order order) {
  return order == Order::Given ? "given" : "seed";
}

std::string number_or_null(const Result& result, int32_t percent) {
  const Point* point = point_at(result, percent);
  return point == nullptr ? "null" : base::format("{:.4f}", point->allocation_percent);
}

std::string figure_or_dash(const Result& result, int32_t percent) {
  const Point* point = point_at(result, percent);
  return point == nullptr ? "-" : base::format("{:.2f} %", point->allocation_percent);
}

// The plot's frame in its own units.
constexpr int width = 760;
constexpr int height = 440;
constexpr int left = 60;
constexpr int right = 740;
constexpr int top = 20;
constexpr int bottom = 390;
constexpr std::array<std::string_view, 4> colours = {"#1f77b4", "#d62728", "#2ca02c", "#9467bd"};

double x_of(double arrived, double most) {
  return left + (right - left) * arrived / most;
}
double y_of(double percent) {
  return bottom - (bottom - top) * percent / 100;
}

std::string polyline(const Result& result, double most, std::string_view colour, bool allocation) {
  std::string points;
  for (const Point& point : result.points) {
    const double y = allocation ? point.allocation_percent : point.fragmentation_percent;
    points += base::format("{:.1f},{:.1f} ", x_of(point.arrived_percent, most), y_of(y));
  }
  if (!points.empty()) points.pop_back();
  return base::format(
      "<polyline fill=\"none\" stroke=\"{}\" stroke-width=\"1.5\"{} points=\"{}\"/>\n", colour,
      allocation ? "" : " stroke-dasharray=\"4 3\"", points);
}

std::string axes(int32_t most) {
  std::string svg;
  for (int percent = 0; percent <= 100; percent += 20) {
    const double y = y_of(percent);
    svg += base::format(
        "<line x1=\"{}\" y1=\"{:.1f}\" x2=\"{}\" y2=\"{:.1f}\" stroke=\"#ddd\"/>\n"
        "<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n",
        left, y, right, y, left - 6, y + 4, percent);
  }
  for (int percent = 0; percent <= most; percent += 10) {
    svg += base::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
                        x_of(percent, most), bottom + 18, percent);
  }
  svg += base::format(
      "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">arrived load, % of all GPUs</text>\n"
      "<text x=\"16\" y=\"{}\" text-anchor=\"middle\" transform=\"rotate(-90 16 {})\">"
      "% of all GPUs: allocated (solid), fragments (dashed)</text>\n",
      (left + right) / 2, bottom + 38, (top + bottom) / 2, (top + bottom) / 2);
  return svg;
}

}  // namespace

std::string print_table(const Result& result) {
  std::string text = base::format(
      "trace         {}\npolicy        {}\norder         {}{}\ninstances     {} with {} GPUs\n"
      "tasks         {} placed of {}\n",
      result.generated ? "GENERATED: a made-up load, no measurement of a real cluster"
                       : "from files",
      to_string(result.policy), order_name(result.order),
      result.order == Order::Seed ? base::format(" {}", result.seed) : "", result.instances,
      result.gpus, result.placed, result.tasks);
  for (const auto& [reason, count] : result.unplaced) {
    text += base::format("  unplaced    {} {}\n", count, reason);
  }
  text += base::format("allocation    {} at 100 % arrived, {} at 130 %",
                       figure_or_dash(result, 100), figure_or_dash(result, 130));
  if (!result.points.empty() && result.points.back().arrived_percent < 100) {
    text +=
        base::format("; {:.2f} % at the end, {} % arrived", result.points.back().allocation_percent,
                     result.points.back().arrived_percent);
  }
  text += '\n';
  if (result.decisions_per_second > 0) {
    text += base::format("decisions     {:.0f} a second, p50 {:.1f} us, p99 {:.1f} us\n",
                         result.decisions_per_second, result.p50_us, result.p99_us);
  }
  text += "\narrived %   allocated %   fragments %\n";
  for (const Point& point : result.points) {
    if (point.arrived_percent % 10 != 0) continue;
    text += base::format("{:9}   {:11.2f}   {:11.2f}\n", point.arrived_percent,
                         point.allocation_percent, point.fragmentation_percent);
  }
  return text;
}

std::string print_csv(const std::vector<Result>& results) {
  std::string csv = "policy,arrived_percent,allocation_percent,fragmentation_percent\n";
  for (const Result& result : results) {
    for (const Point& point : result.points) {
      csv += base::format("{},{},{:.4f},{:.4f}\n", to_string(result.policy), point.arrived_percent,
                          point.allocation_percent, point.fragmentation_percent);
    }
  }
  return csv;
}

std::string print_json(const Result& result) {
  std::string unplaced;
  for (const auto& [reason, count] : result.unplaced) {
    if (!unplaced.empty()) unplaced += ",";
    unplaced += base::format("\"{}\":{}", reason, count);
  }
  std::string points;
  for (const Point& point : result.points) {
    if (!points.empty()) points += ",";
    points += base::format(
        "{{\"arrived_percent\":{},\"allocation_percent\":{:.4f},\"fragmentation_percent\":{:.4f}}}",
        point.arrived_percent, point.allocation_percent, point.fragmentation_percent);
  }
  return base::format(
      "{{\"generated\":{},\"policy\":\"{}\",\"order\":\"{}\",\"seed\":{},\"instances\":{},\"gpus\":"
      "{},\"tasks\":{},"
      "\"placed\":{},\"unplaced\":{{{}}},\"allocation_at_100\":{},\"allocation_at_130\":{},"
      "\"decisions_per_second\":{:.0f},\"p50_us\":{:.2f},\"p99_us\":{:.2f},\"points\":[{}]}}",
      result.generated, to_string(result.policy), order_name(result.order), result.seed,
      result.instances, result.gpus, result.tasks, result.placed, unplaced,
      number_or_null(result, 100), number_or_null(result, 130), result.decisions_per_second,
      result.p50_us, result.p99_us, points);
}

std::string print_svg(const std::vector<Result>& results) {
  int32_t most = 100;
  for (const Result& result : results) {
    for (const Point& point : result.points) most = std::max(most, point.arrived_percent);
  }
  most = (most + 9) / 10 * 10;
  std::string svg = base::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" font-family=\"sans-serif\" "
      "font-size=\"12\">\n<rect width=\"{}\" height=\"{}\" fill=\"white\"/>\n",
      width, height, width, height);
  svg += axes(most);
  if (std::ranges::any_of(results, &Result::generated)) {
    svg += base::format(
        "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">generated load, no measurement of a real "
        "cluster</text>\n",
        right - 6, bottom - 8);
  }
  for (size_t i = 0; i < results.size(); ++i) {
    const std::string_view colour = colours[i % colours.size()];
    svg += polyline(results[i], most, colour, true);
    svg += polyline(results[i], most, colour, false);
    svg += base::format("<text x=\"{}\" y=\"{}\" fill=\"{}\">{}: {} at 100 %</text>\n", left + 12,
                        top + 16 + 16 * static_cast<int>(i), colour, to_string(results[i].policy),
                        figure_or_dash(results[i], 100));
  }
  return svg + "</svg>\n";
}

}  // namespace placement::replay
