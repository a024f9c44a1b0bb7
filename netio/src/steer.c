/* SPDX-License-Identifier: Apache-2.0 */
/*
 * steer.c - loads and attaches the XDP program of bpf/steer.bpf.c.
 *
 * The program is attached by a bpf_link that is never pinned: the kernel detaches it when the last
 * descriptor of the link is closed, also after kill -9.
 */
#include <errno.h>
#include <linux/capability.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "ifctl.h"
#include "steer.h"

#define BUSY_STEP_MS  50u
#define BUSY_LIMIT_MS 3000u
#define STEERED_MAX   16u /* entries of the program's map */

extern const unsigned char steer_program[];
extern const size_t steer_program_size;

struct steer {
    struct steer *next;
    unsigned references;
    unsigned ifindex;
    struct steer_config {
        uint8_t ip[4];
        uint32_t shared;
        uint32_t vlan;
    } config; /* the program's layout */
    struct steer_shared {
        uint64_t dropped;
        uint8_t ports[2][65536]; /* of IPv4, of IPv6 */
    } * state;                   /* the program's own memory; NULL: the address is not shared */
    enum steer_mode asked;
    struct bpf_object *object;
    int program_fd;
    int map_fd;
    int addresses_fd;
    int places_fd;
    struct steered {
        uint8_t addr[16];
        unsigned users; /* sockets that use it; 0: free */
    } ip6[STEERED_MAX]; /* the contents of that map */
    int link_fd;
    int inherited;  /* another process's program is attached until steer_settle() */
    int shared_fds; /* program and maps are another process's (share()) */
    int generic;    /* the mode in use */
    unsigned queues_before, queues_native; /* that receive: before and after attaching */
    char mode[80];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct steer *attached; /* under lock */

int steer_wait_busy(unsigned *waited_ms)
{
    /* In a takeover the predecessor's socket disappears within milliseconds, and connections wait:
     * poll often at first. */
    unsigned ms = *waited_ms < BUSY_STEP_MS ? 2 : BUSY_STEP_MS;
    const struct timespec step = {0, (long)ms * 1000000L};

    if (*waited_ms >= BUSY_LIMIT_MS)
        return 0;
    nanosleep(&step, NULL);
    *waited_ms += ms;
    return 1;
}

/* Suppresses libbpf's own lines on stderr; err has what the user needs. */
static int quiet(enum libbpf_print_level level, const char *format, va_list args)
{
    (void)level;
    (void)format;
    (void)args;
    return 0;
}

/* Maps the program's memory, so it can be written without a system call. Returns 0 or a negative
 * errno. */
static int map_state(struct steer *s, int fd)
{
    void *p = mmap(NULL, sizeof(*s->state), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    if (p == MAP_FAILED)
        return -errno;
    s->state = p;
    return 0;
}

/*
 * Opens the built-in program and loads it into the kernel with the given flags. BPF_F_XDP_HAS_FRAGS
 * (Linux 5.18) declares that it supports frames of several buffers: it reads only the headers,
 * which are in the first buffer. Returns 0 or a negative errno.
 */
static int load_with(struct steer *s, const char *ifname, uint32_t flags)
{
    struct bpf_program *program;
    struct bpf_map *sockets, *rodata, *addresses, *places, *bss;
    int result = -ENOENT;

    s->object = bpf_object__open_mem(steer_program, steer_program_size, NULL);
    if (!s->object)
        return -errno;
    program = bpf_object__find_program_by_name(s->object, "toe_steer");
    sockets = bpf_object__find_map_by_name(s->object, "sockets");
    rodata = bpf_object__find_map_by_name(s->object, ".rodata");
    addresses = bpf_object__find_map_by_name(s->object, "addresses");
    places = bpf_object__find_map_by_name(s->object, "places");
    bss = bpf_object__find_map_by_name(s->object, ".bss");
    if (program && sockets && rodata && addresses && places && bss)
        result = bpf_program__set_flags(program, flags);
    if (result == 0)
        result = bpf_map__set_max_entries(sockets, ifctl_get_most_queues(ifname));
    if (result == 0)
        result = bpf_map__set_initial_value(rodata, &s->config, sizeof(s->config));
    if (result == 0)
        result = bpf_object__load(s->object);
    if (result) {
        bpf_object__close(s->object);
        s->object = NULL;
        return result;
    }
    s->program_fd = bpf_program__fd(program);
    s->map_fd = bpf_map__fd(sockets);
    s->addresses_fd = bpf_map__fd(addresses);
    s->places_fd = bpf_map__fd(places);
    return s->config.shared ? map_state(s, bpf_map__fd(bss)) : 0;
}

/* Returns the name of the first capability that the kernel asks for and this process has not; NULL:
 * it has all. CAP_SYS_ADMIN includes CAP_BPF and CAP_PERFMON. */
static const char *missing_capability(int shared)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2] = {{0}};
    uint64_t has;

