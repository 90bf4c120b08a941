// Database files whose pages carry checksums: a page that is not what was written is never served.
//
// The last 8 bytes of each page, which the file's header reserves, hold the FNV-1a of the other
// bytes and the page's number (from 1), little-endian. They are written with the page into the
// database file and compared whenever it is read from there; the write-ahead log has checksums of
// its own (wal_check.h). A file whose header reserves none is read and written as it is.
// SQLite's own tools read such a file. What they write has no right checksum.
// Source of the method: sqlite.org/cksumvfs.html.
#pragma once

#include <cstdint>
#include <optional>

struct sqlite3;

namespace sqlite {

// The name of the VFS, over the system's files. Registered with the first call; any thread.
const char* checksum_vfs();

// The pages of a new database will carry checksums. Call before the first statement.
void reserve_checksums(sqlite3* database);

// True when the pages of the file carry them. Known once the file was read.
bool has_checksums(sqlite3* database);

// The file will become a copy of `source`, page by page, with checksums if that one has them.
void follow_checksums(sqlite3* database, sqlite3* source);

// The first page that was read and had not its checksum, since the file was opened.
std::optional<int64_t> damaged_page(sqlite3* database);

}  // namespace sqlite
