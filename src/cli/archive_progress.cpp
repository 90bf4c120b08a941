#include "cli/archive_progress.h"

#include <cstdio>
#include <memory>

#include "base/format.h"

namespace cli {
namespace {

constexpr base::Milliseconds archive_quiet_time{2'000};
constexpr base::Milliseconds interval{1'000};

}  // namespace

ArchiveProgress progress_on_terminal(base::Clock& clock) {
  const base::Milliseconds first = clock.monotonic() + archive_quiet_time;
  return [&clock, next = first](const std::string& what, uint64_t percent) mutable {
    const base::Milliseconds now = clock.monotonic();
    if (now < next) return;
    next = now + interval;
    std::fputs(base::format("{}: {} %\n", what, percent).c_str(), stderr);
  };
}

json::Value describe_archive(const Archive& archive) {
  json::Value files = json::Value::array();
  for (const ArchivedFile& one : archive.files) {
    files.push(
        json::Value::object({{"name", one.name}, {"bytes", static_cast<int64_t>(one.bytes)}}));
  }
  return json::Value::object({{"createdAt", archive.created_at},
                              {"directory", archive.directory},
                              {"files", std::move(files)}});
}

std::string list_files(const Archive& archive) {
  std::string text;
  for (const ArchivedFile& one : archive.files) {
    if (!text.empty()) text += ", ";
    const double mib = static_cast<double>(one.bytes) / (1 << 20);
    text += one.bytes < 1 << 20 ? base::format("{} ({} bytes)", one.name, one.bytes)
                                : base::format("{} ({:.1f} MiB)", one.name, mib);
  }
  return text;
}

}  // namespace cli
