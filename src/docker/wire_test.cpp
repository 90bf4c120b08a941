#include "docker/wire.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace docker {
namespace {

TEST(Wire, base64_url_matches_the_vectors_of_rfc_4648) {
  const std::pair<std::string, std::string> vectors[] = {{"", ""},
                                                         {"f", "Zg=="},
                                                         {"fo", "Zm8="},
                                                         {"foo", "Zm9v"},
                                                         {"foob", "Zm9vYg=="},
                                                         {"fooba", "Zm9vYmE="},
                                                         {"foobar", "Zm9vYmFy"},
                                                         {"\xfb\xff", "-_8="}};
  for (const auto& [plain, encoded] : vectors) EXPECT_EQ(base64_url(plain), encoded);
}

TEST(Wire, an_image_name_is_split_at_its_tag_or_digest) {
  const std::pair<std::string, ImageName> cases[] = {
      {"busybox", {"busybox", "latest"}},
      {"busybox:1.36", {"busybox", "1.36"}},
      {"library/busybox", {"library/busybox", "latest"}},
      {"host:5000/a/b", {"host:5000/a/b", "latest"}},
      {"host:5000/a/b:c", {"host:5000/a/b", "c"}},
      {"a@sha256:00ff", {"a", "sha256:00ff"}},
      {"host:5000/a:tag@sha256:00ff", {"host:5000/a", "sha256:00ff"}},
  };
  for (const auto& [text, name] : cases) EXPECT_EQ(split_image(text), name) << text;
}

TEST(Wire, filters_name_labels_with_and_without_a_value) {
  EXPECT_EQ(filters_parameter({}, ""), "{}");
  EXPECT_EQ(filters_parameter({{"a", "1"}, {"b", ""}}, "container"),
            R"({"type":["container"],"label":["a=1","b"]})");
}

TEST(Wire, the_registry_header_is_base64_of_the_credentials) {
  EXPECT_EQ(registry_auth_header({"u", "p", "r.example"}),
            base64_url(R"({"username":"u","password":"p","serveraddress":"r.example"})"));
}

RC_GTEST_PROP(Wire, json_lines_come_whole_however_the_bytes_are_cut, ()) {
  const auto lines = *rc::gen::container<std::vector<std::string>>(
      rc::gen::nonEmpty(rc::gen::container<std::string>(rc::gen::inRange<char>('!', '~'))));
  std::string bytes;
  for (const std::string& line : lines) bytes += line + "\r\n\n";
  std::vector<std::string> seen;
  const JsonLines::OnLine on_line = [&seen](std::string_view line) {
    seen.emplace_back(line.substr(0, line.find('\r')));
    return true;
  };
  JsonLines cutter;
  for (size_t at = 0; at < bytes.size();) {
    const auto size = *rc::gen::inRange<size_t>(1, 12);
    RC_ASSERT(cutter.feed(std::string_view(bytes).substr(at, size), on_line).value());
    at += size;
  }
  RC_ASSERT(cutter.finish(on_line));
  RC_ASSERT(seen == lines);
}

TEST(Wire, json_lines_tell_a_last_line_without_newline) {
  JsonLines cutter;
  std::vector<std::string> seen;
  const auto on_line = [&seen](std::string_view line) {
    seen.emplace_back(line);
    return true;
  };
  EXPECT_TRUE(cutter.feed("{}\n{\"a\":", on_line).value());
  EXPECT_TRUE(cutter.feed("1}", on_line).value());
  EXPECT_TRUE(cutter.finish(on_line));
  EXPECT_EQ(seen, (std::vector<std::string>{"{}", R"({"a":1})"}));
}

TEST(Wire, json_lines_stop_when_told_and_refuse_an_endless_line) {
  JsonLines cutter;
  int lines = 0;
  const auto first_only = [&lines](std::string_view) { return ++lines < 1; };
  EXPECT_FALSE(cutter.feed("1\n2\n", first_only).value());
  EXPECT_EQ(lines, 1);
  JsonLines endless;
  const std::string megabyte(size_t{1} << 20, 'x');
  const auto never = [](std::string_view) { return true; };
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(endless.feed(megabyte, never).has_value());
  EXPECT_FALSE(endless.feed(megabyte, never).has_value());
}

}  // namespace
}  // namespace docker
