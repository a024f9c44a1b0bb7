/* SPDX-License-Identifier: Apache-2.0 */
/* other_backends.c - netio.c names every back end; the target `wire` has one. */
#include "backend.h"

static struct netio *none(const struct netio_err *err)
{
    netio_err_set(err, "not here");
    return NULL;
}

struct netio *af_xdp_open(const char *args, const struct netio_config *cfg,
                          const struct netio_err *err)
{
    (void)args;
    (void)cfg;
    return none(err);
}

struct netio *tap_open(const char *args, const struct netio_config *cfg,
                       const struct netio_err *err)
{
    (void)args;
    (void)cfg;
    return none(err);
}

struct netio *dpdk_open(const char *args, const struct netio_config *cfg,
                        const struct netio_err *err)
{
    (void)args;
    (void)cfg;
    return none(err);
}

struct netio *pcap_file_open(const char *args, const struct netio_config *cfg,
                             const struct netio_err *err)
{
    (void)args;
    (void)cfg;
    return none(err);
}

struct netio *impair_open(const char *between, const char *inner, const struct netio_config *cfg,
                          const struct netio_err *err)
{
    (void)between;
    (void)inner;
    (void)cfg;
    return none(err);
}

struct netio *tee_open(const char *between, const char *inner, const struct netio_config *cfg,
                       const struct netio_err *err)
{
    (void)between;
    (void)inner;
    (void)cfg;
    return none(err);
}

struct netio *workers_open(const char *between, const char *inner, const struct netio_config *cfg,
                           const struct netio_err *err)
{
    (void)between;
    (void)inner;
    (void)cfg;
    return none(err);
}
