# A front end to Meson. `make help` prints this table:
#
## make            build the programs build/fairlead, build/fairleadd, build/fairlead-launcher, and build/libfairlead.{so,a}
## make demo       show how a private instance divides one machine between three accounts, in under a minute
## make check      run the tests of the plain build, without the crash tests: some ten minutes
## make test       build and run every test, on the plain build and on one with sanitizers
## make bench      run the benchmarks
## make fuzz       fuzz every parser, each for FUZZ_SECONDS (20)
## make crash      crash it for SECONDS (600): the crash tests, 10,000 simulated histories, a real instance under faults
## make deb        build the Debian packages, build-deb/*fairlead*_VERSION_ARCHITECTURE.deb, and check them with lintian
## make machine    test the package under systemd, in a virtual machine: half an hour; needs root once, to make it
## make install    install below PREFIX (/usr/local), in DESTDIR when given
## make format     format the C sources by .clang-format
## make clean      remove the build folders
## make help       print this table
##
## Targets that build or run something first install the missing packages of debian/control, and name them.

PREFIX = /usr/local
DESTDIR =
FUZZ_SECONDS = 20
SECONDS = 600

.DEFAULT_GOAL = build
.PHONY: build demo check test bench fuzz crash deb machine install format clean help
# Several targets build in the same folder.
.NOTPARALLEL:
MAKEFLAGS += --no-print-directory

build:
	@tools/install-packages
	@tools/configure build
	@ninja -C build programs

demo: build
	@sh tools/demo.sh build

check:
	@tools/install-packages test
	@tools/run-tests --plain structure unit property conformance fuzz system

test:
	@tools/install-packages test
	@tools/run-tests

bench:
	@tools/install-packages bench
	@tools/configure build
	@ninja -C build programs meson-benchmark-prereq bench/spawn-loop
	@sh tools/bench.sh build

fuzz:
	@tools/install-packages test fuzz
	@tools/run-fuzz '$(FUZZ_SECONDS)'

crash:
	@tools/install-packages test
	@tools/configure build
	@ninja -C build all meson-test-prereq
	@tools/run-crash '$(SECONDS)'

deb:
	@tools/install-packages deb
	@tools/make-deb

machine: deb
	@tools/install-packages test machine
	@tools/configure build
	@ninja -C build programs
	@test -e build-machine/machine.img || tests/machine/build-image build-machine
	@FAIRLEAD_VM=$$PWD/build-machine FAIRLEAD_DEB=$$(ls $$PWD/build-deb/fairlead_*.deb) FAIRLEAD_BUILD=$$PWD/build \
	    /usr/bin/python3 -m pytest -v tests/system/test_machine.py

install:
	@tools/install-packages
	@tools/configure build '-Dprefix=$(PREFIX)'
	@ninja -C build programs
	@to='$(DESTDIR)'; case $$to in [!/]*) to=$$PWD/$$to ;; esac; DESTDIR=$$to meson install -C build --no-rebuild

format:
	@tools/install-packages test
	@tools/format

clean:
	@rm -rf build build-asan build-fuzz build-deb build-machine

help:
	@sed -n 's/^## \{0,1\}//p' Makefile
