#include "sqlite/faulty_vfs.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "base/result.h"
#include "sqlite/vfs_layer.h"

namespace sqlite {
namespace {

// What a write replaced, to be put back when the power goes before the next sync.
struct Undo {
  sqlite3_int64 offset;
  std::string bytes;
  sqlite3_int64 file_size;
};

}  // namespace

struct FaultyVfs::State {
  std::string name;
  sqlite3_vfs vfs{};
  sqlite3_vfs* system = nullptr;
  std::optional<Fault> fault;
  uint64_t remaining = 0;  // Operations until the fault, itself included.
  bool met = false;
  std::map<std::string, std::vector<Undo>> unsynced;  // By path, oldest first.

  enum class Verdict : uint8_t { Pass, Fail, Tear };
  enum class Operation : uint8_t { Write, Sync };

  Verdict next(Operation operation) {
    if (!fault) return Verdict::Pass;
    if (met) {
      if (*fault == Fault::IoError) return Verdict::Pass;
      if (*fault == Fault::DiskFull && operation == Operation::Sync) return Verdict::Pass;
      return Verdict::Fail;
    }
    if (--remaining > 0) return Verdict::Pass;
    if (*fault == Fault::DiskFull && operation == Operation::Sync) {
      remaining = 1;  // A full disk shows at the next write.
      return Verdict::Pass;
    }
    met = true;
    return *fault == Fault::Crash ? Verdict::Tear : Verdict::Fail;
  }

  int status() const { return *fault == Fault::DiskFull ? SQLITE_FULL : SQLITE_IOERR; }
};

namespace {

using State = FaultyVfs::State;
using Verdict = State::Verdict;
using Operation = State::Operation;

struct File {
  LayerFile layer;
  State* state;
  // SQLite keeps the name for as long as the file is open; null: a temporary one.
  const char* path;

  sqlite3_file* system() const { return layer.below; }
};

File* file_of(sqlite3_file* file) {
  return reinterpret_cast<File*>(file);
}

void remember(File* file, sqlite3_int64 offset, sqlite3_int64 count) {
  if (file->path == nullptr) return;
  sqlite3_file* system = file->system();
  sqlite3_int64 size = 0;
  if (system->pMethods->xFileSize(system, &size) != SQLITE_OK) return;
  const sqlite3_int64 kept = std::clamp<sqlite3_int64>(size - offset, 0, count);
  std::string bytes(static_cast<size_t>(kept), '\0');
  if (kept > 0) system->pMethods->xRead(system, bytes.data(), static_cast<int>(kept), offset);
  file->state->unsynced[file->path].push_back({offset, std::move(bytes), size});
}

int write_file(sqlite3_file* file, const void* from, int count, sqlite3_int64 offset) {
  File* self = file_of(file);
  sqlite3_file* system = self->system();
  const Verdict verdict = self->state->next(Operation::Write);
  if (verdict == Verdict::Fail) return self->state->status();
  remember(self, offset, count);
  if (verdict == Verdict::Pass) return system->pMethods->xWrite(system, from, count, offset);
  system->pMethods->xWrite(system, from, count / 2, offset);
  return self->state->status();
}
int truncate_file(sqlite3_file* file, sqlite3_int64 size) {
  File* self = file_of(file);
  sqlite3_file* system = self->system();
  if (self->state->next(Operation::Write) != Verdict::Pass) return self->state->status();
  sqlite3_int64 before = 0;
  if (system->pMethods->xFileSize(system, &before) == SQLITE_OK && before > size) {
    remember(self, size, before - size);
  }
  return system->pMethods->xTruncate(system, size);
}
int sync_file(sqlite3_file* file, int flags) {
  File* self = file_of(file);
  sqlite3_file* system = self->system();
  if (self->state->next(Operation::Sync) != Verdict::Pass) return self->state->status();
  if (self->path != nullptr) self->state->unsynced.erase(self->path);
  return system->pMethods->xSync(system, flags);
}
int device_characteristics(sqlite3_file*) {
  return 0;
}
const sqlite3_io_methods faulty_methods = [] {
  sqlite3_io_methods methods = passing_methods;
  methods.xWrite = write_file;
  methods.xTruncate = truncate_file;
  methods.xSync = sync_file;
  methods.xDeviceCharacteristics = device_characteristics;
  return methods;
}();

int open_file(sqlite3_vfs* vfs, const char* path, sqlite3_file* file, int flags, int* out_flags) {
  auto* state = static_cast<State*>(vfs->pAppData);
  const int status = open_below(*state->system, path, file, sizeof(File), flags, out_flags);
  if (status != SQLITE_OK) return status;
  File* self = file_of(file);
  self->state = state;
  self->path = path;
  self->layer.base.pMethods = &faulty_methods;
  return status;
}

int delete_file(sqlite3_vfs* vfs, const char* path, int sync_directory) {
  auto* state = static_cast<State*>(vfs->pAppData);
  if (state->next(Operation::Write) != Verdict::Pass) return state->status();
  state->unsynced.erase(path);
  return state->system->xDelete(state->system, path, sync_directory);
}

void put_back(const std::string& path, const std::vector<Undo>& undos) {
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return;  // Gone altogether, as a file may be that was not synced.
  for (auto undo = undos.rbegin(); undo != undos.rend(); ++undo) {
    const ssize_t written = ::pwrite(file, undo->bytes.data(), undo->bytes.size(), undo->offset);
    CHECK(written == static_cast<ssize_t>(undo->bytes.size()));
    CHECK(::ftruncate(file, undo->file_size) == 0);
  }
  ::close(file);
}

}  // namespace

FaultyVfs::FaultyVfs(std::string name) : state_(std::make_unique<State>()) {
  state_->name = std::move(name);
  state_->system = sqlite3_vfs_find(nullptr);
  CHECK(state_->system != nullptr);
  state_->vfs = make_layer(*state_->system, state_->name.c_str(), sizeof(File), state_.get());
  state_->vfs.xOpen = open_file;
  state_->vfs.xDelete = delete_file;
  CHECK(sqlite3_vfs_register(&state_->vfs, 0) == SQLITE_OK);
}

FaultyVfs::~FaultyVfs() {
  sqlite3_vfs_unregister(&state_->vfs);
}

const std::string& FaultyVfs::name() const {
  return state_->name;
}

void FaultyVfs::fail_at(uint64_t nth, Fault fault) {
  CHECK(nth > 0);
  state_->fault = fault;
  state_->remaining = nth;
  state_->met = false;
}

void FaultyVfs::heal() {
  state_->fault.reset();
}

bool FaultyVfs::failed() const {
  return state_->met;
}

void FaultyVfs::cut_power() {
  for (const auto& [path, undos] : state_->unsynced) put_back(path, undos);
  state_->unsynced.clear();
  heal();
}

}  // namespace sqlite
