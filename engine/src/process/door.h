/* SPDX-License-Identifier: Apache-2.0 */
/*
 * door.h - a thread that keeps the rights of the start, for the one action that needs them after
 * the engines have started: making the control socket. It ends with that action, before any program
 * can attach.
 */
#ifndef ENGINE_DOOR_H
#define ENGINE_DOOR_H

#include <pthread.h>

struct door {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t asked;
    int has_thread, has_action;
    void (*action)(void *arg); /* NULL: none, the thread only ends */
    void *arg;
};

/* Starts the thread, with the rights of the caller. Returns 0 or an errno. */
int door_start(struct door *d);
/* Runs action(arg) in the thread, and waits until the thread has ended. In the calling thread if
 * there is none. */
void door_use(struct door *d, void (*action)(void *arg), void *arg);
/* Ends the thread if it has not ended yet. */
void door_shut(struct door *d);

#endif
