/* SPDX-License-Identifier: Apache-2.0 */
/*
 * workers_file.h - the file behind the shared memory of the workers of one address. Two of its
 * bytes are locked (F_OFD_SETLK): the first by a worker that joins or leaves, the second by each
 * that lives. The kernel releases a lock with its process.
 */
#ifndef TOE_NETIO_WORKERS_FILE_H
#define TOE_NETIO_WORKERS_FILE_H

#include "backend.h"

/* Opens the file, which is created if it is missing, and locks it for joining: waits for others, at
 * most ten seconds. Returns a descriptor, or -1 with a sentence. */
int workers_file_join(const char *path, const struct netio_err *err);
/* Marks this process as living, and lets others join. */
void workers_file_live(int fd);
/* Removes the file if no other process lives; without the right to do so it becomes empty. */
void workers_file_remove(const char *path, int fd);
/* Removes what killed workers have left: files whose paths differ from this one only in what
 * follows the last dot, that belong to this user, and that no living process has. */
void workers_file_sweep(const char *path);
/* Writes a sentence about the file. Returns -1. */
int workers_file_refuse(const char *path, const struct netio_err *err, const char *why);

#endif
