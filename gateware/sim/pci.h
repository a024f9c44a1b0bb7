/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pci.h - a PCI function for a QEMU guest whose BAR 2 maps a module's registers. QEMU's device
 * x-pci-proxy-dev forwards each access of the guest's CPU to another process over a Unix socket and
 * waits for the reply. Each load or store in the guest is one access on the module's bus.
 *
 * IDs and layout are those of OpenNIC's shell: a BAR of 4 MiB with the registers of the user box at
 * 0x100000. Reads return all ones elsewhere and when the bus reports an error.
 */
#ifndef GATEWARE_SIM_PCI_H
#define GATEWARE_SIM_PCI_H

#include <array>
#include <functional>
#include <poll.h>
#include <string>
#include <vector>

#include <cstdint>

namespace sim
{

class PciFunction
{
  public:
    using Read = std::function<unsigned(uint32_t, uint32_t &)>;
    using Write = std::function<unsigned(uint32_t, uint32_t)>;

    /* With an empty path, does nothing. size: bytes of the module's window. Prints a message and
     * exits when it cannot listen at path. */
    PciFunction(const std::string &path, uint32_t size, Read read, Write write);
    ~PciFunction();
    PciFunction(const PciFunction &) = delete;
    PciFunction &operator=(const PciFunction &) = delete;

    void serve(); /* handles pending messages without blocking */
    void add_to(std::vector<struct pollfd> &fds) const;

  private:
    void reset();
    bool take();
    bool handle(uint32_t command, const uint8_t *data, size_t size);
    bool reply(bool with_value, uint64_t value);
    uint32_t config_read(uint32_t at, uint32_t length) const;
    void config_write(uint32_t at, uint32_t value, uint32_t length);
    uint64_t bar_read(uint64_t at, uint32_t size);
    void bar_write(uint64_t at, uint32_t size, uint64_t value);
    bool in_window(uint64_t at, uint32_t size, uint32_t &offset) const;

    std::string path_;
    uint32_t size_;
    Read read_;
    Write write_;
    int listen_ = -1, peer_ = -1;
    std::vector<uint8_t> in_;
    std::array<uint8_t, 256> config_{};
};

} // namespace sim

#endif