    if (syscall(SYS_capget, &head, data) != 0)
        return NULL;
    has = (uint64_t)data[1].effective << 32 | data[0].effective;
    if (!(has >> CAP_NET_ADMIN & 1))
        return "CAP_NET_ADMIN";
    if (has >> CAP_SYS_ADMIN & 1)
        return NULL;
    if (!(has >> CAP_BPF & 1))
        return "CAP_BPF";
    return shared && !(has >> CAP_PERFMON & 1) ? "CAP_PERFMON" : NULL;
}

static int load(struct steer *s, const char *ifname, const struct netio_err *err)
{
    const char *missing;
    int result;

    result = load_with(s, ifname, BPF_F_XDP_HAS_FRAGS);
    if (result == -EINVAL)
        result = load_with(s, ifname, 0);
    if (result == 0)
        return 0;
    missing = missing_capability(s->config.shared);
    if (missing)
        netio_err_set(
            err,
            "af_xdp: the kernel does not take the XDP program (%s): %s is missing; run as "
            "root, or add this capability",
            strerror(-result), missing);
    else
        netio_err_set(err, "af_xdp: the kernel does not take the XDP program (%s)%s",
                      strerror(-result),
                      result == -EPERM ? ": run as root (CAP_NET_ADMIN and CAP_BPF)"
                                       : ": needs Linux 5.9 or newer with CONFIG_XDP_SOCKETS; "
                                         "use tap:IFNAME instead");
    return -1;
}

/* Tries one mode; waits while a predecessor is still attached. Returns 0 or an errno. */
static int try_mode(struct steer *s, const char *ifname, uint32_t flags, unsigned *waited_ms)
{
    LIBBPF_OPTS(bpf_link_create_opts, opts, .flags = flags);
    int fd;

    do {
        s->queues_before = ifctl_get_queues(ifname);
        fd = bpf_link_create(s->program_fd, (int)s->ifindex, BPF_XDP, &opts);
        if (fd >= 0) {
            s->link_fd = fd;
            return 0;
        }
    } while ((fd == -EBUSY || fd == -EEXIST) && steer_wait_busy(waited_ms));
    return -fd;
}

/*
 * Tries native mode. virtio_net then opens further receive queues, one per CPU, for the frames that
 * a program sends, if the device has so many. Its host spreads received frames over these too,
 * while an AF_XDP socket of one cannot send: Linux lets it use the interface's send queues only,
 * which become no more. Returns 0 or an errno; ECHRNG: there are such queues, so it was detached.
 */
static int try_native(struct steer *s, const char *ifname, unsigned *waited_ms)
{
    int error = try_mode(s, ifname, XDP_FLAGS_DRV_MODE, waited_ms);

    s->queues_native = error ? 0 : ifctl_get_queues(ifname);
    if (error || s->queues_native <= s->queues_before)
        return error;
    (void)bpf_link_detach(s->link_fd);
    close(s->link_fd);
    s->link_fd = -1;
    return ECHRNG;
}

/* With so many queues in use the device has no room for the further ones. */
static void set_queues_error(const struct steer *s, const char *ifname, const struct netio_err *err)
{
    unsigned most = ifctl_get_most_queues(ifname);
    unsigned more = s->queues_native - s->queues_before, enough = most - more + 1;

    netio_err_set(err,
                  "af_xdp: in native mode interface %s opens %u more receive queue%s, which cannot "
                  "send: 'ethtool -L %s combined %u' first, and as many engines; or use "
                  "mode=generic",
                  ifname, more, more == 1 ? "" : "s", ifname, enough);
}

