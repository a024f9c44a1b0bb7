/* SPDX-License-Identifier: Apache-2.0 */
/* connect.h - the sockets of a worker. Functions return 0 or an errno. */
#ifndef LOAD_CONNECT_H
#define LOAD_CONNECT_H

#include <stdbool.h>

#include "state.h"

/* Opens a socket and begins to connect it. */
int conn_open(struct worker *w, struct conn *c);
/* Returns the outcome of connecting. */
int conn_connected(struct worker *w, struct conn *c);
/* Switches EPOLLOUT on or off. */
int conn_want_out(struct worker *w, struct conn *c, bool on);
/* Closes the socket, if there is one; reset: by RST. */
void conn_close(struct worker *w, struct conn *c, bool reset);
/* Opens every connection that is to exist before the measurement. Returns -1 after a message. */
int connect_all(struct worker *w);

#endif
