/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire_link.c - how two ends of a wire connect, by a Unix socket at a path.
 *
 * Bytes on the connection wake the sleeper, not an eventfd: both sides would share the eventfd's
 * open file, and the other side could make it blocking at any time.
 */
#define _GNU_SOURCE /* accept4, memfd_create */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "wire_link.h"

#define ANSWER_MS 200
#define DRAIN_MAX 64
/* Calls for which a refused side b waits before it retries: each attempt costs side a new memory.
 */
#define REFUSED_CALLS 20

/* The first message of side a, with the memory attached when status is WIRE_LINKED. */
struct hello {
    uint32_t magic;
    uint32_t status; /* enum wire_state */
    uint32_t mtu;
};

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static int watch(struct wire_link *l, int fd)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};

    return epoll_ctl(l->epoll_fd, EPOLL_CTL_ADD, fd, &event);
}

static int make_address(const char *path, struct sockaddr_un *address)
{
    memset(address, 0, sizeof(*address));
    address->sun_family = AF_UNIX;
    memcpy(address->sun_path, path, strlen(path) + 1);
    return socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

void wire_link_drop(struct wire_link *l)
{
    close_fd(&l->control_fd);
    if (l->shm)
        munmap(l->shm, wire_shm_size(l->mtu));
    l->shm = NULL;
    l->peer_gone = 0;
    l->state = WIRE_UNLINKED;
}

static struct wire_shm *map(int memfd, uint32_t mtu)
{
    void *shm =
        mmap(NULL, wire_shm_size(mtu), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, memfd, 0);

    return shm == MAP_FAILED ? NULL : shm;
}

/* ---- side a ---- */

static int send_hello(int fd, uint32_t status, uint32_t mtu, int memfd)
{
    struct hello hello = {WIRE_MAGIC, status, mtu};
    struct iovec iov = {&hello, sizeof(hello)};
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};

    if (memfd >= 0) {
        struct cmsghdr *c;

        memset(&control, 0, sizeof(control));
        msg.msg_control = control.bytes;
        msg.msg_controllen = sizeof(control.bytes);
        c = CMSG_FIRSTHDR(&msg);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(c), &memfd, sizeof(int));
    }
    return sendmsg(fd, &msg, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)sizeof(hello) ? 0 : -1;
}

/* Offers the link with new memory, so an earlier peer's data is neither visible nor changed by it.
 * The memory is sealed, so the other side cannot shrink it in use (SIGBUS). */
