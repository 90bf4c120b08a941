#include "docker/pause_image.h"

#include <array>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "base/embed.h"

namespace docker {

EMBED(pause_program, BERTH_PAUSE)

namespace {

constexpr size_t block = 512;

// One header of a tar archive. Source: POSIX.1-1988, ustar.
std::string tar_header(std::string_view name, size_t size) {
  std::array<char, block> header{};
  const auto put = [&](size_t at, std::string_view text) {
    std::memcpy(header.data() + at, text.data(), text.size());
  };
  std::array<char, 16> number{};
  put(0, name);
  put(100, "0000755");
  put(108, "0000000");
  put(116, "0000000");
  std::snprintf(number.data(), number.size(), "%011zo", size);
  put(124, number.data());
  put(136, "00000000000");
  put(148, "        ");
  header[156] = '0';
  put(257, "ustar");
  put(263, "00");
  unsigned sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  std::snprintf(number.data(), number.size(), "%06o", sum);
  put(148, std::string_view(number.data(), 7));
  return {header.data(), header.size()};
}

}  // namespace

ImageImport pause_image(const std::string& name) {
  std::string program(pause_program());
  std::string archive = tar_header("pause", program.size());
  program.resize((program.size() + block - 1) / block * block, '\0');
  archive += program;
  archive.append(2 * block, '\0');
  return {.name = name, .archive = std::move(archive), .entry_point = {"/pause"}};
}

}  // namespace docker
