/* SPDX-License-Identifier: Apache-2.0 */
/* harness.c - shared by the tests of libtoe (harness.h). */
#include <sys/ioctl.h>

#include "../../device/tests/alone.h"
#include "../../device/tests/seed.h"
#include "harness.h"
#include "reflect.h"

static char dir[64], path[96];
static pid_t toe = -1;
static uint32_t seed;

const char *harness_path(void)
{
    return path;
}

pid_t harness_toe(void)
{
    return toe;
}

unsigned harness_engines(void)
{
    const char *engines = getenv("LOOPTOE_ENGINES");

    return engines ? (unsigned)atoi(engines) : 1;
}

bool harness_inline(void)
{
    return getenv("HARNESS_ENGINE") != NULL;
}

/* The engine is in this process, on a loop-back wire. */
static void new_wire(const char *engine)
{
    char wire[128], options[300];

    snprintf(wire, sizeof(wire), "%s.wire", path);
    toe = reflect_start(wire);
    snprintf(options, sizeof(options),
             "--netif wire:%s,side=b --ip " LOOPTOE_IP "/24 --linger-ms 20 --socket %s", wire,
             path);
    setenv("TOEHOLD_ENGINE", engine, 1);
    setenv("TOEHOLD_INLINE_OPTIONS", options, 1);
}

void harness_new_toe(void)
{
    const char *engine = getenv("HARNESS_ENGINE");

    if (engine) {
        new_wire(engine);
        return;
    }
    toe = looptoe_start(path, harness_engines());
}

/* Ports must not collide with those of concurrent tests. */
static int isolate(void)
{
    static int done;

    if (!done)
        done = move_alone_as_any_user();
    return done ? 0 : -1;
}

int harness_setup(void **state)
{
    char text[16];

    (void)state;
    seed = (uint32_t)seed_of_run(1, UINT32_MAX);
    snprintf(dir, sizeof(dir), "/tmp/libtoe-test-XXXXXX");
    if (isolate() < 0 || !mkdtemp(dir)) {
        perror("test set-up");
        return -1;
    }
    snprintf(path, sizeof(path), "%s/toed.sock", dir);
    setenv("TOEHOLD_SOCKET", path, 1);
    snprintf(text, sizeof(text), "%d", RX_SIZE);
    setenv("TOEHOLD_RX_SIZE", text, 1);
    snprintf(text, sizeof(text), "%d", TX_SIZE);
    setenv("TOEHOLD_TX_SIZE", text, 1);
    snprintf(text, sizeof(text), "%d", SLOTS);
    setenv("TOEHOLD_SLOTS", text, 1);
    harness_new_toe();
    return 0;
}

int harness_teardown(void **state)
{
    (void)state;
    if (toe > 0) {
        harness_slots(0);
        toe_terminate();
        looptoe_kill(toe);
    }
    toe_terminate();
    toe = -1;
    unlink(path);
    if (harness_inline()) {
        char wire[128];

        snprintf(wire, sizeof(wire), "%s.wire", path);
        unlink(wire);
    }
    rmdir(dir);
    return 0;
}

uint32_t harness_random(void)
{
    if (seed == 0)
        seed = 1;
    seed ^= seed << 13;
    seed ^= seed >> 17;
    seed ^= seed << 5;
    return seed;
}

struct sockaddr_in harness_address(const char *ip, uint16_t port)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port)};

    inet_pton(AF_INET, ip, &a.sin_addr);
    return a;
}

int harness_listener(uint16_t port)
{
    struct sockaddr_in a = harness_address(LOOPTOE_IP, port);
    int fd = toe_socket(AF_INET, SOCK_STREAM, 0), on = 1;

    assert_true(fd >= 0);
    assert_int_equal(toe_setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)), 0);
    assert_int_equal(toe_bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
    assert_int_equal(toe_listen(fd, 64), 0);
    assert_int_equal(toe_is_offloaded(fd), 1);
    return fd;
}

