/* SPDX-License-Identifier: Apache-2.0 */
/* listen.h - opens a listening Unix socket. */
#ifndef GATEWARE_SIM_LISTEN_H
#define GATEWARE_SIM_LISTEN_H

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace sim
{

/* Returns a socket that listens at path; replaces an existing file. On failure prints a message
 * that names the option and exits. */
inline int listen_at(const char *option, const std::string &path)
{
    struct sockaddr_un at = {};
    int fd;

    at.sun_family = AF_UNIX;
    if (path.size() >= sizeof at.sun_path) {
        std::fprintf(stderr, "%s %s: longer than %zu bytes\n", option, path.c_str(),
                     sizeof at.sun_path - 1);
        std::exit(1);
    }
    std::memcpy(at.sun_path, path.c_str(), path.size() + 1);
    if (unlink(path.c_str()) != 0 && errno != ENOENT) {
        std::fprintf(stderr, "%s %s: cannot take the place of what is there: %s\n", option,
                     path.c_str(), std::strerror(errno));
        std::exit(1);
    }
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, reinterpret_cast<struct sockaddr *>(&at), sizeof at) != 0 ||
        listen(fd, 4) != 0) {
        std::fprintf(stderr, "%s %s: %s\n", option, path.c_str(), std::strerror(errno));
        std::exit(1);
    }
    return fd;
}

} // namespace sim

#endif
