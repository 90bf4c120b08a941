#include "cli/archive.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <system_error>

#include "base/format.h"
#include "cli/installation.h"
#include "cli/version.h"
#include "crypto/crypto.h"
#include "sqlite/database.h"
#include "sqlite/upgrade.h"
#include "store/sqlite/layout.h"
#include "store/sqlite/owner_lock.h"

namespace cli {
namespace {

namespace fs = std::filesystem;

constexpr int64_t application_id =
    0x42657262;  // "Berb" in the header's field for the kind of file.
constexpr size_t part_bytes = size_t{1} << 20;
constexpr const char* state_file = "state.db";
constexpr const char* unpacking = "restore-unpacking";  // May be thrown away at any time.

std::unexpected<base::Error> archive_error(const char* action, const fs::path& path, int cause) {
  const bool full = cause == ENOSPC || cause == EDQUOT;
  return base::fail(std::string(full ? sqlite::disk_full : sqlite::io_error),
                    base::format("Cannot {} {}: {}.", action, path.string(), std::strerror(cause)));
}

std::unexpected<base::Error> damaged(const fs::path& file, const std::string& what) {
  return base::fail(std::string(sqlite::corrupt),
                    base::format("The backup {} is damaged: {}. Nothing was changed; take another "
                                 "backup.",
                                 file.string(), what));
}

bool is_database(const std::string& name) {
  return name.ends_with(".db");
}

// What of the data directory's files belongs into a backup: databases, keys, certificates,
// credentials.
bool belongs(const std::string& name) {
  return is_database(name) || name.ends_with(".key") || name.ends_with(".pem") ||
         name == "credentials.json";
}

base::Result<std::vector<std::string>> names_in(const fs::path& dir) {
  std::error_code error;
  std::vector<std::string> names;
  fs::directory_iterator entries(dir, error);
  while (!error && entries != fs::directory_iterator()) {
    const std::string name = entries->path().filename().string();
    if (belongs(name) && entries->is_regular_file(error)) names.push_back(name);
    if (!error) entries.increment(error);
  }
  if (error) return archive_error("read the directory", dir, error.value());
  // The state first: what the logs know beyond it harms nothing.
  std::ranges::sort(names, {},
                    [](const std::string& name) { return std::pair(name != state_file, name); });
  return names;
}

base::Result<void> sync(const fs::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return archive_error("open", path, errno);
  const int cause = ::fsync(file) == 0 ? 0 : errno;
  ::close(file);
  if (cause != 0) return archive_error("sync", path, cause);
  return {};
}

base::Result<void> move(const fs::path& from, const fs::path& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) return archive_error("move", from, errno);
  return {};
}

base::Result<void> make_tables(sqlite::Database& database) {
  return database.execute(
      base::format("PRAGMA application_id={};", application_id) +
      "CREATE TABLE meta(name TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID;"
      "CREATE TABLE file(name TEXT PRIMARY KEY NOT NULL, size INTEGER NOT NULL, sha256 TEXT NOT "
      "NULL);"
      "CREATE TABLE part(file TEXT NOT NULL, number INTEGER NOT NULL, bytes BLOB NOT NULL, "
      "PRIMARY KEY(file, number));");
}
constexpr sqlite::UpgradeStep steps_to_present[] = {{0, make_tables}};

// Writes one file's contents as parts.
base::Result<ArchivedFile> pack(sqlite::Database& archive, const fs::path& path,
                                const std::string& name) {
  std::ifstream input(path, std::ios::binary);
  if (!input) return archive_error("read", path, errno);
  auto part = TRY(archive.prepare("INSERT INTO part VALUES(?, ?, ?)"));
  crypto::Sha256 sha256;
  ArchivedFile packed{name, 0};
  std::string bytes(part_bytes, '\0');
  for (int64_t number = 0; input; ++number) {
    input.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    const std::string_view got(bytes.data(), static_cast<size_t>(input.gcount()));
    if (input.bad()) return archive_error("read", path, errno);
    if (got.empty()) break;
    sha256.update(got);
    packed.bytes += got.size();
    TRY_VOID(part.bind_text(1, name).bind_int64(2, number).bind_blob(3, got).run());
  }
  auto file = TRY(archive.prepare("INSERT INTO file VALUES(?, ?, ?)"));
  file.bind_text(1, name).bind_int64(2, static_cast<int64_t>(packed.bytes));
  TRY_VOID(file.bind_text(3, crypto::to_hex(sha256.finish())).run());
  return packed;
}

// A consistent copy of a database that somebody may be writing to, and whose pages are whole.
base::Result<void> copy_database(const fs::path& from, const fs::path& to,
                                 const ArchiveProgress& progress) {
  const auto source = TRY(
      sqlite::Database::open(from.string(), {.wal = false, .access = sqlite::Access::ReadOnly}));
  const std::string what = "copying " + from.filename().string();
  TRY_VOID(source->backup_to(to.string(), [&](uint64_t done, uint64_t pages) {
    progress(what, pages == 0 ? 100 : done * 100 / pages);
  }));
  // Out of the mode with a log beside it, so that the copy is one file whatever the original was.
  const auto copy =
      TRY(sqlite::Database::open(to.string(), {.wal = false, .access = sqlite::Access::Existing}));
  auto whole = copy->quick_check();
  if (whole) return {};
  return base::fail(std::string(sqlite::corrupt),
                    base::format("{} is damaged, and a backup of it would be, too: {}",
                                 from.string(), whole.error().message));
}

base::Result<void> pack_all(sqlite::Database& archive, const fs::path& scratch, const fs::path& dir,
                            const ArchiveProgress& progress, Archive& made) {
  for (const std::string& name : TRY(names_in(dir))) {
    fs::path from = dir / name;
    if (is_database(name)) {
      TRY_VOID(copy_database(dir / name, scratch, progress));
      from = scratch;
    }
    auto transaction = TRY(sqlite::Transaction::begin(archive));
    made.files.push_back(TRY(pack(archive, from, name)));
    TRY_VOID(transaction.commit());
    std::error_code ignored;  // The next copy replaces it, and the caller removes the last.
    fs::remove(scratch, ignored);
  }
  return {};
}

base::Result<void> write_meta(sqlite::Database& archive, const Archive& made) {
  auto insert = TRY(archive.prepare("INSERT INTO meta VALUES(?, ?)"));
  const std::array<std::pair<std::string_view, std::string_view>, 3> rows{
      {{"created_at", made.created_at}, {"directory", made.directory}, {"version", version}}};
  for (const auto& [name, value] : rows) {
    TRY_VOID(insert.bind_text(1, name).bind_text(2, value).run());
  }
  return {};
}

base::Result<std::string> meta_of(sqlite::Database& archive, std::string_view name) {
  auto select = TRY(archive.prepare("SELECT value FROM meta WHERE name = ?"));
  select.bind_text(1, name);
  if (!TRY(select.step())) return std::string();
  return std::string(select.column_text(0));
}

base::Result<std::unique_ptr<sqlite::Database>> open_archive(const fs::path& file) {
  std::error_code error;
  if (!fs::exists(file, error)) {
    return base::fail("NotFound", base::format("There is no file {}.", file.string()));
  }
  auto archive =
      sqlite::Database::open(file.string(), {.wal = false, .access = sqlite::Access::ReadOnly});
  if (!archive && archive.error().code == sqlite::corrupt) {
    return damaged(file, "it cannot be read, or is no backup at all");
  }
  if (!archive) return base::fail(archive.error());
  if (TRY((*archive)->query_int64("PRAGMA application_id")) != application_id) {
    return base::fail(
        std::string(sqlite::corrupt),
        base::format("{} is not a backup: `berth backup` has not made it.", file.string()));
  }
  const int64_t format = TRY((*archive)->user_version());
  if (format > steps_to_present[0].from + 1) {
    return base::fail("UnsupportedFormat",
                      base::format("The backup {} has format {}, and this version of berth reads "
                                   "formats up to 1: restore it with the version that made it.",
                                   file.string(), format));
  }
  if (const auto whole = (*archive)->quick_check(); !whole) {
    return damaged(file, whole.error().message);
  }
  return std::move(*archive);
}

// Writes one file out of its parts, synced, and compares it with what was packed.
base::Result<void> unpack(sqlite::Database& archive, const fs::path& path, uint64_t size,
                          const std::string& wanted_sha256) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return archive_error("create", path, errno);
  struct Closer {
    int file;
    ~Closer() { ::close(file); }
  } const closer{file};
  auto select = TRY(archive.prepare("SELECT bytes FROM part WHERE file = ? ORDER BY number"));
  select.bind_text(1, path.filename().string());
  crypto::Sha256 sha256;
  uint64_t written = 0;
  while (TRY(select.step())) {
    std::string_view bytes = select.column_text(0);
    sha256.update(bytes);
    written += bytes.size();
    while (!bytes.empty()) {
      const ssize_t count = ::write(file, bytes.data(), bytes.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return archive_error("write", path, errno);
      bytes.remove_prefix(static_cast<size_t>(count));
    }
  }
  if (::fsync(file) != 0) return archive_error("sync", path, errno);
  if (written != size || crypto::to_hex(sha256.finish()) != wanted_sha256) {
    return base::fail(std::string(sqlite::corrupt),
                      base::format("{} in it is not what was backed up", path.filename().string()));
  }
  return {};
}

// The state must be one that this program can start from.
base::Result<void> check_state(const fs::path& state) {
  const auto database =
      TRY(sqlite::Database::open(state.string(), {.access = sqlite::Access::Existing}));
  TRY_VOID(store::prepare_layout(*database, store::upgrades()));
  return database->checkpoint();
}

base::Result<Archive> unpack_all(const fs::path& file, const fs::path& dir,
                                 const ArchiveProgress& progress) {
  const auto archive = TRY(open_archive(file));
  Archive found{.created_at = TRY(meta_of(*archive, "created_at")),
                .directory = TRY(meta_of(*archive, "directory")),
                .files = {}};
  std::map<std::string, std::string> sums;
  auto select = TRY(archive->prepare("SELECT name, size, sha256 FROM file ORDER BY name"));
  while (TRY(select.step())) {
    const std::string name(select.column_text(0));
    if (name.contains('/') || !belongs(name)) return damaged(file, "it names the file " + name);
    found.files.push_back({name, static_cast<uint64_t>(select.column_int64(1))});
    sums.emplace(name, select.column_text(2));
  }
  if (!sums.contains(state_file)) return damaged(file, "it holds no state.db");
  size_t done = 0;
  for (const ArchivedFile& one : found.files) {
    progress("unpacking " + one.name, 100 * done++ / found.files.size());
    const auto unpacked = unpack(*archive, dir / one.name, one.bytes, sums.at(one.name));
    if (!unpacked && unpacked.error().code == sqlite::corrupt) {
      return damaged(file, unpacked.error().message);
    }
    if (!unpacked) return base::fail(unpacked.error());
  }
  const auto usable = check_state(dir / state_file);
  if (!usable) return base::fail(usable.error());
  return found;
}

// The present data, out of the way but not lost. The state first: from then on check_complete()
// stops a server.
base::Result<fs::path> put_aside(const fs::path& dir, base::Time now) {
  std::vector<std::string> names;
  for (const std::string& name : TRY(names_in(dir))) {
    names.push_back(name);
    if (!is_database(name)) continue;
    for (const char* const suffix : {"-wal", "-shm", ".commits"}) {
      std::error_code ignored;
      if (fs::exists(dir / (name + suffix), ignored)) names.push_back(name + suffix);
    }
  }
  if (names.empty()) return fs::path();
  fs::path aside = dir / ("replaced-" + base::format_basic(now));
  for (int i = 2; ::mkdir(aside.c_str(), 0700) != 0; ++i) {
    if (errno != EEXIST) return archive_error("make the directory", aside, errno);
    aside = dir / base::format("replaced-{}-{}", base::format_basic(now), i);
  }
  for (const std::string& name : names) TRY_VOID(move(dir / name, aside / name));
  TRY_VOID(sync(aside));
  return aside;
}

// An empty file.
base::Result<void> mark(const fs::path& path) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return archive_error("create", path, errno);
  ::close(file);
  return sync(path.parent_path());
}

