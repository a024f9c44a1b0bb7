/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pcapng.h - records frames with timestamps in nanoseconds. Each packet's comment gives the cycle
 * of its first beat, to match Wireshark with a waveform.
 */
#ifndef GATEWARE_SIM_PCAPNG_H
#define GATEWARE_SIM_PCAPNG_H

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "port.h"

namespace sim
{

class Pcapng
{
  public:
    /* names: the interfaces, numbered from 0. With an empty path, records nothing. */
    Pcapng(const std::string &path, const std::vector<std::string> &names)
    {
        if (path.empty())
            return;
        file_ = std::fopen(path.c_str(), "wb");
        if (!file_) {
            std::fprintf(stderr, "--pcap %s: %s\n", path.c_str(), std::strerror(errno));
            std::exit(1);
        }
        Block section(0x0a0d0d0a);
        section.u32(0x1a2b3c4d);
        section.u32(1); /* version 1.0 */
        section.u32(~0u);
        section.u32(~0u); /* unknown length */
        write(section);
        for (const std::string &name : names) {
            Block interface(1);
            interface.u32(1); /* Ethernet */
            interface.u32(0);
            interface.option(2, name.data(), name.size());
            interface.option(9, "\x09", 1); /* nanoseconds */
            interface.u32(0);
            write(interface);
        }
    }
    ~Pcapng()
    {
        if (file_)
            std::fclose(file_);
    }
    Pcapng(const Pcapng &) = delete;
    Pcapng &operator=(const Pcapng &) = delete;

    void packet(uint32_t interface, const Frame &f, uint64_t ns, uint64_t cycle)
    {
        if (!file_)
            return;
        Block b(6);
        std::string comment = "cycle " + std::to_string(cycle);

        b.u32(interface);
        b.u32(static_cast<uint32_t>(ns >> 32));
        b.u32(static_cast<uint32_t>(ns));
        b.u32(static_cast<uint32_t>(f.size()));
        b.u32(static_cast<uint32_t>(f.size()));
        b.bytes(f.data(), f.size());
        b.option(1, comment.data(), comment.size());
        b.u32(0);
        write(b);
    }

  private:
    struct Block {
        explicit Block(uint32_t type)
        {
            u32(type);
            u32(0); /* the length, filled in at the end */
        }
        void bytes(const void *from, size_t n)
        {
            const auto *p = static_cast<const uint8_t *>(from);
            data.insert(data.end(), p, p + n);
            data.resize((data.size() + 3) / 4 * 4);
        }
        void u32(uint32_t v)
        {
            bytes(&v, sizeof v);
        }
        void option(uint16_t code, const void *from, size_t n)
        {
            u32(static_cast<uint32_t>(n) << 16 | code);
            bytes(from, n);
        }
        std::vector<uint8_t> data;
    };

    void write(Block &b)
    {
        auto length = static_cast<uint32_t>(b.data.size() + 4);

        b.u32(length);
        std::memcpy(b.data.data() + 4, &length, sizeof length);
        std::fwrite(b.data.data(), 1, b.data.size(), file_);
    }

    std::FILE *file_ = nullptr;
};

} // namespace sim

#endif
