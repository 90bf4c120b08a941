// A VFS of this house over another one: its files pass on whatever they do not do themselves.
// Source: sqlite.org/vfs.html, "VFS Shims".
#pragma once

#include <sqlite3.h>

namespace sqlite {

// What a file of a layer begins with. SQLite allocates its bytes; those of the file below follow
// those of the whole.
struct LayerFile {
  sqlite3_file base;
  sqlite3_file* below;
};

inline sqlite3_file* below(sqlite3_file* file) {
  return reinterpret_cast<LayerFile*>(file)->below;
}

// Version 2: with shared memory for the write-ahead log, without memory-mapped reading.
extern const sqlite3_io_methods passing_methods;

// A VFS named `name` over `system`; `file_bytes` is the size of the layer's own file.
// `data` is found in pAppData. The caller sets xOpen, and registers it.
sqlite3_vfs make_layer(sqlite3_vfs& system, const char* name, int file_bytes, void* data);

// Opens the file below `file`, whose own part has `file_bytes`. The caller sets its methods when
// the status is SQLITE_OK.
int open_below(sqlite3_vfs& system, const char* path, sqlite3_file* file, int file_bytes, int flags,
               int* out_flags);

}  // namespace sqlite
