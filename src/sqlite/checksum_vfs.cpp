#include "sqlite/checksum_vfs.h"

#include <array>
#include <cstring>
#include <string_view>

#include "base/hash.h"
#include "base/result.h"
#include "sqlite/vfs_layer.h"

namespace sqlite {
namespace {

constexpr int checksum_bytes = 8;
constexpr int header_bytes = 100;
constexpr int reserved_at = 20;  // In the header: bytes that each page leaves at its end.
constexpr int smallest_page = 512;
constexpr int largest_page = 65'536;
constexpr std::string_view magic{"SQLite format 3\0", 16};

// Operations of xFileControl; SQLite's own are below 100.
constexpr int set_checked = 1001;
constexpr int get_damaged = 1002;

struct ChecksumFile {
  LayerFile layer;
  bool checked;
  sqlite3_int64 damaged;  // A page's number; 0: none.
};

ChecksumFile* checksum_file(sqlite3_file* file) {
  return reinterpret_cast<ChecksumFile*>(file);
}

using Checksum = std::array<unsigned char, checksum_bytes>;

Checksum checksum_of(const unsigned char* page, int bytes, sqlite3_int64 offset) {
  uint64_t hash = base::fnv_start;
  for (auto number = static_cast<uint64_t>(offset / bytes + 1); number != 0; number >>= 8) {
    hash = base::fnv1a(static_cast<uint8_t>(number), hash);
  }
  for (int i = 0; i < bytes - checksum_bytes; ++i) hash = base::fnv1a(page[i], hash);
  Checksum checksum{};
  for (unsigned char& byte : checksum) {
    byte = static_cast<unsigned char>(hash);
    hash >>= 8;
  }
  return checksum;
}

bool is_zero(const unsigned char* page, int bytes) {
  for (int i = 0; i < bytes; ++i) {
    if (page[i] != 0) return false;
  }
  return true;
}

// A page that has never been written is a hole in the file.
bool is_whole(const unsigned char* page, int bytes, sqlite3_int64 offset) {
  const Checksum wanted = checksum_of(page, bytes, offset);
  const unsigned char* const found = page + bytes - checksum_bytes;
  return std::memcmp(found, wanted.data(), wanted.size()) == 0 ||
         (found[0] == 0 && is_zero(page, bytes));
}

bool is_page(int count, sqlite3_int64 offset) {
  return count >= smallest_page && count <= largest_page && (count & (count - 1)) == 0 &&
         offset % count == 0;
}

int read_checked(sqlite3_file* file, void* to, int count, sqlite3_int64 offset) {
  const int status = passing_methods.xRead(file, to, count, offset);
  ChecksumFile* const self = checksum_file(file);
  if (status != SQLITE_OK || !self->checked || !is_page(count, offset)) return status;
  if (is_whole(static_cast<const unsigned char*>(to), count, offset)) return SQLITE_OK;
  if (self->damaged == 0) self->damaged = offset / count + 1;
  return SQLITE_IOERR_DATA;
}

int write_checked(sqlite3_file* file, const void* from, int count, sqlite3_int64 offset) {
  if (!checksum_file(file)->checked || !is_page(count, offset)) {
    return passing_methods.xWrite(file, from, count, offset);
  }
  std::array<unsigned char, largest_page> page;
  std::memcpy(page.data(), from, static_cast<size_t>(count));
  const Checksum checksum = checksum_of(page.data(), count, offset);
  std::memcpy(page.data() + count - checksum_bytes, checksum.data(), checksum.size());
  return passing_methods.xWrite(file, page.data(), count, offset);
}

int control_checked(sqlite3_file* file, int operation, void* argument) {
  if (operation == set_checked) {
    checksum_file(file)->checked = *static_cast<const bool*>(argument);
    return SQLITE_OK;
  }
  if (operation == get_damaged) {
    *static_cast<sqlite3_int64*>(argument) = checksum_file(file)->damaged;
    return SQLITE_OK;
  }
  return passing_methods.xFileControl(file, operation, argument);
}

const sqlite3_io_methods checked_methods = [] {
  sqlite3_io_methods methods = passing_methods;
  methods.xRead = read_checked;
  methods.xWrite = write_checked;
  methods.xFileControl = control_checked;
  return methods;
}();

// Whether the pages of `file` carry checksums. All pages of a new file will. One whose header was
// damaged just there is known by the checksum of its first page.
bool find_checked(sqlite3_file* file) {
  sqlite3_int64 size = 0;
  if (passing_methods.xFileSize(file, &size) != SQLITE_OK) return false;
  if (size == 0) return true;
  std::array<unsigned char, largest_page> page;
  if (size < smallest_page ||
      passing_methods.xRead(file, page.data(), header_bytes, 0) != SQLITE_OK ||
      std::memcmp(page.data(), magic.data(), magic.size()) != 0) {
    return false;
  }
  if (page[reserved_at] == checksum_bytes) return true;
  const int kept = page[16] << 8 | page[17];
  const int bytes = kept == 1 ? largest_page : kept;
  if (!is_page(bytes, 0) || passing_methods.xRead(file, page.data(), bytes, 0) != SQLITE_OK) {
    return false;
  }
  page[reserved_at] = checksum_bytes;
  return is_whole(page.data(), bytes, 0);
}

int open_checked(sqlite3_vfs* vfs, const char* path, sqlite3_file* file, int flags,
                 int* out_flags) {
  auto* const system = static_cast<sqlite3_vfs*>(vfs->pAppData);
  const int status = open_below(*system, path, file, sizeof(ChecksumFile), flags, out_flags);
  if (status != SQLITE_OK) return status;
  ChecksumFile* const self = checksum_file(file);
  self->damaged = 0;
  self->checked = (flags & SQLITE_OPEN_MAIN_DB) != 0 && find_checked(file);
  self->layer.base.pMethods = &checked_methods;
  return SQLITE_OK;
}

int reserved_bytes(sqlite3* database) {
  int bytes = -1;  // Only asks.
  sqlite3_file_control(database, "main", SQLITE_FCNTL_RESERVE_BYTES, &bytes);
  return bytes;
}

}  // namespace

const char* checksum_vfs() {
  static constexpr const char* name = "berth";
  static sqlite3_vfs vfs = [] {
    sqlite3_vfs* const system = sqlite3_vfs_find(nullptr);
    CHECK(system != nullptr);
    sqlite3_vfs layer = make_layer(*system, name, sizeof(ChecksumFile), system);
    layer.xOpen = open_checked;
    return layer;
  }();
  static const bool registered = sqlite3_vfs_register(&vfs, 0) == SQLITE_OK;
  CHECK(registered);
  return name;
}

void reserve_checksums(sqlite3* database) {
  int bytes = checksum_bytes;
  sqlite3_file_control(database, "main", SQLITE_FCNTL_RESERVE_BYTES, &bytes);
}

bool has_checksums(sqlite3* database) {
  return reserved_bytes(database) == checksum_bytes;
}

void follow_checksums(sqlite3* database, sqlite3* source) {
  bool checked = has_checksums(source);
  sqlite3_file_control(database, "main", set_checked, &checked);
}

std::optional<int64_t> damaged_page(sqlite3* database) {
  sqlite3_int64 page = 0;
  const int status = sqlite3_file_control(database, "main", get_damaged, &page);
  if (status != SQLITE_OK || page == 0) return std::nullopt;
  return page;
}

}  // namespace sqlite
