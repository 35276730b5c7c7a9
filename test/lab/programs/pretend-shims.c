/*
 * A process of a container that pretends: pretend-shims <count> <directory> <argument>...
 * makes the directory, stands in it, and starts itself <count> times under the name of a shim with these arguments. Each
 * has two threads, and takes SIGUSR1: whom it reaches writes /signalled.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

static const char SHIM[] = "containerd-shim-runc-v2";

static void signalled(int number) {
  (void)number;
  close(open("/signalled", O_CREAT | O_WRONLY, 0644));
}

static void *wait_for_ever(void *nothing) {
  for (;;) pause();
  return nothing;
}

static void stand_in(char *directory) {
  for (char *slash = directory + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
    *slash = '\0';
    mkdir(directory, 0755);
    *slash = '/';
  }
  mkdir(directory, 0755);
  if (chdir(directory) != 0) exit(1);
}

int main(int argc, char **argv) {
  pthread_t thread;
  if (strcmp(argv[0], SHIM) != 0 && argc > 3) {
    stand_in(argv[2]);
    for (int left = atoi(argv[1]); left > 0; left--) {
      if (fork() != 0) continue;
      argv[2] = (char *)SHIM;
      execv("/proc/self/exe", argv + 2);
      _exit(1);
    }
  } else {
    signal(SIGUSR1, signalled);
    prctl(PR_SET_NAME, "containerd-shim");
    pthread_create(&thread, NULL, wait_for_ever, NULL);
  }
  wait_for_ever(NULL);
}