static int link_up(struct steer *s, const char *ifname, const struct netio_err *err)
{
    unsigned waited_ms = 0;
    int native_error = 0;
    int error = 0;

    if (s->asked != STEER_GENERIC) {
        error = native_error = try_native(s, ifname, &waited_ms);
        snprintf(s->mode, sizeof(s->mode), "native");
    }
    if (s->asked == STEER_GENERIC ||
        (s->asked == STEER_AUTO && error && error != EBUSY && error != EEXIST && error != EPERM)) {
        error = try_mode(s, ifname, XDP_FLAGS_SKB_MODE, &waited_ms);
        s->generic = 1;
        snprintf(s->mode, sizeof(s->mode), "generic");
        if (native_error)
            snprintf(s->mode, sizeof(s->mode), "generic (no native: %s)",
                     native_error == ECHRNG ? "it opens queues that cannot send"
                                            : strerror(native_error));
    }
    if (!error)
        return 0;
    if (error == ECHRNG)
        set_queues_error(s, ifname, err);
    else if (error == EBUSY || error == EEXIST)
        netio_err_set(err,
                      "af_xdp: interface %s already has an XDP program: end the other user, or "
                      "see it with 'ip link show %s' and remove it with 'ip link set %s xdp off'",
                      ifname, ifname, ifname);
    else if (error == EPERM)
        netio_err_set(err, "af_xdp: no right to attach to %s: run as root (CAP_NET_ADMIN)", ifname);
    else
        netio_err_set(err, "af_xdp: interface %s does not take an XDP program in %s mode (%s)%s",
                      ifname, s->asked == STEER_NATIVE ? "native" : "generic", strerror(error),
                      s->asked == STEER_NATIVE ? ": use mode=generic or mode=auto" : "");
    return -1;
}

/* Takes over the link. The program stays attached; only its mode must be found out. */
static void link_inherit(struct steer *s, int link)
{
    LIBBPF_OPTS(bpf_xdp_query_opts, is);

    s->link_fd = link;
    s->inherited = 1;
    s->generic = bpf_xdp_query((int)s->ifindex, 0, &is) == 0 && is.attach_mode == XDP_ATTACHED_SKB;
    snprintf(s->mode, sizeof(s->mode), s->generic ? "generic" : "native");
}

int steer_link(const struct steer *s)
{
    return s->link_fd;
}

int steer_settle(struct steer *s, const struct netio_err *err)
{
    int result;

    if (!s->inherited)
        return 0;
    result = bpf_link_update(s->link_fd, s->program_fd, NULL);
    if (result) {
        netio_err_set(err, "af_xdp: the XDP program on the interface cannot be replaced: %s",
                      strerror(-result));
        return -1;
    }
    s->inherited = 0;
    return 0;
}

/* ---- a program that another process has attached ---- */

/* Returns a descriptor of the interface's link and the number of its program, or a negative errno.
 * Links of all network namespaces are listed, and interfaces have the same numbers in each; only
 * the program is unique. */
static int find_link(unsigned ifindex, uint32_t *program)
{
    struct bpf_link_info info;
    uint32_t id = 0, size;
    int fd;

    if (bpf_xdp_query_id((int)ifindex, 0, program) != 0 || !*program)
        return -ENOENT;
    while (bpf_link_get_next_id(id, &id) == 0) {
        fd = bpf_link_get_fd_by_id(id);
        if (fd < 0)
            continue; /* it has ended, or needs CAP_SYS_ADMIN */
        memset(&info, 0, sizeof(info));
        size = sizeof(info);
        if (bpf_obj_get_info_by_fd(fd, &info, &size) == 0 && info.type == BPF_LINK_TYPE_XDP &&
            info.prog_id == *program)
            return fd;
        close(fd);
    }
    return errno == EPERM ? -EPERM : -ENOENT;
}

/* Takes a descriptor of one of the program's maps, if it is needed. */
static void take_map(struct steer *s, uint32_t id)
{
    int fd = bpf_map_get_fd_by_id(id);
    struct bpf_map_info info;
    uint32_t size = sizeof(info);

    memset(&info, 0, sizeof(info));
    if (fd < 0)
        return;
    if (bpf_obj_get_info_by_fd(fd, &info, &size) == 0 && strcmp(info.name, "sockets") == 0 &&
        s->map_fd < 0)
        s->map_fd = fd;
    else if (strcmp(info.name, "addresses") == 0 && s->addresses_fd < 0)
        s->addresses_fd = fd;
    else
        close(fd);
}

/* Takes descriptors of link, program and maps, which suffice to enter a socket later without any
 * rights (Linux 5.19). */
