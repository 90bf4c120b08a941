#include "sqlite/wal_check.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <string_view>
#include <vector>

#include "base/format.h"
#include "sqlite/database.h"

namespace sqlite {
namespace {

constexpr size_t wal_header_bytes = 32;
constexpr size_t frame_header_bytes = 24;
constexpr size_t most_page_bytes = 65'536;
constexpr uint32_t little_endian_magic = 0x377f0682;
constexpr uint32_t big_endian_magic = 0x377f0683;

uint32_t number_at(const unsigned char* bytes, bool big_endian = true) {
  if (!big_endian) {
    return number_at(std::array{bytes[3], bytes[2], bytes[1], bytes[0]}.data(), true);
  }
  return uint32_t{bytes[0]} << 24 | uint32_t{bytes[1]} << 16 | uint32_t{bytes[2]} << 8 | bytes[3];
}

struct RunningSum {
  uint32_t first = 0;
  uint32_t second = 0;
  friend bool operator==(const RunningSum&, const RunningSum&) = default;
};

// What stands in a header, which is big-endian whatever the sum is made of.
RunningSum sum_at(const unsigned char* bytes) {
  return {number_at(bytes), number_at(bytes + 4)};
}

struct Frame {
  std::vector<unsigned char> bytes;  // Header and page.
  RunningSum sum() const { return sum_at(bytes.data() + 16); }
  bool is_commit() const { return number_at(bytes.data() + 4) != 0; }
};

class Log {
 public:
  // nullopt: nothing was ever written to it.
  static base::Result<std::optional<Log>> open(const std::string& path) {
    Log log(path);
    if (!log.file_) {
      if (errno == ENOENT) return std::optional<Log>();
      return base::fail(std::string(io_error),
                        base::format("Cannot read {}: {}.", log.path_, std::strerror(errno)));
    }
    if (!log.read(log.header_)) return std::optional<Log>();
    // The header of a log that a power cut kept from its first sync.
    if (log.header_ == decltype(log.header_){}) return std::optional<Log>();
    if (!log.has_whole_header()) {
      return log.damaged("its header has not the checksum it was written with");
    }
    return std::optional<Log>(std::move(log));
  }

  // The next frame; false at the end of the file.
  bool next(Frame& frame) {
    frame.bytes.resize(frame_header_bytes + page_bytes());
    return read(frame.bytes);
  }

  RunningSum header_sum() const { return sum_at(header_.data() + 24); }

  // Of the frame after one with the sum `before`.
  RunningSum sum_after(RunningSum before, const Frame& frame) const {
    RunningSum sum = before;
    add(sum, frame.bytes.data(), 8);
    add(sum, frame.bytes.data() + frame_header_bytes, page_bytes());
    return sum;
  }

  // Older frames, of before the log was begun anew, have other salts.
  bool has_salts(const Frame& frame) const {
    return std::memcmp(frame.bytes.data() + 8, header_.data() + 16, 8) == 0;
  }

  std::unexpected<base::Error> damaged(std::string_view finding) const {
    return base::fail(
        std::string(corrupt),
        base::format("The write-ahead log {} is damaged: {}. Commits that were acknowledged would "
                     "be lost without a word. Stop the program, keep a copy of the database and "
                     "of this file, and restore a backup; to go on with what is left, move the "
                     "write-ahead log away.",
                     path_, finding));
  }

 private:
  explicit Log(const std::string& path) : path_(path), file_(path, std::ios::binary) {}

  template <class Bytes>
  bool read(Bytes& bytes) {
    file_.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    return static_cast<size_t>(file_.gcount()) == bytes.size();
  }

  void add(RunningSum& sum, const unsigned char* bytes, size_t count) const {
    const bool big_endian = number_at(header_.data()) == big_endian_magic;
    for (size_t i = 0; i < count; i += 8) {
      sum.first += number_at(bytes + i, big_endian) + sum.second;
      sum.second += number_at(bytes + i + 4, big_endian) + sum.first;
    }
  }

  bool has_whole_header() const {
    const uint32_t kind = number_at(header_.data());
    if (kind != little_endian_magic && kind != big_endian_magic) return false;
    const size_t page = page_bytes();
    if (page < 512 || page > most_page_bytes || (page & (page - 1)) != 0) return false;
    RunningSum sum;
    add(sum, header_.data(), 24);
    return sum == header_sum();
  }

  size_t page_bytes() const { return number_at(header_.data() + 8); }

  std::string path_;
  std::ifstream file_;
  std::array<unsigned char, wal_header_bytes> header_{};
};

// Commits that stand behind a damaged frame, the one it belongs to included: 1 when that one is the
// last, 0 when it has no end.
struct Beyond {
  std::optional<RunningSum> sum;  // Of the last frame that fitted.
  uint64_t commits = 0;
  uint64_t frames_since = 0;  // That fitted after the last commit.

  // False: it does not fit, and nothing after it will.
  bool take(const Log& log, const Frame& frame) {
    if (!sum || !log.has_salts(frame) || log.sum_after(*sum, frame) != frame.sum()) {
      sum.reset();
      return false;
    }
    sum = frame.sum();
    ++frames_since;
    if (frame.is_commit()) {
      ++commits;
      frames_since = 0;
    }
    return true;
  }
  bool next_was_begun() const { return commits > 1 || (commits == 1 && frames_since > 0); }
};

}  // namespace

base::Result<void> check_wal(const std::string& path) {
  auto log = TRY(Log::open(path));
  if (!log) return {};
  Frame frame;
  RunningSum sum = log->header_sum();
  uint64_t number = 0;
  for (;; ++number) {
    if (!log->next(frame)) return {};
    const RunningSum wanted = log->sum_after(sum, frame);
    if (!log->has_salts(frame) || wanted != frame.sum()) break;
    sum = wanted;
  }
  // Whether the frame's page or its sum was damaged, the frames after it tell.
  const RunningSum continued = log->sum_after(sum, frame);
  const auto own = static_cast<uint64_t>(frame.is_commit() ? 1 : 0);
  Beyond by_its_sum{.sum = frame.sum(), .commits = own};
  Beyond by_its_page{.sum = continued, .commits = own};
  // The salts alone are other ones.
  const bool fits = continued == frame.sum();
  while (log->next(frame)) {
    const bool one = by_its_sum.take(*log, frame);
    const bool other = by_its_page.take(*log, frame);
    if (!one && !other) break;
  }
  for (const Beyond& beyond : {by_its_sum, by_its_page}) {
    if (!beyond.next_was_begun()) continue;
    return log->damaged(
        base::format("frame {} has not the checksum it was written with, and {} commits stand "
                     "behind it",
                     number + 1, beyond.commits));
  }
  if (fits) {
    return log->damaged(base::format("frame {} has other salts than its header", number + 1));
  }
  return {};
}

}  // namespace sqlite
