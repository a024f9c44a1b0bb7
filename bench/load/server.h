/* SPDX-License-Identifier: Apache-2.0 */
/* server.h - `toehold bench serve`. */
#ifndef LOAD_SERVER_H
#define LOAD_SERVER_H

#include "options.h"

/* Serves until it is interrupted. Returns an exit code. */
int load_server(const struct load_options *o);

#endif
