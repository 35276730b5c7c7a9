/* usage: <dir>/containerd-shim-runc-v2 -namespace … -id … -address …: looks like a shim server in every respect but one.
   Like the Rust shims it has no handler for SIGUSR1, so the signal would kill it. Writes "ready" when its second thread is there. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static void *sleeper(void *unused) {
  (void)unused;
  for (;;) pause();
}

int main(void) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, sleeper, NULL) != 0) return 1;
  puts("ready");
  fflush(stdout);
  sleeper(NULL);
}
