/** Numbers of the system calls that the lab's stalls hang in, by architecture (asm/unistd_64.h, asm-generic/unistd.h). */
const X64 = { write: 1, fsync: 74, epoll_ctl: 233, mount: 165, umount2: 166, newfstatat: 262 };
const ARM64 = { write: 64, fsync: 82, epoll_ctl: 21, mount: 40, umount2: 39, newfstatat: 79 };

export const SYSCALL = process.arch === 'arm64' ? ARM64 : X64;
