// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The device, its files, and what ucma_write() itself refuses. */
#include "ucma.h"
#include "states.h"

const struct row frame_rows[] = {
	{"the device", "ucma.c ucma_misc", 0, NOTHING, "device -> chr 666 major=10 sys=same\n"},
	{"the ABI version", "ucma.c abi_version_show", 0, NOTHING,
	 "cat /sys/class/misc/rdma_cm/abi_version -> 4\n"},
	{"no class of the old CM device", "ucm.c is gone since Linux 5.4", 0, NOTHING,
	 "access /sys/class/infiniband_cm -> ENOENT\n"},
	{"the limit of the backlog", "ucma.c ucma_ctl_table", 0, NOTHING,
	 "cat /proc/sys/net/rdma_ucm/max_backlog -> 1024\n"},
	{"ids are given out lowest first", "ucma.c ucma_alloc_ctx: xa_alloc", 0, NOTHING,
	 "create A -> 0\n"
	 "number A -> 0\n"
	 "create@2 B -> 0\n"
	 "number B -> 1\n"
	 "destroy A -> 0 reported=0\n"
	 "create@3 C -> 0\n"
	 "number C -> 0\n"
	 "create D -> 0\n"
	 "number D -> 2\n"},
	{"read of the file", "ucma_fops has no read", 0, NOTHING, "read -> EINVAL\n"},
	{"pwrite", "fs/open.c stream_open: no positions", 0, NOTHING, "pwrite -> ESPIPE\n"},
	{"lseek", "ucma_fops: no_llseek, stream_open", 0, NOTHING, "lseek -> ESPIPE\n"},
	{"ioctl", "ucma_fops has no ioctl", 0, NOTHING, "ioctl -> ENOTTY\n"},
	{"mmap", "ucma_fops has no mmap", 0, NOTHING, "mmap -> ENODEV\n"},
	{"header and command in two parts of a writev",
	 "fs/read_write.c do_loop_readv_writev: a write each", 0, NOTHING, "writev -> EINVAL\n"},
	{"poll of a new file", "ucma_poll", 0, NOTHING, "poll -> -\n"},
	{"nothing written", "ucma_write: len < sizeof(hdr)", 0, NOTHING,
	 "create A len=0 -> EINVAL\n"},
	{"7 bytes", "ucma_write: len < sizeof(hdr)", 0, NOTHING, "create A cut=7 -> EINVAL\n"},
	{"the header alone says that a command follows", "ucma_write: hdr.in + sizeof(hdr) > len",
	 0, NOTHING, "create A cut=8 -> EINVAL\n"},
	{"one byte less than the header says", "ucma_write: hdr.in + sizeof(hdr) > len", 0, NOTHING,
	 "create A cut=31 -> EINVAL\n"},
	{"one byte more than the header says",
	 "ucma_write: hdr.in + sizeof(hdr) > len; all count as written", 0, NOTHING,
	 "create A in=23 -> 0\n"},
	{"many bytes more than the header says", "ucma_write: len is the result", 0, NOTHING,
	 "create A at=0x300000100000 len=4096 -> 0\n"},
	{"a shorter command than the structure",
	 "ucma_create_id: copy_from_user() takes the whole, in is not looked at", 0, NOTHING,
	 "create A in=0 -> 0\n"},
	{"a shorter command at the end of memory", "ucma_create_id: copy_from_user()", 0, NOTHING,
	 "create A in=8 cut=16 -> EFAULT\n"},
	{"a longer command at the end of memory", "ucma_write: hdr.in + sizeof(hdr) > len", 0,
	 NOTHING, "create A in=25 -> EINVAL\n"},
	{"a header that is not mapped", "ucma_write: copy_from_user()", 0, NOTHING,
	 "create A at=nowhere -> EFAULT\n"},
	{"a header in kernel memory", "ucma_write: copy_from_user()", 0, NOTHING,
	 "create A at=kernel -> EFAULT\n"},
	{"a header at 0", "ucma_write: copy_from_user()", 0, NOTHING,
	 "create A at=0x8 -> EFAULT\n"},
	{"a header that crosses into unmapped memory", "ucma_write: copy_from_user()", 0, NOTHING,
	 "create A at=0x300000100ffc len=32 -> EFAULT\n"},
	{"a command in unmapped memory after its header", "ucma_create_id: copy_from_user()", 0,
	 NOTHING, "create A at=0x300000100ff8 len=32 -> EFAULT\n"},
	{"command 23", "ucma_write: ARRAY_SIZE(ucma_cmd_table)", 0, NOTHING,
	 "create A cmd=23 -> EINVAL\n"},
	{"command 0xffffffff", "ucma_write: ARRAY_SIZE(ucma_cmd_table)", 0, NOTHING,
	 "create A cmd=0xffffffff -> EINVAL\n"},
	{"command 23 with a wrong length", "ucma_write: the command is looked at first", 0, NOTHING,
	 "create A cmd=23 in=1000 -> EINVAL\n"},
	{"GET_OPTION", "ucma_cmd_table has no function", 0, IDLE,
	 "get_option A 0 0 u8:0 -> ENOSYS\n"},
	{"GET_OPTION of no id", "ucma_cmd_table has no function", 0, NOTHING,
	 "get_option 77 0 0 u8:0 -> ENOSYS\n"},
	{"GET_OPTION with a wrong length", "ucma_write: lengths are looked at first", 0, NOTHING,
	 "get_option 77 0 0 u8:0 in=1000 -> EINVAL\n"},
	{"the file after a child has it", "ib_safe_file_access: credentials are the same", 0, IDLE,
	 "dup 2 -> 0\n"
	 "create@2 B -> 0\n"},
	{"a duplicate is the same file", "ucma_get_ctx: ctx->file", 0, IDLE,
	 "dup 2 -> 0\n"
	 "bind@2 A me:p1 -> 0\n"},
	{"the file after one of its duplicates is closed", "ucma_close comes with the last", 0,
	 IDLE,
	 "dup 2 -> 0\n"
	 "close@2 -> 0\n"
	 "bind A me:p1 -> 0\n"},
	{"a file whose opener has other credentials", "ib_safe_file_access", ROOT, IDLE,
	 "nobody -> 0\n"
	 "bind A me:p1 -> EACCES\n"},
};
ROWS_END(frame);
