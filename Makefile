# SPDX-License-Identifier: Apache-2.0
# A thin front: what each word means stands in the program it calls.

# Debian's own, which has Debian's pytest; another python3 may stand before it in PATH.
PYTHON ?= /usr/bin/python3

.PHONY: help build demo test test-long bench lint clean deb docs gateware-test gateware-report

help:
	@echo 'make demo             install what is needed, build, run nginx on Toehold and on Linux TCP, compare'
	@echo 'make test             all tests but the long ones and those of the workshop (needs root: they make network namespaces)'
	@echo 'make test-long        the long ones too, and a soak of servers from Debian'
	@echo 'make bench NAME=x     run bench/x.py, which writes out/bench/x.json; without NAME: list them (ARGS=: its options)'
	@echo 'make lint             format, static checks, style of the tree'
	@echo 'make gateware-test    the gateware: simulations, proofs, programs on it'
	@echo 'make gateware-report  its size and speed, into docs/GATEWARE.md'
	@echo 'make build            build into build/'
	@echo 'make deb              Debian packages, into out/deb/'
	@echo 'make docs             the pages of docs/ as a site, into out/docs/'
	@echo 'make clean            remove build*/ and out/'

build:
	@scripts/setup build
	@scripts/build build

deb:
	@scripts/setup build deb
	@scripts/deb

docs:
	@scripts/setup docs
	@scripts/docs

demo:
	@scripts/setup build demo
	@scripts/build build-release
	@TOEHOLD_BUILD=build-release $(PYTHON) -m bench.demo

test:
	@scripts/setup build demo test gateware
	@scripts/test

test-long:
	@scripts/setup build deb demo docs test gateware soak
	@scripts/test --long

bench:
	@scripts/bench $(NAME) $(ARGS)

lint:
	@scripts/setup build lint gateware
	@scripts/lint

gateware-test:
	@scripts/setup build demo test gateware
	@scripts/test --gateware

gateware-report:
	@scripts/setup gateware
	@scripts/gateware report

clean:
	rm -rf build build-*/ out
