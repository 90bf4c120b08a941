#include "cli/version.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "base/format.h"
#include "cli/command.h"
#include "json/value.h"

namespace cli {

void add_version(CLI::App& app, Action& action) {
  CLI::App* const command = app.add_subcommand("version", "Print the version.");
  const auto as_json = std::make_shared<bool>(false);  // Shared by the option and the action.
  command->add_flag("--json", *as_json, "As JSON.");
  command->callback([&action, as_json] {
    action = [as_json]() -> base::Result<int> {
      if (*as_json) {
        const json::Value value = json::Value::object({{"version", version}});
        std::puts(json::print(value).c_str());
      } else {
        std::puts(base::format("berth {}", version).c_str());
      }
      return 0;
    };
  });
}

}  // namespace cli
