#include "cli/names.h"

#include <algorithm>

#include "base/format.h"

namespace cli {
namespace {

base::Result<size_t> only_one(const std::vector<Named>& things, const std::vector<size_t>& meant,
                              std::string_view name, std::string_view what) {
  if (meant.size() == 1) return meant.front();
  std::vector<std::string> ids;
  for (const size_t i : meant) ids.push_back(things[i].id);
  return base::fail("Ambiguous", base::format("{} {} can be each of these: {}. Give more of its id",
                                              what, name, base::join(ids, ", ")));
}

}  // namespace

base::Result<size_t> pick(const std::vector<Named>& things, std::string_view name,
                          std::string_view what, std::string_view command) {
  std::vector<size_t> whole;
  std::vector<size_t> beginning;
  for (size_t i = 0; i < things.size() && !name.empty(); ++i) {
    const Named& one = things[i];
    if (one.id == name || std::ranges::find(one.other_names, name) != one.other_names.end()) {
      whole.push_back(i);
    } else if (one.id.starts_with(name)) {
      beginning.push_back(i);
    }
  }
  if (!whole.empty()) return only_one(things, whole, name, what);
  if (!beginning.empty()) return only_one(things, beginning, name, what);
  return base::fail("NotFound",
                    base::format("there is no {} {}; `{}` lists them", what, name, command));
}

}  // namespace cli
