/* SPDX-License-Identifier: Apache-2.0 */
/* listen.h - opens a listening Unix socket, and removes its file. */
#ifndef GATEWARE_SIM_LISTEN_H
#define GATEWARE_SIM_LISTEN_H

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace sim
{

/* Unlinks the socket at path. Returns false, with errno, when that fails or the file there is not a
 * socket: a mistyped path must not cost a file. */
inline bool remove_socket(const std::string &path)
{
    struct stat st;

    if (lstat(path.c_str(), &st) != 0)
        return errno == ENOENT;
    if (!S_ISSOCK(st.st_mode)) {
        errno = S_ISDIR(st.st_mode) ? EISDIR : ENOTSOCK;
        return false;
    }
    return unlink(path.c_str()) == 0;
}

/* Returns a socket that listens at path; replaces an existing socket. On failure prints a message
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
    if (!remove_socket(path)) {
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