static int offer_link(struct wire_link *l, int fd)
{
    int memfd = memfd_create("toehold-wire", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    struct wire_shm *shm = NULL;

    if (memfd < 0)
        return -1;
    if (ftruncate(memfd, (off_t)wire_shm_size(l->mtu)) == 0 &&
        fcntl(memfd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
        shm = map(memfd, l->mtu);
    if (!shm || send_hello(fd, WIRE_LINKED, l->mtu, memfd) || watch(l, fd)) {
        if (shm)
            munmap(shm, wire_shm_size(l->mtu));
        close(memfd);
        return -1;
    }
    close(memfd);
    l->shm = shm;
    l->control_fd = fd;
    l->state = WIRE_LINKED;
    return 0;
}

static int accept_peer(struct wire_link *l)
{
    int fd = accept4(l->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

    if (fd < 0)
        return 0;
    if (l->state == WIRE_LINKED) {
        (void)send_hello(fd, WIRE_BUSY, l->mtu, -1);
        close(fd);
        return 0;
    }
    if (offer_link(l, fd)) {
        close(fd);
        return 0;
    }
    return 1;
}

/* Opens PATH.lock. Never creates a file through a link that the owner of the directory has put
 * there. Returns -1 with errno. */
static int open_lock(const char *name)
{
    int fd = open(name, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    struct stat st;

    if (fd >= 0 && (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))) {
        close(fd);
        errno = EEXIST;
        return -1;
    }
    return fd;
}

/* Locks PATH.lock, whose holder is side a. The file is removed at the end, so the lock may be on a
 * file that is no longer at its path: then retries with the file that is. Returns 1 when another
 * process holds the lock.
 */
static int take_lock(struct wire_link *l)
{
    char name[WIRE_PATH_MAX + 8];
    struct stat held, named;

    snprintf(name, sizeof(name), "%s.lock", l->path);
    for (;;) {
        l->lock_fd = open_lock(name);
        if (l->lock_fd < 0)
            return -1;
        if (flock(l->lock_fd, LOCK_EX | LOCK_NB)) {
            int result = errno == EWOULDBLOCK ? 1 : -1;

            close_fd(&l->lock_fd);
            return result;
        }
        if (fstat(l->lock_fd, &held) == 0 && lstat(name, &named) == 0 &&
            held.st_ino == named.st_ino && held.st_dev == named.st_dev)
            return 0;
        close_fd(&l->lock_fd);
    }
}

static int listen_at(struct wire_link *l, const struct netio_err *err)
{
    struct sockaddr_un address;
    struct stat st;

    if (lstat(l->path, &st) == 0) {
        if (!S_ISSOCK(st.st_mode)) {
            netio_err_set(err, "wire: %s exists and is not a socket: name another path", l->path);
            return -1;
        }
        unlink(l->path); /* left by a killed side a, as we hold the lock */
    }
    l->listen_fd = make_address(l->path, &address);
    if (l->listen_fd < 0 ||
        bind(l->listen_fd, (const struct sockaddr *)&address, sizeof(address)) ||
        listen(l->listen_fd, 4) || watch(l, l->listen_fd)) {
        netio_err_set(err, "wire: cannot listen at %s: %s", l->path, strerror(errno));
        return -1;
    }
    if (lstat(l->path, &st) == 0) {
        l->dev = st.st_dev;
        l->ino = st.st_ino;
    }
    return 0;
}

/* ---- side b ---- */

/* Returns the descriptor that came with the message, or -1 unless there is exactly one. Closes all
 * further ones: control messages are padded, so the kernel fits two descriptors into the room for
 * one. */
static int received_fd(struct msghdr *msg)
{
    struct cmsghdr *c = CMSG_FIRSTHDR(msg);
    size_t count, i;
    int fd = -1;

    if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
        return -1;
    count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (i = 0; i < count; i++) {
        memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
        if (count > 1)
            close(fd);
    }
    return count == 1 ? fd : -1;
}

/* Returns whether the memory is sealed against shrinking and has the required size, so that reading
 * it cannot fault. */
static int is_sound(int memfd, uint32_t mtu)
{
    int seals = fcntl(memfd, F_GET_SEALS);
    struct stat st;

    return seals >= 0 && (seals & F_SEAL_SHRINK) && fstat(memfd, &st) == 0 &&
           (uint64_t)st.st_size == wire_shm_size(mtu);
}

static enum wire_state take_hello(struct wire_link *l, const struct hello *hello, int memfd)
{
    if (hello->magic != WIRE_MAGIC)
        return WIRE_UNLINKED;
    if (hello->mtu != l->mtu) {
        l->peer_mtu = hello->mtu;
        return WIRE_MISMATCH;
    }
    if (hello->status == WIRE_BUSY)
        return WIRE_BUSY;
    if (memfd < 0 || !is_sound(memfd, l->mtu))
        return WIRE_UNLINKED;
    l->shm = map(memfd, l->mtu);
    return l->shm ? WIRE_LINKED : WIRE_UNLINKED;
}

/* Reads side a's answer if it has arrived. Returns 1 when the link is up. */
static int receive_hello(struct wire_link *l)
{
    struct hello hello;
    struct iovec iov = {&hello, sizeof(hello)};
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct msghdr msg = {.msg_iov = &iov,
                         .msg_iovlen = 1,
                         .msg_control = control.bytes,
                         .msg_controllen = sizeof(control.bytes)};
    ssize_t len = recvmsg(l->pending_fd, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    int memfd;

    if (len < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    memfd = len >= 0 ? received_fd(&msg) : -1;
    l->state = len == (ssize_t)sizeof(hello) ? take_hello(l, &hello, memfd) : WIRE_UNLINKED;
    if (memfd >= 0)
        close(memfd);
    if (l->state != WIRE_LINKED) {
        close_fd(&l->pending_fd);
        l->away = REFUSED_CALLS;
        return 0;
    }
    l->control_fd = l->pending_fd;
    l->pending_fd = -1;
    return 1;
}

/* Returns 0 when connected or when side a may still come, -1 with errno otherwise. */
static int connect_peer(struct wire_link *l)
{
    struct sockaddr_un address;
    int fd = make_address(l->path, &address);

    if (fd < 0)
        return -1;
    if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) || watch(l, fd)) {
        int error = errno;

        close(fd);
        errno = error;
        return error == ENOENT || error == ECONNREFUSED || error == EAGAIN ? 0 : -1;
    }
    l->pending_fd = fd;
    return 0;
}

static int open_b(struct wire_link *l, const struct netio_err *err)
{
    struct pollfd p = {.events = POLLIN};

    if (connect_peer(l)) {
        netio_err_set(err, "wire: cannot connect to %s: %s", l->path, strerror(errno));
        return -1;
    }
    if (l->pending_fd < 0)
        return 0;
    p.fd = l->pending_fd;
    if (poll(&p, 1, ANSWER_MS) > 0)
        (void)receive_hello(l);
    if (l->state == WIRE_BUSY)
        netio_err_set(err, "wire: %s has both its ends already: end one or name another path",
                      l->path);
    else if (l->state == WIRE_MISMATCH)
        netio_err_set(err, "wire: the other end at %s has MTU %u, this one %u: give both the same",
                      l->path, l->peer_mtu, l->mtu);
    else
        return 0;
    return -1;
}

/* ---- both ---- */

int wire_link_open(struct wire_link *l, const char *path, enum wire_side side, uint32_t mtu,
                   const struct netio_err *err)
{
    int result;

    memset(l, 0, sizeof(*l));
    l->lock_fd = l->listen_fd = l->control_fd = l->pending_fd = -1;
    l->mtu = mtu;
    l->side = side;
    l->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (!*path || strlen(path) >= sizeof(l->path)) {
        netio_err_set(err, "wire: '%s' must be a path of 1 to %d characters", path,
                      WIRE_PATH_MAX - 1);
        return -1;
    }
    memcpy(l->path, path, strlen(path) + 1);
    if (l->epoll_fd < 0) {
        netio_err_set(err, "wire: no descriptor: %s", strerror(errno));
        return -1;
    }
    if (side == WIRE_B)
        return open_b(l, err);
    result = take_lock(l);
    if (result < 0) {
        netio_err_set(err, "wire: cannot create %s.lock: %s", path, strerror(errno));
        return -1;
    }
    if (result == 0) {
        l->side = WIRE_A;
        return listen_at(l, err);
    }
    if (side == WIRE_A) {
        netio_err_set(err, "wire: another process is side a at %s: end it or use side=b", path);
        return -1;
    }
    l->side = WIRE_B;
    return open_b(l, err);
}

/* Unlinks the file at a path if it is the one that this side has made. */
static void unlink_own(const char *path, dev_t dev, ino_t ino)
{
    struct stat st;

    if (lstat(path, &st) == 0 && st.st_dev == dev && st.st_ino == ino)
        unlink(path);
}

void wire_link_close(struct wire_link *l)
{
    char name[WIRE_PATH_MAX + 8];
    struct stat st;

    wire_link_drop(l);
    close_fd(&l->pending_fd);
    if (l->listen_fd >= 0)
        unlink_own(l->path, l->dev, l->ino);
    close_fd(&l->listen_fd);
    if (l->lock_fd >= 0 && fstat(l->lock_fd, &st) == 0) {
        snprintf(name, sizeof(name), "%s.lock", l->path);
        unlink_own(name, st.st_dev, st.st_ino);
    }
    close_fd(&l->lock_fd);
    close_fd(&l->epoll_fd);
}

/* Consumes wake-ups. Returns 1 when the other side is gone. */
static int drain_control(struct wire_link *l)
{
    char byte[8];
    int i;

    for (i = 0; i < DRAIN_MAX; i++) {
        ssize_t len = recv(l->control_fd, byte, sizeof(byte), MSG_DONTWAIT);

        if (len < 0 && (errno == EAGAIN || errno == EINTR))
            return 0;
        if (len <= 0)
            return 1;
    }
    return 0;
}

int wire_link_service(struct wire_link *l)
{
    if (l->control_fd >= 0 && drain_control(l))
        l->peer_gone = 1;
    if (l->peer_gone)
        return 0;
    if (l->side == WIRE_A)
        return accept_peer(l);
    if (l->away)
        l->away--;
    else if (l->state != WIRE_LINKED && l->pending_fd < 0)
        (void)connect_peer(l);
    return l->pending_fd >= 0 && receive_hello(l);
}

void wire_link_wake_peer(const struct wire_link *l)
{
    /* EAGAIN: enough wake-ups are queued. wire_link_service() detects a dead peer. */
    (void)send(l->control_fd, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}
