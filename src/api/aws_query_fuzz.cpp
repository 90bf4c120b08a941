// Any form body as a request of any operation of the query protocols. The order of its parameters
// means nothing, unless one is given twice; and what was read prints as XML whose elements close.
// The first byte chooses the operation.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/any.h"
#include "api/query.h"
#include "api/service.h"
#include "base/result.h"

namespace {

struct Chosen {
  const api::Service* service = nullptr;
  const api::Operation* operation = nullptr;
};

Chosen choose(uint8_t number) {
  std::vector<Chosen> all;
  for (const api::Service* const service :
       {&api::sts_service(), &api::autoscaling_service(), &api::ec2_service()}) {
    for (const api::Operation& operation : service->operations) {
      all.push_back({service, &operation});
    }
  }
  return all[number % all.size()];
}

bool has_unique_names(const api::QueryRequest& request) {
  std::set<std::string_view> names;
  return std::ranges::all_of(request.parameters,
                             [&](const auto& one) { return names.insert(one.first).second; });
}

// Every element is closed in its turn; texts hold no "<".
void check_elements(std::string_view xml) {
  std::vector<std::string_view> open;
  while (true) {
    const size_t start = xml.find('<');
    if (start == std::string_view::npos) break;
    const size_t end = xml.find('>', start);
    CHECK(end != std::string_view::npos);
    std::string_view tag = xml.substr(start + 1, end - start - 1);
    xml.remove_prefix(end + 1);
    if (tag.starts_with('/')) {
      CHECK(!open.empty() && open.back() == tag.substr(1));
      open.pop_back();
    } else {
      open.push_back(tag.substr(0, tag.find(' ')));
    }
  }
  CHECK(open.empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  const Chosen chosen = choose(data[0]);
  const api::Shape& shape = *chosen.operation->input;
  auto request =
      api::parse_query(std::string_view(reinterpret_cast<const char*>(data) + 1, size - 1));
  if (!request) return 0;
  api::Any value = api::Any::create(shape);
  const auto read = api::parse_into(*request, shape, value.data(), {}, chosen.service->protocol);
  std::ranges::reverse(request->parameters);
  api::Any reversed = api::Any::create(shape);
  const auto read_reversed =
      api::parse_into(*request, shape, reversed.data(), {}, chosen.service->protocol);
  if (!has_unique_names(*request)) return 0;
  CHECK(read.has_value() == read_reversed.has_value());
  if (!read) {
    CHECK(read.error() == read_reversed.error());
    return 0;
  }
  const auto print = [&](const api::Any& what) {
    return api::print_query_response(*chosen.service, chosen.operation->name, shape, what.data(),
                                     "id");
  };
  CHECK(print(value) == print(reversed));
  check_elements(print(value));
  return 0;
}
