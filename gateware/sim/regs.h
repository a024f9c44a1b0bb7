/* SPDX-License-Identifier: Apache-2.0 */
/*
 * regs.h - serves a simulation's registers on a Unix socket. README.md specifies the protocol;
 * `toehold reg --bar sim:PATH` and `toehold rtt` are clients.
 */
#ifndef GATEWARE_SIM_REGS_H
#define GATEWARE_SIM_REGS_H

#include <functional>
#include <poll.h>
#include <string>
#include <vector>

#include <cstdint>

namespace sim
{

class RegServer
{
  public:
    using Read = std::function<unsigned(uint32_t, uint32_t &)>;
    using Write = std::function<unsigned(uint32_t, uint32_t)>;

    /* With an empty path, does nothing. Prints a message and exits when it cannot listen at path.
     */
    RegServer(const std::string &path, Read read, Write write);
    ~RegServer();
    RegServer(const RegServer &) = delete;
    RegServer &operator=(const RegServer &) = delete;

    void serve(); /* handles pending requests without blocking */
    void add_to(std::vector<struct pollfd> &fds) const;

  private:
    struct Client {
        int fd;
        size_t have;
        uint32_t words[4];
    };
    bool answer(Client &c);

    std::string path_;
    Read read_;
    Write write_;
    int listen_ = -1;
    std::vector<Client> clients_;
};

} // namespace sim

#endif
