// Whether a write-ahead log still has all that was committed to it.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace sqlite {

// SQLite takes the log's frames up to the first one that has not its checksum, and drops the rest
// without a word: right for a commit that a power cut has torn, which nobody was told of; a loss
// where later commits follow, since each was synced before the next was written. Those are found
// here, by the checksum that each frame hands to the next.
// Not found: damage to the last commit alone, which looks like a torn one (commit_count.h).
//
// Nobody else may have the database open. A log that is absent or empty is whole. Reads the file
// once, in parts. Errors: "Corrupt" naming the frame and how many commits would be dropped;
// "IoError". Source: sqlite.org/fileformat2.html#the_write_ahead_log.
base::Result<void> check_wal(const std::string& path);

}  // namespace sqlite
