/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hello.c - fuzz target: the messages that processes exchange before they share rings: a host to
 * toed (toe/attach.h), toed to libtoe, one side of netio's wire to the other. Each is a message
 * with descriptors from an untrusted sender.
 *
 * Input: [receiver: 0 toed, 1 libtoe, 2 the wire][descriptors: how many, the kind of each][edits of
 * a valid message: offset, value]. Checks: an invalid message is rejected with a reason; no
 * descriptor stays open; queue pairs are freed.
 */
#include <dirent.h>
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench.h"
#include "process/attach.h"

#include "hello.h"

#define MOST_FDS   8u
#define MOST_EDITS 16u
#define ALL_SEALS  (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

enum { TOED, LIBTOE, WIRE, HEARERS };

static uint64_t now; /* of the engines' clock (meson.build: --wrap) */

uint64_t __wrap_engine_clock(void);
uint64_t __wrap_engine_clock(void)
{
    return now;
}

static unsigned open_fds(void)
{
    DIR *d = opendir("/proc/self/fd");
    unsigned n = 0;

    FUZZ_CHECK(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

static int memory(uint64_t size, unsigned seals)
{
    int fd = memfd_create("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    FUZZ_CHECK(fd >= 0);
    if (ftruncate(fd, (off_t)size) || fcntl(fd, F_ADD_SEALS, seals))
        (void)0; /* as large as it became */
    return fd;
}

/* A descriptor of some kind; size: the valid size of memory. */
static int descriptor(unsigned kind, uint64_t size)
{
    switch (kind % 7) {
    case 0:
        return memory(size, ALL_SEALS);
    case 1:
        return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    case 2:
        return memory(size, kind & 128 ? F_SEAL_GROW : 0);
    case 3:
        return memory(size - 4096, ALL_SEALS);
    case 4:
        return eventfd(0, EFD_CLOEXEC);
    case 5:
        return open("/dev/null", O_RDWR | O_CLOEXEC);
    default:
        return memory(kind & 128 ? size + 1 : 0, ALL_SEALS);
    }
}

static size_t right_message(unsigned who, uint8_t *m)
{
    struct toedev_hello h = {.magic = TOEDEV_MAGIC,
                             .version = TOEDEV_CONTRACT_VERSION,
                             .kind = TOEDEV_HELLO_ATTACH,
                             .qp = {64, 64, 4, 4096, 4096, 4},
                             .name = "fuzz"};
    struct toedev_welcome w = {.magic = TOEDEV_MAGIC,
                               .version = TOEDEV_CONTRACT_VERSION,
                               .engines = 1,
                               .prefix_len = 24,
                               .message = "no"};

    if (who == WIRE)
        return hello_of_wire(m);
    if (who == TOED)
        memcpy(m, &h, sizeof(h));
    else
        memcpy(m, &w, sizeof(w));
    return who == TOED ? sizeof(h) : sizeof(w);
}

/* Bytes are set, numbers changed, the length too. */
static size_t edit(struct fuzz_in *in, uint8_t *m, size_t size)
{
    static const uint32_t likely[] = {0,          1,    2,     3,      16,         64,
                                      128,        4096, 65536, 131072, 1u << 24,   1u << 30,
                                      0x7fffffff, 33,   65535, 4095,   0x80000000, 0xffffffff};
    unsigned n, how;
    uint32_t v;
    size_t at;

    for (n = 0; in->left >= 3 && n < MOST_EDITS; n++) {
        at = fuzz_u8(in) % (size + 4);
        how = fuzz_u8(in);
        if (at >= size) {
            size = how < size ? how : size + 4;
            return size;
        }
        v = how < sizeof(likely) / sizeof(likely[0]) ? likely[how] : fuzz_u32(in);
        if (how & 128 || (at &= ~(size_t)3) + 4 > size)
            m[at] = (uint8_t)v;
        else
            memcpy(m + at, &v, sizeof(v));
    }
    return size;
}

static void say(int fd, const uint8_t *m, size_t size, const int *fds, unsigned count)
{
    struct iovec v = {(void *)m, size};
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(MOST_FDS * sizeof(int))];
    } control;
    struct msghdr msg = {.msg_iov = &v, .msg_iovlen = 1};
    struct cmsghdr *c;

    memset(&control, 0, sizeof(control));
    if (count) {
        msg.msg_control = control.bytes;
        msg.msg_controllen = CMSG_SPACE(count * sizeof(int));
        c = CMSG_FIRSTHDR(&msg);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(count * sizeof(int));
        memcpy(CMSG_DATA(c), fds, count * sizeof(int));
    }
    FUZZ_CHECK(sendmsg(fd, &msg, MSG_NOSIGNAL) == (ssize_t)size);
}

/* Reads the reply that the host would get: whether it was accepted. */
static int answered(int fd)
{
    struct toedev_welcome w;
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(2 * sizeof(int))];
    } control;
    struct iovec v = {&w, sizeof(w)};
    struct msghdr msg = {.msg_iov = &v,
                         .msg_iovlen = 1,
                         .msg_control = control.bytes,
                         .msg_controllen = sizeof(control.bytes)};
    struct cmsghdr *c;
    int fds[2];

    FUZZ_CHECK(recvmsg(fd, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) == (ssize_t)sizeof(w));
    FUZZ_CHECK(w.magic == TOEDEV_MAGIC && memchr(w.message, 0, sizeof(w.message)));
    FUZZ_CHECK(!w.reason == !w.message[0]);
    c = CMSG_FIRSTHDR(&msg);
    FUZZ_CHECK(!c == !!w.reason);
    if (c) {
        memcpy(fds, CMSG_DATA(c), sizeof(fds));
        close(fds[0]);
        close(fds[1]);
    }
    return w.reason == 0;
}

