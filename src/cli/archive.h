// A backup: everything that a server keeps in its data directory, in one file.
//
// The file is a SQLite database, so that its own tools read it, too: `file` (name, size, sha256),
// `part` (file, number, bytes: the contents in pieces of 1 MiB) and `meta` (format, version,
// created_at, directory). It holds the access keys and the keys that secrets are sealed with: who
// can read it can do everything. Agents' journals are not in it; an agent knows from Docker what
// runs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace cli {

struct ArchivedFile {
  std::string name;  // "state.db".
  uint64_t bytes = 0;
};

struct Archive {
  std::string created_at;  // RFC 3339.
  std::string directory;   // That it was made of.
  std::vector<ArchivedFile> files;
};

// In a data directory while a restore moves files into it.
inline constexpr const char* unfinished_restore = "restore-unfinished";

// Hears what is being done, a sentence without a full stop, and how far it is, in percent.
using ArchiveProgress = std::function<void(const std::string& what, uint64_t percent)>;

// Makes `file` of the data directory `dir`, whose server may run; each database is copied as it
// stands at one moment, the cluster's state before the logs. Errors: "NotFound" for a directory
// without a server's data; "AlreadyExists"; "Corrupt" for a damaged database; "IoError",
// "DiskFull". Nothing is left behind on failure.
base::Result<Archive> make_archive(const std::filesystem::path& file,
                                   const std::filesystem::path& dir, base::Time now,
                                   const ArchiveProgress& progress);

struct Restored {
  Archive archive;
  std::filesystem::path replaced;  // Where what was there before lies now; empty: nothing was.
};

// Puts the contents of `file` in place of the data of `dir`, whose server must not run. All of it
// is read, checked and written to the disk before anything is touched. Errors: "Busy" naming the
// process that runs there; "Corrupt"; "UnsupportedFormat"; "NotFound"; "IoError", "DiskFull".
base::Result<Restored> restore_archive(const std::filesystem::path& file,
                                       const std::filesystem::path& dir, base::Time now,
                                       const ArchiveProgress& progress);

}  // namespace cli
