// How a machine becomes a member of a cluster: a join token is exchanged for an access key of its
// own, which is kept beside the agent's journal.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "net/tls.h"

namespace cli {

struct JoinedKey {
  std::string agent_name;  // Its own, unguessable name: the same exchange again gives the same key.
  std::string access_key_id;
  std::string secret_access_key;
  std::string cluster;
  std::string region;
  std::string token_digest;  // SHA-256 of the last token that was shown, in hex.
};

struct JoinOptions {
  std::vector<std::string> servers;
  std::string token;  // Empty: only the stored key will do.
  std::filesystem::path data_dir;
  net::TlsClientOptions trust;
};

// Where a join token comes from.
struct TokenSource {
  std::string text;  // As it was given; "-": standard input has it.
  std::string file;  // Its path; empty: none was given.
};
// The token, without blanks around it; empty where none is given. `environment` is what
// BERTH_TOKEN has, which counts last. Reads standard input through `read_input`.
// Errors: "IoError" for a file that cannot be read; "InvalidParameterException" for a file or an
// input without one.
base::Result<std::string> read_token(const TokenSource& source, const std::string& environment,
                                     const std::function<std::string()>& read_input);

// The stored key, else the one that the token is exchanged for; it is on the disk when this
// returns, readable by its owner only. A token that was not shown before is exchanged although
// there is a key, which may have been taken back; where it is refused, the stored key stays. Waits
// for a server that does not answer yet, saying so.
// Errors: "MissingCredentials" without key and token; AccessDeniedException for a token that is
// refused where there is no key; "IoError"; "Corrupt".
base::Result<JoinedKey> join(const JoinOptions& options);

}  // namespace cli