static int share(struct steer *s, const struct netio_err *err)
{
    uint32_t ids[8] = {0}, id = 0, size = sizeof(struct bpf_prog_info), i;
    struct bpf_prog_info info = {.nr_map_ids = 8, .map_ids = (uint64_t)(uintptr_t)ids};
    int link = find_link(s->ifindex, &id);

    s->shared_fds = 1;
    s->program_fd = link < 0 ? link : bpf_prog_get_fd_by_id(id);
    if (s->program_fd < 0 || bpf_obj_get_info_by_fd(s->program_fd, &info, &size) != 0)
        info.nr_map_ids = 0;
    for (i = 0; i < info.nr_map_ids && i < 8; i++)
        take_map(s, ids[i]);
    if (link >= 0) {
        link_inherit(s, link);
        s->inherited = 0;
    }
    if (s->map_fd >= 0 && s->addresses_fd >= 0)
        return 0;
    netio_err_set(err, "af_xdp: cannot share the XDP program that another worker has attached: %s",
                  link < 0 ? strerror(-link) : "it is not Toehold's");
    return -1;
}

static void close_shared(const struct steer *s)
{
    const int fd[] = {s->program_fd, s->map_fd, s->addresses_fd};
    unsigned i;

    for (i = 0; s->shared_fds && i < sizeof(fd) / sizeof(fd[0]); i++)
        if (fd[i] >= 0)
            close(fd[i]);
}

static void free_steer(struct steer *s)
{
    close_shared(s);
    if (s->link_fd >= 0)
        close(s->link_fd);
    if (s->state)
        munmap(s->state, sizeof(*s->state));
    bpf_object__close(s->object);
    free(s);
}

static struct steer *attach_new(const char *ifname, const struct steer_config *config,
                                enum steer_mode mode, int link, int standby,
                                const struct netio_err *err)
{
    const struct rlimit no_limit = {RLIM_INFINITY, RLIM_INFINITY};
    struct steer *s = calloc(1, sizeof(*s));
    int failed;

    if (!s) {
        netio_err_set(err, "af_xdp: out of memory");
        return NULL;
    }
    /* Kernels before 5.11 charge maps to RLIMIT_MEMLOCK; all kernels charge the frames of AF_XDP to
     * it. Without the privilege to raise it, the limit may still be enough. */
    (void)setrlimit(RLIMIT_MEMLOCK, &no_limit);
    libbpf_set_print(quiet);
    s->ifindex = if_nametoindex(ifname);
    s->config = *config;
    s->asked = mode;
    s->references = 1;
    s->link_fd = s->program_fd = s->map_fd = s->addresses_fd = -1;
    if (link >= 0)
        link_inherit(s, link);
    if (standby)
        failed = share(s, err);
    else
        failed = load(s, ifname, err) || (link < 0 && link_up(s, ifname, err));
    if (failed) {
        free_steer(s);
        return NULL;
    }
    s->next = attached;
    attached = s;
    return s;
}

struct steer *steer_attach(const char *ifname, const struct netio_config *cfg, enum steer_mode mode,
                           const struct netio_err *err)
{
    struct steer_config config = {.shared = cfg->shared != 0, .vlan = cfg->vlan};
    unsigned ifindex = if_nametoindex(ifname);
    struct steer *s;

    memcpy(config.ip, cfg->ip, sizeof(config.ip));
    pthread_mutex_lock(&lock);
    for (s = attached; s && s->ifindex != ifindex; s = s->next)
        ;
    if (!s) {
        s = attach_new(ifname, &config, mode, cfg->heir - 1, cfg->standby != 0, err);
    } else if (memcmp(&s->config, &config, sizeof(config)) != 0 || s->asked != mode) {
        netio_err_set(err,
                      "af_xdp: interface %s is already open in this process with another "
                      "address, VLAN or mode: use the same for all its queues",
                      ifname);
        s = NULL;
    } else {
        s->references++;
    }
    pthread_mutex_unlock(&lock);
    return s;
}

void steer_detach(struct steer *s)
{
    struct steer **p;

    pthread_mutex_lock(&lock);
    if (--s->references == 0) {
        for (p = &attached; *p != s; p = &(*p)->next)
            ;
        *p = s->next;
        free_steer(s);
    }
    pthread_mutex_unlock(&lock);
}

static struct steered *find_steered(struct steer *s, const uint8_t a[16])
{
    struct steered *free_one = NULL;
    unsigned i;

    for (i = 0; i < STEERED_MAX; i++) {
        if (s->ip6[i].users && memcmp(s->ip6[i].addr, a, 16) == 0)
            return &s->ip6[i];
        if (!s->ip6[i].users)
            free_one = &s->ip6[i];
    }
    return free_one;
}

