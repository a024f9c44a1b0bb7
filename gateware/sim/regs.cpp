// SPDX-License-Identifier: Apache-2.0
#include "regs.h"

#include <cerrno>
#include <endian.h>
#include <sys/socket.h>
#include <unistd.h>

#include "listen.h"

namespace sim
{
namespace
{
constexpr uint32_t kRead = 1, kWrite = 2;
constexpr uint32_t kBadRequest = 0x100; // beyond the two bits of a bus error
} // namespace

RegServer::RegServer(const std::string &path, Read read, Write write)
    : path_(path), read_(std::move(read)), write_(std::move(write))
{
    if (!path.empty())
        listen_ = listen_at("--regs", path);
}

RegServer::~RegServer()
{
    for (const Client &c : clients_)
        close(c.fd);
    if (listen_ >= 0) {
        close(listen_);
        remove_socket(path_);
    }
}

void RegServer::add_to(std::vector<struct pollfd> &fds) const
{
    if (listen_ >= 0)
        fds.push_back({listen_, POLLIN, 0});
    for (const Client &c : clients_)
        fds.push_back({c.fd, POLLIN, 0});
}

// Returns false when the client has disconnected or does not read its answers.
bool RegServer::answer(Client &c)
{
    for (;;) {
        ssize_t n =
            recv(c.fd, reinterpret_cast<char *>(c.words) + c.have, sizeof c.words - c.have, 0);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return true;
        if (n <= 0)
            return false;
        c.have += static_cast<size_t>(n);
        if (c.have < sizeof c.words)
            continue;
        c.have = 0;

        uint32_t op = le32toh(c.words[0]), address = le32toh(c.words[1]);
        uint32_t value = le32toh(c.words[2]), status = kBadRequest;

        if (op == kRead)
            status = read_(address, value);
        else if (op == kWrite)
            status = write_(address, value);
        c.words[2] = htole32(value);
        c.words[3] = htole32(status);
        if (send(c.fd, c.words, sizeof c.words, MSG_NOSIGNAL) != sizeof c.words)
            return false;
    }
}

void RegServer::serve()
{
    if (listen_ < 0)
        return;
    int fd = accept4(listen_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0)
        clients_.push_back({fd, 0, {}});
    for (size_t i = 0; i < clients_.size();) {
        if (answer(clients_[i])) {
            i++;
        } else {
            close(clients_[i].fd);
            clients_.erase(clients_.begin() + static_cast<std::ptrdiff_t>(i));
        }
    }
}

} // namespace sim
