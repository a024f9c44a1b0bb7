/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dpdk_module.h - the dpdk back end is a module of its own (libtoe_dpdk.so), loaded when a
 * specification names it: a program that does not use DPDK does not load its libraries.
 */
#ifndef TOE_NETIO_DPDK_MODULE_H
#define TOE_NETIO_DPDK_MODULE_H

#include "backend.h"

/* What the module and its loader must agree on: checked when it is loaded. */
#define DPDK_MODULE_ABI                                                                            \
    (2u << 24 | (uint32_t)sizeof(struct netio) << 12 | (uint32_t)sizeof(struct netio_frame))

struct dpdk_module {
    uint32_t abi;
    netio_open_fn *open;
};

#define DPDK_MODULE_SYMBOL "toe_dpdk_module"
extern const struct dpdk_module toe_dpdk_module;

#endif
