#include "sqlite/vfs_layer.h"

namespace sqlite {
namespace {

int pass_close(sqlite3_file* file) {
  return below(file)->pMethods->xClose(below(file));
}
int pass_read(sqlite3_file* file, void* to, int count, sqlite3_int64 offset) {
  return below(file)->pMethods->xRead(below(file), to, count, offset);
}
int pass_write(sqlite3_file* file, const void* from, int count, sqlite3_int64 offset) {
  return below(file)->pMethods->xWrite(below(file), from, count, offset);
}
int pass_truncate(sqlite3_file* file, sqlite3_int64 size) {
  return below(file)->pMethods->xTruncate(below(file), size);
}
int pass_sync(sqlite3_file* file, int flags) {
  return below(file)->pMethods->xSync(below(file), flags);
}
int pass_file_size(sqlite3_file* file, sqlite3_int64* size) {
  return below(file)->pMethods->xFileSize(below(file), size);
}
int pass_lock(sqlite3_file* file, int level) {
  return below(file)->pMethods->xLock(below(file), level);
}
int pass_unlock(sqlite3_file* file, int level) {
  return below(file)->pMethods->xUnlock(below(file), level);
}
int pass_check_reserved_lock(sqlite3_file* file, int* held) {
  return below(file)->pMethods->xCheckReservedLock(below(file), held);
}
int pass_control(sqlite3_file* file, int operation, void* argument) {
  return below(file)->pMethods->xFileControl(below(file), operation, argument);
}
int pass_sector_size(sqlite3_file* file) {
  return below(file)->pMethods->xSectorSize(below(file));
}
int pass_device_characteristics(sqlite3_file* file) {
  return below(file)->pMethods->xDeviceCharacteristics(below(file));
}
int pass_map_shared(sqlite3_file* file, int page, int size, int extend, void volatile** memory) {
  return below(file)->pMethods->xShmMap(below(file), page, size, extend, memory);
}
int pass_lock_shared(sqlite3_file* file, int offset, int count, int flags) {
  return below(file)->pMethods->xShmLock(below(file), offset, count, flags);
}
void pass_shared_barrier(sqlite3_file* file) {
  below(file)->pMethods->xShmBarrier(below(file));
}
int pass_unmap_shared(sqlite3_file* file, int delete_it) {
  return below(file)->pMethods->xShmUnmap(below(file), delete_it);
}

}  // namespace

const sqlite3_io_methods passing_methods = {
    .iVersion = 2,
    .xClose = pass_close,
    .xRead = pass_read,
    .xWrite = pass_write,
    .xTruncate = pass_truncate,
    .xSync = pass_sync,
    .xFileSize = pass_file_size,
    .xLock = pass_lock,
    .xUnlock = pass_unlock,
    .xCheckReservedLock = pass_check_reserved_lock,
    .xFileControl = pass_control,
    .xSectorSize = pass_sector_size,
    .xDeviceCharacteristics = pass_device_characteristics,
    .xShmMap = pass_map_shared,
    .xShmLock = pass_lock_shared,
    .xShmBarrier = pass_shared_barrier,
    .xShmUnmap = pass_unmap_shared,
    .xFetch = nullptr,
    .xUnfetch = nullptr,
};

sqlite3_vfs make_layer(sqlite3_vfs& system, const char* name, int file_bytes, void* data) {
  sqlite3_vfs layer = system;
  layer.pNext = nullptr;
  layer.zName = name;
  layer.pAppData = data;
  layer.szOsFile = file_bytes + system.szOsFile;
  return layer;
}

int open_below(sqlite3_vfs& system, const char* path, sqlite3_file* file, int file_bytes, int flags,
               int* out_flags) {
  auto* const self = reinterpret_cast<LayerFile*>(file);
  self->base.pMethods = nullptr;
  self->below = reinterpret_cast<sqlite3_file*>(reinterpret_cast<char*>(file) + file_bytes);
  return system.xOpen(&system, path, self->below, flags, out_flags);
}

}  // namespace sqlite
