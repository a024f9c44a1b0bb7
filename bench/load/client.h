/* SPDX-License-Identifier: Apache-2.0 */
/* client.h - a measurement by one or several threads. */
#ifndef LOAD_CLIENT_H
#define LOAD_CLIENT_H

#include "options.h"

/* Measures and reports. Returns an exit code. */
int load_client(const struct load_options *o);

#endif
