/* usage: many-threads PROCESSES THREADS: that many processes with that many threads each, all asleep.
   Writes "ready" when the last thread is there; the processes end with this one. */
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

static void *sleeper(void *unused) {
  (void)unused;
  for (;;) pause();
}

static int crowd(int threads) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  /* small stacks: with the usual 8 MB, 20,000 of them would not fit */
  pthread_attr_setstacksize(&attributes, 65536);
  for (int i = 1; i < threads; i++) {
    pthread_t thread;
    if (pthread_create(&thread, &attributes, sleeper, NULL) != 0) return 0;
  }
  return 1;
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  int processes = atoi(argv[1]), threads = atoi(argv[2]), ready[2];
  if (pipe(ready) != 0) return 1;
  for (int i = 0; i < processes; i++) {
    pid_t child = fork();
    if (child < 0) return 1;
    if (child > 0) continue;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    char answer = crowd(threads) ? '+' : '-';
    if (write(ready[1], &answer, 1) != 1) _exit(1);
    sleeper(NULL);
  }
  for (int i = 0; i < processes; i++) {
    char answer;
    if (read(ready[0], &answer, 1) != 1 || answer != '+') {
      fputs("no room for that many threads\n", stderr);
      return 1;
    }
  }
  puts("ready");
  fflush(stdout);
  sleeper(NULL);
}
