#include <sqlite3.h>

#include <utility>

#include "base/format.h"
#include "sqlite/database.h"

namespace sqlite {
namespace {

// SQLite takes a null pointer for NULL, and an empty view may have one.
const char* data_of(std::string_view bytes) {
  return bytes.empty() ? "" : bytes.data();
}

// SQLITE_TRANSIENT is an old-style cast of -1 to a function pointer: "copy the bytes".
sqlite3_destructor_type copied() {
  return reinterpret_cast<sqlite3_destructor_type>(-1);
}

}  // namespace

Statement::Statement(Statement&& other) noexcept
    : database_(other.database_),
      handle_(std::exchange(other.handle_, nullptr)),
      bind_status_(other.bind_status_) {}

Statement& Statement::operator=(Statement&& other) noexcept {
  std::swap(database_, other.database_);
  std::swap(handle_, other.handle_);
  std::swap(bind_status_, other.bind_status_);
  return *this;
}

Statement::~Statement() {
  // Its status is the one of the last step, which step() has reported.
  sqlite3_finalize(handle_);
}

Statement& Statement::note(int status) {
  // A wrong index, or a bind while rows are being read, is a mistake in the calling code.
  CHECK(status != SQLITE_RANGE && status != SQLITE_MISUSE);
  if (status != SQLITE_OK) bind_status_ = status;
  return *this;
}

Statement& Statement::bind_int64(int index, int64_t value) {
  return note(sqlite3_bind_int64(handle_, index, value));
}

Statement& Statement::bind_double(int index, double value) {
  return note(sqlite3_bind_double(handle_, index, value));
}

Statement& Statement::bind_text(int index, std::string_view text) {
  return note(
      sqlite3_bind_text64(handle_, index, data_of(text), text.size(), copied(), SQLITE_UTF8));
}

Statement& Statement::bind_blob(int index, std::string_view bytes) {
  return note(sqlite3_bind_blob64(handle_, index, data_of(bytes), bytes.size(), copied()));
}

Statement& Statement::bind_null(int index) {
  return note(sqlite3_bind_null(handle_, index));
}

base::Result<bool> Statement::step() {
  if (bind_status_ != SQLITE_OK) {
    const int status = bind_status_;
    reset();
    return base::fail(status == SQLITE_NOMEM ? std::string(out_of_memory) : "TooBig",
                      base::format("SQLite file {}: a value cannot be stored: {}.",
                                   database_->path(), sqlite3_errstr(status)));
  }
  const int status = sqlite3_step(handle_);
  if (status == SQLITE_ROW) return true;
  if (status == SQLITE_DONE) {
    reset();
    return false;
  }
  base::Error failure = database_->error(status);
  reset();
  return base::fail(std::move(failure));
}

base::Result<void> Statement::run() {
  while (TRY(step())) {
  }
  return {};
}

void Statement::reset() {
  // Repeats the status of the last step, which step() has reported.
  sqlite3_reset(handle_);
  sqlite3_clear_bindings(handle_);
  bind_status_ = SQLITE_OK;
}

int64_t Statement::column_int64(int index) const {
  return sqlite3_column_int64(handle_, index);
}

double Statement::column_double(int index) const {
  return sqlite3_column_double(handle_, index);
}

std::string_view Statement::column_text(int index) const {
  const void* data = sqlite3_column_blob(handle_, index);
  const int size = sqlite3_column_bytes(handle_, index);
  return data == nullptr
             ? std::string_view{}
             : std::string_view{static_cast<const char*>(data), static_cast<size_t>(size)};
}

bool Statement::column_is_null(int index) const {
  return sqlite3_column_type(handle_, index) == SQLITE_NULL;
}

}  // namespace sqlite