int harness_connect(uint16_t port)
{
    struct sockaddr_in a = harness_address(LOOPTOE_PEER_IP, port);
    int fd = toe_socket(AF_INET, SOCK_STREAM, 0);

    assert_true(fd >= 0);
    assert_int_equal(toe_connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
    return fd;
}

int harness_connect_async(uint16_t port)
{
    struct sockaddr_in a = harness_address(LOOPTOE_PEER_IP, port);
    int fd = toe_socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

    assert_true(fd >= 0);
    assert_int_equal(toe_connect(fd, (struct sockaddr *)&a, sizeof(a)), -1);
    assert_int_equal(errno, EINPROGRESS);
    return fd;
}

void harness_pair(int fd[2])
{
    int l = harness_listener(7000);

    fd[0] = harness_connect(7000);
    fd[1] = toe_accept(l, NULL, NULL);
    assert_true(fd[1] >= 0);
    assert_int_equal(toe_close(l), 0);
}

void harness_nonblock(int fd)
{
    assert_int_equal(toe_fcntl(fd, F_SETFL, O_NONBLOCK), 0);
}

short harness_wait(int fd, short events)
{
    struct pollfd p = {.fd = fd, .events = events};

    assert_int_equal(toe_poll(&p, 1, HARNESS_PATIENCE_MS), 1);
    return p.revents;
}

static void rest(void)
{
    static const struct timespec ms = {0, 1000000};

    nanosleep(&ms, NULL);
}

void harness_await_sleep(pid_t tid)
{
    char name[64], line[512], state;

    snprintf(name, sizeof(name), "/proc/self/task/%d/stat", (int)tid);
    for (int i = 0; i < HARNESS_PATIENCE_MS; i++, rest()) {
        FILE *f = fopen(name, "re");

        assert_non_null(f);
        assert_non_null(fgets(line, sizeof(line), f));
        fclose(f);
        assert_int_equal(sscanf(strrchr(line, ')'), ") %c", &state), 1);
        if (state == 'S')
            return;
    }
    fail_msg("thread %d does not sleep", (int)tid);
}

static int queued(int fd, unsigned long request)
{
    int n = -1;

    assert_int_equal(toe_ioctl(fd, request, &n), 0);
    return n;
}

void harness_await_bytes(int fd, int n)
{
    for (int i = 0; i < HARNESS_PATIENCE_MS && queued(fd, FIONREAD) != n; i++)
        rest();
    assert_int_equal(queued(fd, FIONREAD), n);
}

void harness_await_acked(int fd)
{
    for (int i = 0; i < HARNESS_PATIENCE_MS && queued(fd, TIOCOUTQ); i++)
        rest();
    assert_int_equal(queued(fd, TIOCOUTQ), 0);
}

void harness_fill_peer(int fd)
{
    static const char block[512];

    for (size_t sent = 0; sent < RX_SIZE; sent += sizeof(block)) {
        harness_wait(fd, POLLOUT);
        assert_int_equal(toe_send(fd, block, sizeof(block), MSG_DONTWAIT), sizeof(block));
    }
    harness_await_acked(fd);
}

void harness_slots(unsigned want)
{
    struct looptoe_usage u;
    struct timespec ts = {0, 2000000};
    struct epoll_event e;
    int ep = toe_epoll_create1(0);

    for (int i = 0; i < HARNESS_PATIENCE_MS / 2; i++) {
        toe_epoll_wait(ep, &e, 1, 0); /* lets libtoe see final events and release */
        if (harness_inline()) {       /* the engine is in this process: no other one to query */
            toe_close(ep);
            return;
        }
        if (looptoe_usage(path, &u) == 0 && u.slots_used == want) {
            toe_close(ep);
            return;
        }
        nanosleep(&ts, NULL);
    }
    fail_msg("the TOE holds %u slots, not %u", u.slots_used, want);
}
