/*
 * The floor for a sweep: reads /proc/<pid>/task/<tid>/{stat,wchan} of every thread of the node, in C, and nothing else.
 * cc -O2 sweep-floor.c -o sweep-floor
 */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static char buffer[65536];
static long total;

static void read_all(int dir, const char *name) {
  int fd = openat(dir, name, O_RDONLY);
  if (fd < 0) return;
  for (ssize_t n; (n = read(fd, buffer, sizeof buffer)) > 0;) total += n;
  close(fd);
}

int main(void) {
  DIR *proc = opendir("/proc");
  long threads = 0;
  char path[128];
  for (struct dirent *process; (process = readdir(proc));) {
    if (!isdigit((unsigned char)process->d_name[0])) continue;
    snprintf(path, sizeof path, "/proc/%.32s/task", process->d_name);
    DIR *tasks = opendir(path);
    if (!tasks) continue;
    for (struct dirent *thread; (thread = readdir(tasks));) {
      if (!isdigit((unsigned char)thread->d_name[0])) continue;
      int dir = openat(dirfd(tasks), thread->d_name, O_RDONLY | O_DIRECTORY);
      if (dir < 0) continue;
      read_all(dir, "stat");
      read_all(dir, "wchan");
      close(dir);
      threads++;
    }
    closedir(tasks);
  }
  printf("%ld threads %ld bytes\n", threads, total);
}