base::Result<void> remove_tree(const fs::path& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (error) return archive_error("remove", path, error.value());
  return {};
}

}  // namespace

base::Result<Archive> make_archive(const fs::path& file, const fs::path& dir, base::Time now,
                                   const ArchiveProgress& progress) {
  std::error_code ignored;
  if (!fs::exists(dir / state_file, ignored)) {
    return base::fail("NotFound", base::format("There is no server's data in {}. Name its "
                                               "directory with --data.",
                                               dir.string()));
  }
  if (fs::exists(file, ignored)) {
    return base::fail("AlreadyExists",
                      base::format("{} is there already: name another file.", file.string()));
  }
  Archive made{.created_at = base::format_rfc3339(now), .directory = dir.string(), .files = {}};
  const fs::path next = file.string() + ".unfinished";
  const fs::path scratch = file.string() + ".database";
  TRY_VOID(remove_tree(next));
  const auto written = [&]() -> base::Result<void> {
    const auto archive = TRY(sqlite::Database::open(next.string(), {.wal = false}));
    TRY_VOID(sqlite::upgrade(*archive, steps_to_present, sqlite::user_version_place));
    TRY_VOID(pack_all(*archive, scratch, dir, progress, made));
    return write_meta(*archive, made);
  }();
  fs::remove(scratch, ignored);
  if (!written) {
    fs::remove(next, ignored);
    return base::fail(written.error());
  }
  TRY_VOID(move(next, file));
  TRY_VOID(sync(fs::absolute(file).parent_path()));
  return made;
}

