// What one must say to speak TLS. TLS 1.2 is the oldest version spoken.
#pragma once

#include <string>

namespace net {

struct TlsServerOptions {
  std::string certificate_chain_pem{};  // The server's own certificate first.
  std::string private_key_pem{};        // Not encrypted.
};

struct TlsClientOptions {
  // The certificates that are trusted; empty = those of the system.
  std::string ca_pem{};
  // The name that the certificate must carry; empty = the host of the URL.
  std::string server_name{};
  // Accept any certificate.
  bool insecure = false;
};

}  // namespace net
