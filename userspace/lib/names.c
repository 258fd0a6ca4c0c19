// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reasons, routes and mapping types in words. A sentence says what is the case;
 * a second one, where something can be done about it, says what.
 */
#include "internal.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

struct reason {
	const char *name;
	const char *text;
};

#define REASON(NAME, TEXT)[PDIO_REASON_##NAME] = { #NAME, TEXT }

static const struct reason reasons[] = {
	REASON(NONE, "Direct: there is nothing to explain."),
	REASON(UNSUPPORTED,
	       "This version of the pdio module can serve only requests that go direct as a whole. "
	       "Align offset and length to the file's block size, or use a newer module."),
	REASON(NO_P2PDMA,
	       "The kernel was built without CONFIG_PCI_P2PDMA. "
	       "Boot a kernel that has it."),
	REASON(NO_PAGES,
	       "No struct pages could be made for the device's memory. "
	       "The kernel log says why."),
	REASON(NO_DRIVER,
	       "No driver is bound to the device whose memory this is. "
	       "Bind its driver first."),
	REASON(MEMTYPE,
	       "The device's memory is mapped with clashing memory types. "
	       "Load pdio before the programs that map it, or use another part of it."),
	REASON(MERGE_HAZARD,
	       "A layer below could merge peer memory and host memory into one request. "
	       "Set queue/nomerges to 2 on each member disk."),
	REASON(FS_FELL_BACK,
	       "The file system used its page cache instead of direct I/O."),
	REASON(ZEROED,
	       "The range is a hole or was never written, so the CPU wrote zeros."),
	REASON(UNVERIFIED,
	       "The route between these devices has not been proven to deliver the bytes."),
	REASON(HOST_BRIDGE,
	       "The devices meet at a host bridge that the kernel doesn't know "
	       "to forward peer traffic. "
	       "Put both behind one PCIe switch, or use a platform on the kernel's list."),
	REASON(ACS_REDIRECT,
	       "A bridge redirects peer traffic upstream (ACS), and the host bridge there blocks it. "
	       "pci=disable_acs_redir= for that bridge lifts it, at the cost of "
	       "isolation between its devices."),
	REASON(IOMMU,
	       "The IOMMU stands in the way of peer traffic between these devices."),
	REASON(NO_CLIENT,
	       "No PCI function does the DMA of this file. "
	       "Use a file on an NVMe drive."),
	REASON(QUEUE_NO_P2P,
	       "The block device's queue doesn't take peer memory. "
	       "Use a file on a plain NVMe drive, without device mapper."),
	REASON(STABLE_WRITES,
	       "The storage needs data that doesn't change during a write "
	       "(checksums or protection information)."),
	REASON(FS_NOT_DIRECT,
	       "The file has no direct I/O. "
	       "Use ext4 or XFS in their default modes, or the block device."),
	REASON(INLINE,
	       "The file's data lies inside its inode."),
	REASON(COMPRESSED,
	       "The file is compressed."),
	REASON(ENCRYPTED,
	       "The file is encrypted."),
	REASON(VERITY,
	       "The file is protected by fs-verity."),
	REASON(TRANSPORT,
	       "The storage is reached by a transport that can't do peer DMA. "
	       "Use local NVMe drives."),
	REASON(UNALIGNED,
	       "Offset, length or memory isn't aligned for direct I/O. "
	       "Align them to what the file asks for (pdio route FILE)."),
	REASON(EOF_TAIL,
	       "The last block of the file is partial."),
	REASON(EXPORTER_RAM,
	       "The device's driver placed the memory in host RAM."),
	REASON(EXPORTER_RAW,
	       "The device's driver gave addresses that ignore the IOMMU. "
	       "Boot with iommu=pt, or use a driver that maps for the importer."),
	REASON(EXPORTER_REFUSED,
	       "The device's driver refused to attach or to map the memory."),
	REASON(REVOKED,
	       "The memory was taken away by the device's driver, or a device behind it is gone. "
	       "Allocate and register again."),
	REASON(QUOTA,
	       "The user's limit of pinned memory is reached. "
	       "Unregister buffers, or raise the limit."),
	REASON(VERIFY_FAILED,
	       "The route delivered wrong bytes and was put out of use."),
	REASON(POLICY,
	       "The administrator switched the direct route off."),
	REASON(NO_PROVIDER,
	       "The memory lies in no PCI device's BAR, or in several."),
};

_Static_assert(ARRAY_SIZE(reasons) == PDIO_REASON_NO_PROVIDER + 1,
	       "every reason has its words");

static const char *const routes[] = {
	[PDIO_ROUTE_NONE] = "none",
	[PDIO_ROUTE_DIRECT] = "direct",
	[PDIO_ROUTE_COMMAND] = "command",
	[PDIO_ROUTE_STAGED] = "staged",
};

static const char *const maps[] = {
	[PDIO_MAP_UNKNOWN] = "unknown",
	[PDIO_MAP_BUS_ADDR] = "bus-address",
	[PDIO_MAP_HOST_BRIDGE] = "host-bridge",
	[PDIO_MAP_BLOCKED] = "blocked",
};

const char *libpdio_reason_name(uint32_t reason)
{
	return reason < ARRAY_SIZE(reasons) ? reasons[reason].name : "UNKNOWN";
}

const char *libpdio_reason_str(uint32_t reason)
{
	if (reason < ARRAY_SIZE(reasons))
		return reasons[reason].text;
	return "The module gave a reason that this library doesn't know. Update the library.";
}

const char *libpdio_route_name(uint32_t route)
{
	return route < ARRAY_SIZE(routes) ? routes[route] : "unknown";
}

const char *libpdio_map_name(uint32_t map_type)
{
	return map_type < ARRAY_SIZE(maps) ? maps[map_type] : "unknown";
}
