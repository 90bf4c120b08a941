#include "cli/data_check.h"

#include <system_error>

#include "base/format.h"
#include "base/log.h"
#include "cli/archive.h"
#include "cli/installation.h"

namespace cli {

base::Result<void> check_complete(const std::filesystem::path& dir) {
  const auto is_there = [&dir](const char* name) {
    std::error_code ignored;
    return std::filesystem::exists(dir / name, ignored);
  };
  if (is_there(unfinished_restore)) {
    return base::fail(
        "Corrupt", base::format("A restore into {} was cut off before its end: run it once more.",
                                dir.string()));
  }
  if (!is_there("credentials.json")) return {};  // A new directory.
  if (!is_there("state.db")) {
    return base::fail(
        "Corrupt",
        base::format("{} is gone, and {} shows that a server has run here: nothing is begun anew "
                     "in its place. To begin with nothing, choose another directory.",
                     (dir / "state.db").string(), credentials_path(dir).string()));
  }
  if (is_there("secrets.db") && !is_there("secrets.key")) {
    return base::fail("Corrupt",
                      base::format("{} is gone, and what {} holds opens with no other key.",
                                   (dir / "secrets.key").string(), (dir / "secrets.db").string()));
  }
  if (!is_there("logs.db")) {
    base::log_warning("{} is not there and is begun anew: all earlier log events are gone",
                      (dir / "logs.db").string());
  }
  if (!is_there("master.key")) {
    base::log_warning(
        "{} is not there and is made anew: agents that joined with a token join again",
        (dir / "master.key").string());
  }
  return {};
}

}  // namespace cli
