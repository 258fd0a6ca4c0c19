#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The static checks: check.sh [PATTERN] runs those whose name matches. With
# --write-abi it writes uapi.abi anew, to be done when the ABI grows.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
for part in vm/lib/common vm/lib/apt vm/lib/image vm/lib/kernel vm/lib/overlay \
	    lib/ktap static/lib static/text static/build; do
	# shellcheck source=/dev/null
	. "$here/../$part.sh"
done

static_prepare
ALL_FILES=$(all_files)

if [ "${1:-}" = --write-abi ]; then
	tools 'bash selftests/static/uapi.sh table' >"$here/uapi.abi"
	exit
fi
KTAP_ONLY=${1:-}

ktap_begin
ktap_run spdx check_spdx
ktap_run sizes check_sizes
ktap_run words check_words
ktap_run commits check_commits
ktap_run version check_version
ktap_run tested-kernels check_tested_kernels
ktap_run reasons-documented check_reasons_documented
ktap_run private-structs check_private_structs
ktap_run shell-strict check_shell_strict
ktap_run shellcheck check_shellcheck
ktap_run codespell check_codespell
ktap_run checkpatch-kernel check_checkpatch_kernel
ktap_run checkpatch-compat check_checkpatch_compat
ktap_run checkpatch-uapi check_checkpatch_uapi
ktap_run checkpatch-user check_checkpatch_user
ktap_run kernel-doc check_kernel_doc
ktap_run uapi-compile check_uapi_c
ktap_run uapi-holes check_uapi_holes
ktap_run uapi-frozen check_uapi_frozen
ktap_run build check_build
ktap_run sparse check_sparse
ktap_run layer-table check_layer_table
ktap_run layer-includes check_layer_includes
ktap_run layer-symbols check_layer_symbols
ktap_run functions-documented check_functions_documented
ktap_end
