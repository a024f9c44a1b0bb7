/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proof.h - shared by the proofs. A proof is a function proof() that calls code with any input
 * that its assumptions allow; CBMC checks all of these inputs. Only CBMC compiles these files.
 */
#ifndef PROOF_H
#define PROOF_H

unsigned char nondet_u8(void);
unsigned short nondet_u16(void);
unsigned nondet_u32(void);
unsigned long nondet_u64(void);

#define ASSUME(what) __CPROVER_assume(what)
#define PROVE(what)  __CPROVER_assert(what, #what)
/* All bytes of an object become anything. */
#define ANYTHING(object) __CPROVER_havoc_object(&(object))
/* What is read there, n bytes, is memory of one object. */
#define READABLE(p, n) __CPROVER_assert(__CPROVER_r_ok(p, n), "readable: " #p ", " #n)
#define WRITABLE(p, n) __CPROVER_assert(__CPROVER_w_ok(p, n), "writable: " #p ", " #n)

#endif
