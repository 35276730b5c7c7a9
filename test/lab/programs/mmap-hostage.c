/* usage: mmap-hostage FILE COPIES
   FILE lies on a filesystem that will be stopped. Each copy is a process whose mmap_lock gets held for good:
   1. it maps a page of FILE and does not touch it; "mapped" is written when all have done so
   2. on SIGUSR1 a reader per copy reads that page through /proc/<copy>/mem, which takes the copy's mmap_lock
      for reading and waits for the page fault with it
   3. a second thread of the copy maps memory, and waits for that lock to write; from now on every reader of
      cmdline, environ, maps waits behind it. "held PID PID ..." is written.
   All processes end with this one. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

static int go;

static void *mapper(void *unused) {
  char byte;
  (void)unused;
  if (read(go, &byte, 1) == 1) mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (;;) pause();
}

static void hostage(const char *file, int report) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  int fd = open(file, O_RDONLY);
  void *page = fd < 0 ? MAP_FAILED : mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
  pthread_t thread;
  if (page == MAP_FAILED || pthread_create(&thread, NULL, mapper, NULL) != 0) _exit(1);
  uintptr_t address = (uintptr_t)page;
  if (write(report, &address, sizeof address) != sizeof address) _exit(1);
  for (;;) pause();
}

static void reader(pid_t target, uintptr_t address) {
  char path[64], byte;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  snprintf(path, sizeof path, "/proc/%d/mem", target);
  int fd = open(path, O_RDONLY);
  pread(fd, &byte, 1, (off_t)address);
  for (;;) pause();
}

/* State letter of a process, from /proc/<pid>/status. */
static char state(pid_t pid) {
  char path[64], text[512];
  snprintf(path, sizeof path, "/proc/%d/status", pid);
  int fd = open(path, O_RDONLY);
  ssize_t length = read(fd, text, sizeof text - 1);
  close(fd);
  text[length > 0 ? length : 0] = 0;
  char *at = strstr(text, "State:\t");
  return at ? at[7] : '?';
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  int copies = atoi(argv[2]);
  pid_t *pids = calloc(copies, sizeof *pids), *readers = calloc(copies, sizeof *readers);
  uintptr_t *addresses = calloc(copies, sizeof *addresses);
  int *wake = calloc(copies, sizeof *wake);
  sigset_t usr1;
  sigemptyset(&usr1);
  sigaddset(&usr1, SIGUSR1);
  sigprocmask(SIG_BLOCK, &usr1, NULL);

  for (int i = 0; i < copies; i++) {
    int report[2], waker[2];
    if (pipe(report) != 0 || pipe(waker) != 0) return 1;
    go = waker[0];
    wake[i] = waker[1];
    if ((pids[i] = fork()) == 0) hostage(argv[1], report[1]);
    close(report[1]);
    close(waker[0]);
    if (read(report[0], &addresses[i], sizeof addresses[i]) != sizeof addresses[i]) return 1;
    close(report[0]);
  }
  puts("mapped");
  fflush(stdout);

  int got;
  sigwait(&usr1, &got);
  for (int i = 0; i < copies; i++) {
    if ((readers[i] = fork()) == 0) reader(pids[i], addresses[i]);
    while (state(readers[i]) != 'D') usleep(1000);
    if (write(wake[i], "", 1) != 1) return 1;
  }
  printf("held");
  for (int i = 0; i < copies; i++) printf(" %d", pids[i]);
  puts("");
  fflush(stdout);
  for (;;) pause();
}