base::Result<Restored> restore_archive(const fs::path& file, const fs::path& dir, base::Time now,
                                       const ArchiveProgress& progress) {
  TRY_VOID(make_data_dir(dir));
  const auto lock = store::OwnerLock::acquire((dir / state_file).string());
  if (!lock && lock.error().code == "Busy") {
    return base::fail("Busy", base::format("{} A backup is restored into a stopped server.",
                                           lock.error().message));
  }
  if (!lock) return base::fail(lock.error());
  const fs::path fresh = dir / unpacking;
  TRY_VOID(remove_tree(fresh));
  TRY_VOID(make_data_dir(fresh));
  auto archive = unpack_all(file, fresh, progress);
  if (!archive) {
    std::error_code ignored;  // The next restore removes it.
    fs::remove_all(fresh, ignored);
    return base::fail(archive.error());
  }
  TRY_VOID(sync(fresh));
  TRY_VOID(mark(dir / unfinished_restore));
  Restored restored{.archive = std::move(*archive), .replaced = TRY(put_aside(dir, now))};
  for (const ArchivedFile& one : restored.archive.files) {
    TRY_VOID(move(fresh / one.name, dir / one.name));
  }
  TRY_VOID(sync(dir));
  TRY_VOID(remove_tree(fresh));
  TRY_VOID(remove_tree(dir / unfinished_restore));
  TRY_VOID(sync(dir));
  return restored;
}

}  // namespace cli
