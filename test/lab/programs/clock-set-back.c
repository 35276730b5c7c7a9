/* LD_PRELOAD: from CLOCK_SET_BACK_AFTER_MS of the monotonic clock after the start on, the wall clock of this process is an
   hour behind, as if somebody had set it. Whatever else runs on the machine keeps its time. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long long now_ms(void) {
  struct timespec time;
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000LL + time.tv_nsec / 1000000;
}

static long long from_ms = -1;

__attribute__((constructor)) static void start(void) {
  const char *after = getenv("CLOCK_SET_BACK_AFTER_MS");
  from_ms = now_ms() + (after ? atoll(after) : 0);
}

static time_t behind(void) { return from_ms >= 0 && now_ms() >= from_ms ? 3600 : 0; }

int clock_gettime(clockid_t clock, struct timespec *time) {
  int result = syscall(SYS_clock_gettime, clock, time);
  if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) time->tv_sec -= behind();
  return result;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
  int result = syscall(SYS_gettimeofday, time, zone);
  if (result == 0 && time) time->tv_sec -= behind();
  return result;
}
