# SPDX-License-Identifier: Apache-2.0
"""Benchmarks: one module each; it writes raw samples, machine, commit and goals as JSON."""
