#include "net/http_connection.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <charconv>
#include <utility>

#include "net/http_writer.h"
#include "net/websocket_connection.h"

namespace net {
namespace {

constexpr size_t small_read = size_t{8} << 10;
constexpr size_t large_read = size_t{64} << 10;
// How many bytes a slow peer must move for its deadline to be set anew.
constexpr size_t progress_bytes = size_t{16} << 10;
// So many steps without waiting, and the other connections of the thread have their turn.
constexpr int steps_per_turn = 64;
constexpr size_t default_body_limit = size_t{1} << 20;
constexpr size_t kept_output_bytes = 1024;
// A body up to here is read before anybody has looked at the head.
constexpr size_t small_body = size_t{8} << 10;

bool is_websocket_upgrade(const HttpRequest& request) {
  return request.method == "GET" && header_has_token(request.headers, "Upgrade", "websocket") &&
         header_has_token(request.headers, "Connection", "upgrade");
}

struct Verdict {
  int status = 0;  // 0 = go on.
  std::string_view why;
};

// What RFC 9112 asks a server to refuse that the parser lets through.
Verdict judge_head(const HttpRequest& head, const HeadFacts& facts) {
  const std::string* coding = find_header(head.headers, "Transfer-Encoding");
  if (coding != nullptr && !facts.http_1_1) return {400, "HTTP/1.0 has no Transfer-Encoding."};
  if (coding != nullptr && (!facts.chunked || coding->find(',') != std::string::npos)) {
    return {501, "The only Transfer-Encoding that is understood is chunked."};
  }
  const size_t hosts = count_headers(head.headers, "Host");
  if (hosts > 1 || (hosts == 0 && facts.http_1_1)) {
    return {400, "HTTP/1.1 wants exactly one Host header."};
  }
  const std::string* expect = find_header(head.headers, "Expect");
  if (expect != nullptr && !header_has_token(head.headers, "Expect", "100-continue")) {
    return {417, "The only expectation that is understood is 100-continue."};
  }
  return {};
}

}  // namespace

HttpConnection::HttpConnection(std::shared_ptr<const ServerSettings> settings, size_t thread, Fd fd,
                               std::shared_ptr<void> slot)
    : settings_(std::move(settings)),
      thread_(thread),
      fd_(std::move(fd)),
      slot_(std::move(slot)),
      parser_(HttpParser::Kind::Request, settings_->options.max_head_bytes) {}

// On any thread; it has left the newcomers when it was closed.
HttpConnection::~HttpConnection() {
  hold(0);
  if (connection_account_place_) {
    settings_->connections_of_account->remove(*connection_account_place_, 1);
  }
}

void HttpConnection::start() {
  set_no_delay(fd_.get());
  remote_address_ = peer_text(fd_.get());
  network_ = peer_network(fd_.get());
  address_place_ = settings_->held_of_address->place_of(network_);
  transport_ = std::make_unique<Transport>(settings_->loop->context(thread_), std::move(fd_),
                                           settings_->tls.load(), "", std::move(slot_));
  if (!settings_->loop->add_resident(thread_, settings_->owner, shared_from_this())) return close();
  stage_ = transport_->is_tls() ? Stage::Handshake : Stage::Reading;
  set_deadline(transport_->is_tls() ? settings_->options.head_timeout
                                    : settings_->options.idle_timeout);
  become_newcomer();
  pump();
}

void HttpConnection::start_refused() {
  transport_ = std::make_unique<Transport>(settings_->loop->context(thread_), std::move(fd_),
                                           nullptr, "", std::move(slot_));
  if (!settings_->loop->add_resident(thread_, settings_->owner, shared_from_this())) return close();
  // In the middle of a TLS handshake a plain response would only confuse.
  if (settings_->tls.load() != nullptr) return close();
  refuse(503, "The server has as many connections as it may have. Try again later.");
}

void HttpConnection::pump() {
  if (pumping_) return;
  const auto self = shared_from_this();
  pumping_ = true;
  int steps = 0;
  while (step()) {
    if (++steps == steps_per_turn) {
      boost::asio::post(transport_->executor(), [self] { self->pump(); });
      break;
    }
  }
  pumping_ = false;
}

bool HttpConnection::step() {
  switch (stage_) {
    case Stage::Handshake:
      return step_handshake();
    case Stage::Reading:
      return step_reading();
    case Stage::Writing:
      return step_writing();
    case Stage::Lingering:
      return step_lingering();
    case Stage::Handling:
    case Stage::Closed:
      return false;
  }
  return false;
}

bool HttpConnection::step_handshake() {
  const IoResult result = transport_->handshake();
  if (result.state == IoState::Ok) {
    stage_ = Stage::Reading;
    set_deadline(settings_->options.idle_timeout);
    return true;
  }
  if (result.state == IoState::WantRead || result.state == IoState::WantWrite) {
    return await(result.state);
  }
  close();
  return false;
}

bool HttpConnection::step_reading() {
  if (!input_.view().empty() && parse()) return true;
  return stage_ == Stage::Reading && read_more();
}

// True when the stage has changed.
bool HttpConnection::parse() {
  while (true) {
    const ParseStep step = parser_.feed(input_.view());
    input_.consume(step.consumed);
    switch (step.state) {
      case ParseState::NeedMore:
        if (!hold_body()) return true;
        update_read_deadline();
        return false;
      case ParseState::Head:
        if (!check_head()) return true;
        break;
      case ParseState::Done:
        if (hold_body()) dispatch();
        return true;
      case ParseState::Failed:
        refuse(parser_.failure_status(), parser_.failure_text());
        return true;
    }
  }
}

// True when the body may be read at once.
bool HttpConnection::check_head() {
  const HttpRequest& head = parser_.request();
  const HeadFacts facts = parser_.facts();
  http_1_1_ = facts.http_1_1;
  keep_alive_ = facts.keep_alive;
  is_head_request_ = head.method == "HEAD";
  phase_ = Phase::Body;
  body_at_deadline_ = 0;
  const Verdict verdict = judge_head(head, facts);
  if (verdict.status != 0) {
    refuse(verdict.status, verdict.why);
    return false;
  }
  if (!facts.chunked && facts.content_length.value_or(0) == 0) return true;
  const size_t limit =
      settings_->options.body_limit ? settings_->options.body_limit(head) : default_body_limit;
  if (facts.content_length.value_or(0) > limit) {
    refuse(413, "The body is longer than is allowed.");
    return false;
  }
  parser_.set_body_limit(limit);
  if (!admit(head, facts)) return false;
  set_deadline(settings_->options.body_timeout);
  if (facts.http_1_1 && input_.view().empty() &&
      header_has_token(head.headers, "Expect", "100-continue")) {
    output_ = "HTTP/1.1 100 Continue\r\n\r\n";
    begin_writing(After::ReadBody);
    return false;
  }
  return true;
}

// Whether the body may be read, as far as the head tells. False: it was refused.
bool HttpConnection::admit(const HttpRequest& head, const HeadFacts& facts) {
  if (!settings_->options.admit) return true;
  if (!facts.chunked && facts.content_length.value_or(0) <= small_body) return true;
  Admission admission = settings_->options.admit(head);
  if (admission.refusal) {
    write_response(std::move(*admission.refusal), false);
    return false;
  }
  account_place_ = settings_->held_of_account->place_of(admission.account);
  leave_newcomers();
  return true;
}

Newcomers* HttpConnection::newcomers() const {
  return settings_->newcomers == nullptr ? nullptr : &(*settings_->newcomers)[thread_];
}

void HttpConnection::become_newcomer() {
  Newcomers* const all = newcomers();
  if (all == nullptr || all->contains(this)) return;
  all->add(this, network_);
  keep_as_newcomer(request_bytes_);
}

bool HttpConnection::keep_as_newcomer(size_t bytes) {
  Newcomers* const all = newcomers();
  if (all == nullptr) return true;
  all->keep(this, bytes);
  while (HttpConnection* const oldest = all->next_to_go()) {
    // Closing it may let go of the last that holds it.
    const auto alive = oldest->shared_from_this();
    oldest->close();
  }
  return stage_ != Stage::Closed;
}

void HttpConnection::leave_newcomers() {
  if (Newcomers* const all = newcomers()) all->remove(this);
}

void HttpConnection::vouch(std::string_view account) {
  leave_newcomers();
  const size_t place = settings_->connections_of_account->place_of(account);
  if (connection_account_place_ == place) return;
  if (connection_account_place_) {
    settings_->connections_of_account->remove(*connection_account_place_, 1);
  }
  connection_account_place_ = place;
  if (!settings_->connections_of_account->add(place, 1,
                                              settings_->options.max_connections_of_account)) {
    keep_alive_ = false;
  }
}

// Counts `bytes` as what this connection keeps in memory. False when all together, those from its
// address or those of its account keep too much.
bool HttpConnection::hold(size_t bytes) {
  const size_t before = std::exchange(held_, bytes);
  if (bytes <= before) {
    const size_t less = before - bytes;
    settings_->held_bytes->fetch_sub(less);
    settings_->held_of_address->remove(address_place_, less);
    if (account_place_) settings_->held_of_account->remove(*account_place_, less);
    return true;
  }
  const size_t more = bytes - before;
  const HttpServerOptions& options = settings_->options;
  bool fits = settings_->held_bytes->fetch_add(more) + more <= options.max_held_bytes;
  fits &= settings_->held_of_address->add(address_place_, more, options.max_held_bytes_of_address);
  if (account_place_) {
    fits &=
        settings_->held_of_account->add(*account_place_, more, options.max_held_bytes_of_account);
  }
  return fits;
}

// False when the request was refused.
bool HttpConnection::hold_body() {
  if (hold(parser_.body_bytes())) return true;
  refuse(429, "The server is busy with as many requests as it may keep in memory. Try again.");
  return false;
}

bool HttpConnection::is_crowded() const {
  return *settings_->connections > settings_->options.max_connections / 4 * 3;
}

void HttpConnection::update_read_deadline() {
  if (phase_ == Phase::Idle && (parser_.started() || !input_.view().empty())) {
    phase_ = Phase::Head;
    set_deadline(settings_->options.head_timeout);
    become_newcomer();  // Whoever does not finish a head is one again.
  } else if (phase_ == Phase::Body && parser_.body_bytes() >= body_at_deadline_ + progress_bytes) {
    body_at_deadline_ = parser_.body_bytes();
    set_deadline(settings_->options.body_timeout);
  }
}

void HttpConnection::dispatch() {
  HttpRequest request = std::move(parser_.request());
  request.remote_address = remote_address_;
  request.tls = transport_->is_tls();
  stage_ = Stage::Handling;
  deadline_ = SteadyTime::max();
  const auto exchange = std::make_shared<Exchange>(settings_->loop, shared_from_this());
  if (settings_->upgrade && is_websocket_upgrade(request)) {
    exchange->keep_head(request);
    settings_->upgrade(std::move(request), Upgrade(exchange));
  } else {
    settings_->handler(std::move(request), Responder(exchange));
  }
}

bool HttpConnection::read_more() {
  if (!try_read_) {
    input_.release_if_empty();
    return await(IoState::WantRead);
  }
  const bool large = phase_ == Phase::Body && parser_.body_bytes() >= small_read;
  const IoResult result = transport_->read(input_.prepare(large ? large_read : small_read));
  switch (result.state) {
    case IoState::Ok:
      input_.commit(result.bytes);
      request_bytes_ += result.bytes;
      return keep_as_newcomer(request_bytes_);
    case IoState::WantRead:
    case IoState::WantWrite:
      if (phase_ == Phase::Idle) input_.release_if_empty();
      return await(result.state);
    case IoState::Eof:
    case IoState::Failed:
      close();
      return false;
  }
  return false;
}

// Always false: for now there is nothing more to do.
bool HttpConnection::await(IoState want) {
  if (want == IoState::WantWrite) {
    if (write_wait_) return false;
    write_wait_ = true;
    transport_->wait(want, [self = shared_from_this()](bool open) {
      self->write_wait_ = false;
      if (open) self->pump();
    });
  } else {
    if (read_wait_) return false;
    read_wait_ = true;
    transport_->wait(want, [self = shared_from_this()](bool open) {
      self->read_wait_ = false;
      self->try_read_ = true;
      if (open) self->pump();
    });
  }
  return false;
}

void HttpConnection::respond(HttpResponse response) {
  if (stage_ != Stage::Handling) return;  // The connection was cut meanwhile.
  if (response.status < 200 || response.status > 999) {
    response = make_error(500, "The response to this request has an impossible status.");
  }
  write_response(std::move(response), keep_alive_);
}

void HttpConnection::respond_unanswered() {
  if (stage_ != Stage::Handling) return;
  write_response(make_error(500, "The request was not answered."), keep_alive_);
}

void HttpConnection::hand_over(std::shared_ptr<WebSocketConnection> socket,
                               const HttpRequest& head) {
  if (stage_ != Stage::Handling) {
    socket->fail("the peer is gone");
    return;
  }
  stage_ = Stage::Closed;
  hold(0);
  leave_newcomers();
  transport_->unread(input_.view());
  settings_->loop->remove_resident(thread_, this);
  socket->accept(std::move(transport_), head);
}

HttpResponse HttpConnection::make_error(int status, std::string_view why) const {
  if (settings_->options.on_protocol_error) {
    return settings_->options.on_protocol_error(status, why);
  }
  return {status, {{"Content-Type", "text/plain; charset=utf-8"}}, std::string(why) + "\n"};
}

void HttpConnection::refuse(int status, std::string_view why) {
  write_response(make_error(status, why), false);
}

void HttpConnection::write_response(HttpResponse response, bool keep_alive) {
  ResponseFrame frame;
  frame.has_length = response.status != 204 && response.status != 304;
  frame.content_length = response.body.size();
  frame.keep_alive = keep_alive;
  frame.http_1_1 = http_1_1_;
  frame.date = date();
  if (is_head_request_ && response.body.empty()) {
    const std::string_view length = header_or_empty(response.headers, "Content-Length");
    std::from_chars(length.data(), length.data() + length.size(), frame.content_length);
  }
  append_response_head(response, frame, output_);
  if (frame.has_length && !is_head_request_) output_body_ = std::move(response.body);
  hold(output_.size() + output_body_.size());  // Also over the limit: the request was taken.
  begin_writing(keep_alive ? After::NextRequest : After::Linger);
  pump();
}

void HttpConnection::begin_writing(After after) {
  stage_ = Stage::Writing;
  after_write_ = after;
  written_ = written_at_deadline_ = 0;
  set_deadline(settings_->options.write_timeout);
}

bool HttpConnection::step_writing() {
  const size_t head_done = std::min(written_, output_.size());
  const size_t body_done = written_ - head_done;
  const iovec parts[] = {
      {output_.data() + head_done, output_.size() - head_done},
      {output_body_.data() + body_done, output_body_.size() - body_done},
  };
  const IoResult result = transport_->write(parts);
  switch (result.state) {
    case IoState::Ok:
      written_ += result.bytes;
      if (written_ == output_.size() + output_body_.size()) {
        finish_writing();
      } else if (written_ >= written_at_deadline_ + progress_bytes) {
        written_at_deadline_ = written_;
        set_deadline(settings_->options.write_timeout);
      }
      return true;
    case IoState::WantRead:
    case IoState::WantWrite:
      return await(result.state);
    case IoState::Eof:
    case IoState::Failed:
      close();
      return false;
  }
  return false;
}

void HttpConnection::finish_writing() {
  output_.clear();
  if (output_.capacity() > kept_output_bytes) output_.shrink_to_fit();
  output_body_ = {};
  hold(0);
  if (after_write_ == After::Linger) {
    stage_ = Stage::Lingering;
    transport_->shutdown_write();
    set_deadline(settings_->options.linger_timeout);
    return;
  }
  stage_ = Stage::Reading;
  if (after_write_ == After::ReadBody) {
    set_deadline(settings_->options.body_timeout);
    return;
  }
  phase_ = Phase::Idle;
  account_place_.reset();
  request_bytes_ = 0;
  try_read_ = false;
  is_head_request_ = false;
  http_1_1_ = true;
  parser_.start();
  set_deadline(settings_->options.idle_timeout);
}

bool HttpConnection::step_lingering() {
  const IoResult result = transport_->read(input_.prepare(small_read));
  switch (result.state) {
    case IoState::Ok:
      return true;  // Nothing is committed: what comes now is not read by anybody.
    case IoState::WantRead:
    case IoState::WantWrite:
      return await(result.state);
    case IoState::Eof:
    case IoState::Failed:
      close();
      return false;
  }
  return false;
}

void HttpConnection::on_tick(SteadyTime now) {
  if (stage_ == Stage::Reading && phase_ == Phase::Idle && is_crowded()) {
    const SteadyTime idle_since = deadline_ - settings_->options.idle_timeout;
    if (now - idle_since >= settings_->options.crowded_idle_timeout) return close();
  }
  if (now < deadline_) return;
  if (stage_ == Stage::Reading && phase_ != Phase::Idle) {
    refuse(408, "The request took too long to arrive.");
  } else {
    close();
  }
}

void HttpConnection::close() {
  stage_ = Stage::Closed;
  hold(0);
  leave_newcomers();
  transport_->close();
  settings_->loop->remove_resident(thread_, this);
}

void HttpConnection::set_deadline(base::Milliseconds delay) {
  deadline_ = std::chrono::steady_clock::now() + delay;
}

std::string_view HttpConnection::date() {
  const std::time_t now = std::time(nullptr);
  if (now != date_second_) {
    date_second_ = now;
    date_ = format_http_date(now);
  }
  return date_;
}

}  // namespace net