static void hello_to_toed(int fd, int host)
{
    static struct bench t;
    struct options o = {.max_memory_mib = 64, .max_qps = 8};
    struct client cl = {.fd = fd, .pidfd = -1, .pid = 1};
    struct control c = {.options = &o, .engines = &t.a, .engine_count = 1, .regs_fd = 0};
    struct hello_message m;
    int got, taken;

    got = attach_receive(fd, &m);
    FUZZ_CHECK(got == 0 || got == 1);
    if (got == 0 || m.kind == TOEDEV_HELLO_QUERY) {
        attach_discard(&m);
        return;
    }
    bench_flows = 32;
    bench_init(&t);
    now = t.now;
    taken = attach_client(&c, &cl, &m) == 0;
    FUZZ_CHECK(taken == answered(host) && taken == (cl.qp != NULL));
    if (taken) {
        FUZZ_CHECK(c.memory <= (uint64_t)o.max_memory_mib << 20);
        bench_run(&t, NS_PER_MS);
        qp_drop(cl.qp);
        bench_run(&t, NS_PER_MS);
        FUZZ_CHECK(t.unused_count == 1);
        attach_free(&c, t.unused[--t.unused_count]);
    }
    FUZZ_CHECK(c.memory == 0 && !c.users);
    bench_free(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_in in = {data, size};
    unsigned who = fuzz_u8(&in) % HEARERS, count = fuzz_u8(&in) % (MOST_FDS + 1), i;
    unsigned before = open_fds();
    uint8_t m[sizeof(struct toedev_welcome) + 8] = {0}, kind[MOST_FDS];
    struct toedev_hello h;
    struct toedev_layout layout = {.total = 4096};
    int fds[MOST_FDS], pair[2];
    size_t n = right_message(who, m);

    for (i = 0; i < count; i++)
        kind[i] = (uint8_t)fuzz_u8(&in);
    n = edit(&in, m, n);
    memcpy(&h, m, sizeof(h));
    if (who == TOED)
        (void)toedev_layout(&h.qp, &layout);
    else if (who == WIRE)
        layout.total = hello_wire_size();
    for (i = 0; i < count; i++)
        fds[i] = descriptor(kind[i], layout.total);
    FUZZ_CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0);
    say(pair[0], m, n, fds, count);
    for (i = 0; i < count; i++)
        close(fds[i]);
    if (who == TOED)
        hello_to_toed(pair[1], pair[0]);
    else if (who == LIBTOE)
        hello_to_libtoe(pair[1]);
    else
        hello_to_wire(pair[1]);
    close(pair[0]);
    close(pair[1]);
    FUZZ_CHECK(open_fds() == before);
    return 0;
}
