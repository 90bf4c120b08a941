#include "placement/pack/scarcity.h"

#include <algorithm>
#include <cmath>

namespace placement::pack {
namespace {

constexpr int rounds = 60;
constexpr double least_fill = 1e-6;

}  // namespace

std::vector<double> scarcity(const std::vector<Flow>& flows, const std::vector<double>& free) {
  std::vector<double> room;
  double all_room = 0;
  double all_flow = 0;
  for (const double each : free) {
    room.push_back(each + 1);  // A full class is not infinitely scarce.
    all_room += each + 1;
  }
  for (const Flow& flow : flows) all_flow += flow.weight;
  if (all_flow <= 0) return std::vector<double>(free.size(), 0.0);

  std::vector<std::vector<double>> parts;
  for (const Flow& flow : flows) {
    double sum = 0;
    for (const size_t c : flow.where) sum += room[c];
    std::vector<double>& part = parts.emplace_back();
    for (const size_t c : flow.where) part.push_back(room[c] / sum);
  }
  std::vector<double> fill(free.size());
  for (int round = 0; round < rounds; ++round) {
    std::ranges::fill(fill, 0.0);
    for (size_t f = 0; f < flows.size(); ++f) {
      for (size_t i = 0; i < parts[f].size(); ++i) {
        const size_t c = flows[f].where[i];
        fill[c] += flows[f].weight * parts[f][i] * all_room / (room[c] * all_flow);
      }
    }
    // Away from the classes that fill up fast.
    for (size_t f = 0; f < flows.size(); ++f) {
      double sum = 0;
      for (size_t i = 0; i < parts[f].size(); ++i) {
        parts[f][i] /= std::sqrt(std::max(fill[flows[f].where[i]], least_fill));
        sum += parts[f][i];
      }
      for (double& part : parts[f]) part /= sum;
    }
  }
  for (double& each : fill) each = std::min(each - 1, most_price);
  return fill;
}

}  // namespace placement::pack
