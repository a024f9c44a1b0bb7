/* SPDX-License-Identifier: Apache-2.0 */
/* module.h - the source "registers", a measuring module of gateware/. */
#ifndef TOE_CLI_MODULE_H
#define TOE_CLI_MODULE_H

#include <stdbool.h>

#include "measure.h"

/* Measures until it is done. Returns false with the reason by rtt_fail(). */
bool module_run(struct rtt *r);

#endif
