// How much a log store keeps, and what it leaves to others.
#pragma once

#include <cstdint>
#include <string>

namespace logs {

// 0 stands for no limit.
struct Limits {
  int32_t retention_days = 0;  // Of log groups without a retention of their own.
  int64_t group_bytes = 0;     // Of one log group, as PutLogEvents counts.
  int64_t file_bytes = 0;      // Of the file, what is free in it left out.
  int64_t disk_bytes = 0;      // So many stay free on the disk: the rest of the server needs them.
};

// What is left free on the disk that `path` lies on: a twentieth of it, 512 MiB at most; 0 where it
// cannot be looked at.
int64_t disk_reserve(const std::string& path);
// What is free there for this user; a negative figure where it cannot be looked at.
int64_t free_on_disk(const std::string& path);

}  // namespace logs
