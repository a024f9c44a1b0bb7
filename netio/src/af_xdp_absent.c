/* SPDX-License-Identifier: Apache-2.0 */
/*
 * af_xdp_absent.c - replaces af_xdp.c in a build without libxdp, libbpf or clang.
 */
#include "backend.h"

struct netio *af_xdp_open(const char *args, const struct netio_config *cfg,
                          const struct netio_err *err)
{
    (void)cfg;
    netio_err_set(err,
                  "af_xdp:%s: this build has no AF_XDP (libxdp, libbpf or clang was missing when "
                  "it was configured): use tap:IFNAME, or install them and configure again",
                  args);
    return NULL;
}