static void want(struct steer *s, const uint8_t a[16])
{
    static const uint8_t here = 1;
    struct steered *e = find_steered(s, a);

    if (!e)
        return; /* the map has no room either */
    if (e->users++)
        return;
    memcpy(e->addr, a, 16);
    (void)bpf_map_update_elem(s->addresses_fd, a, &here, BPF_ANY);
}

static void unwant(struct steer *s, const uint8_t a[16])
{
    struct steered *e = find_steered(s, a);

    if (e && e->users && --e->users == 0)
        (void)bpf_map_delete_elem(s->addresses_fd, a);
}

/* Each socket has its own addresses, and another socket may use one that this one adds or removes,
 * so they are counted. */
void steer_set_ip6(struct steer *s, const uint8_t before[][16], unsigned before_n,
                   const uint8_t addrs[][16], unsigned count)
{
    unsigned i;

    pthread_mutex_lock(&lock);
    for (i = 0; i < count; i++)
        want(s, addrs[i]);
    for (i = 0; i < before_n; i++)
        unwant(s, before[i]);
    pthread_mutex_unlock(&lock);
}

void steer_drop_ip6(struct steer *s, const uint8_t before[][16], unsigned before_n)
{
    int last;

    pthread_mutex_lock(&lock);
    last = s->references == 1;
    pthread_mutex_unlock(&lock);
    if (!last)
        steer_set_ip6(s, before, before_n, NULL, 0);
}

void steer_take_port(struct steer *s, int ip6, uint16_t port, unsigned how)
{
    if (s->state)
        __atomic_store_n(&s->state->ports[!!ip6][port], (uint8_t)how, __ATOMIC_RELEASE);
}

int steer_take_place(const struct steer *s, const uint8_t addr[16], uint16_t port, int on)
{
    static const uint8_t here = 1;
    struct {
        uint8_t addr[16];
        uint8_t port[2]; /* in network byte order */
    } key;

    memcpy(key.addr, addr, sizeof(key.addr));
    key.port[0] = (uint8_t)(port >> 8);
    key.port[1] = (uint8_t)port;
    if (on)
        return bpf_map_update_elem(s->places_fd, &key, &here, BPF_ANY) ? -1 : 0;
    (void)bpf_map_delete_elem(s->places_fd, &key);
    return 0;
}

uint64_t steer_dropped(const struct steer *s)
{
    return s->state ? __atomic_load_n(&s->state->dropped, __ATOMIC_RELAXED) : 0;
}

/* Returns whether the link is still on the interface. A privileged process can detach a link that
 * stays open (BPF_LINK_DETACH). */
static int is_attached(const struct steer *s)
{
    struct bpf_link_info info;
    uint32_t size = sizeof(info);

    memset(&info, 0, sizeof(info));
    return bpf_obj_get_info_by_fd(s->link_fd, &info, &size) != 0 || info.xdp.ifindex == s->ifindex;
}

/* Attaches in the same mode again, as the frame memory was sized for it. */
static int attach_again(struct steer *s, const struct netio_err *text)
{
    LIBBPF_OPTS(bpf_link_create_opts, opts,
                .flags = s->generic ? XDP_FLAGS_SKB_MODE : XDP_FLAGS_DRV_MODE);
    int fd = bpf_link_create(s->program_fd, (int)s->ifindex, BPF_XDP, &opts);

    if (fd < 0) {
        netio_err_set(
            text,
            "another process has detached toed's XDP program from interface %u, and it cannot be "
            "attached again (%s)%s",
            s->ifindex, strerror(-fd),
            fd == -EBUSY || fd == -EEXIST ? ": another program is there" : "");
        return -1;
    }
    close(s->link_fd);
    s->link_fd = fd;
    netio_err_set(
        text, "another process has detached toed's XDP program from interface %u: attached again",
        s->ifindex);
    return 1;
}

int steer_tend(struct steer *s, const struct netio_err *text)
{
    int result = 0;

    pthread_mutex_lock(&lock);
    if (!is_attached(s))
        result = attach_again(s, text);
    pthread_mutex_unlock(&lock);
    return result;
}

int steer_enter(const struct steer *s, uint32_t queue, int fd)
{
    return bpf_map_update_elem(s->map_fd, &queue, &fd, BPF_ANY) ? errno : 0;
}

int steer_is_generic(const struct steer *s)
{
    return s->generic;
}

const char *steer_mode_text(const struct steer *s)
{
    return s->mode;
}
