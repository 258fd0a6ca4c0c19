# SPDX-License-Identifier: GPL-2.0-only
# For people and packages. The kernel's build system reads Kbuild instead.

KDIR ?= /lib/modules/$(shell uname -r)/build
DESTDIR ?=
O ?= $(CURDIR)/build/user-host
export DESTDIR

TESTS := selftests

.PHONY: help
help: ## this list
	@sed -nE 's/^([a-z_-]+):.*## (.*)/\1\t\2/p' Makefile | \
		while IFS='	' read -r target text; do \
			printf '  %-16s %s\n' "$$target" "$$text"; done
	@echo
	@echo '  KDIR=DIR         headers to build the module for (default: the running kernel)'
	@echo '  BED=B KERNEL=K   where check-vm runs: see Documentation/driver-api/testing.rst'
	@echo '  PREFIX= DESTDIR= where install puts library and tool (default: /usr/local)'

.PHONY: modules
modules: ## build pdio.ko for KDIR
	$(MAKE) -C "$(KDIR)" M="$(CURDIR)" modules

.PHONY: modules_install
modules_install: ## install pdio.ko for KDIR (INSTALL_MOD_PATH= for another root)
	$(MAKE) -C "$(KDIR)" M="$(CURDIR)" modules_install

.PHONY: user
user: ## build library and tool, in O= (default: build/user-host)
	$(MAKE) -C userspace O="$(O)"

.PHONY: install
install: user ## install library, tool, header and manual pages
	$(MAKE) -C userspace O="$(O)" install

.PHONY: demo
demo: ## boot a GPU server in a VM, move 64 MiB between NVMe and GPU, prove it
	$(TESTS)/demo.sh

.PHONY: check
check: ## every test that continuous integration runs, with a total
	@$(TESTS)/check.sh

.PHONY: check-static
check-static: ## style, sparse, kernel-doc, layers, sizes, licences, ABI
	@$(TESTS)/static/check.sh

.PHONY: check-unit
check-unit: ## library and tool without a kernel module
	@$(TESTS)/unit.sh

.PHONY: check-dkms
check-dkms: ## DKMS of Debian 12 and 13, on supported and other kernels
	@$(TESTS)/dkms/dkms_test.sh

.PHONY: check-vm
check-vm: ## tests in VMs; BED= and KERNEL= choose one
	@$(TESTS)/run_tests.sh $(if $(BED),--bed "$(BED)") $(if $(KERNEL),--kernel "$(KERNEL)")

.PHONY: check-debug
check-debug: ## tests on the kernel with every sanitizer
	@$(TESTS)/run_tests.sh --debug

.PHONY: check-long
check-long: ## everything with long counts, and the slow kernels (hours)
	@$(TESTS)/run_tests.sh --long

.PHONY: clean
clean: ## remove what was built here (not what tests keep in the cache folder)
	rm -rf build
	find kernel selftests/modules \( -name '*.o' -o -name '*.ko' \
		-o -name '*.mod' -o -name '*.mod.c' -o -name '.*.cmd' \) -delete
	rm -f *.o *.ko *.mod *.mod.c .*.cmd Module.symvers modules.order
