/* SPDX-License-Identifier: Apache-2.0 */
/* notify.h - reports the state of toed to a service manager (sd_notify(3)). */
#ifndef ENGINE_NOTIFY_H
#define ENGINE_NOTIFY_H

/*
 * Sends text (lines VARIABLE=VALUE) to the socket that NOTIFY_SOCKET names: a path, or an abstract
 * name after '@'. Does nothing without NOTIFY_SOCKET. Returns 0, or -1 with the reason logged.
 */
int notify(const char *text);

/* This process serves now: READY=1 with its pid, which a takeover changes, and a status line. */
void notify_ready(const char *status);

/* This process ends, for a reason other than a takeover. */
void notify_stopping(void);

#endif
