/* LD_PRELOAD: a kernel without CONFIG_STACKTRACE, as far as a program can tell: no file of /proc called `stack` is there. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>

static int hidden(const char *path) {
  size_t length = strlen(path);
  return strncmp(path, "/proc/", 6) == 0 && length > 6 && strcmp(path + length - 6, "/stack") == 0;
}

#define HIDE(name)                                              \
  int name(const char *path, int flags, ...) {                  \
    static int (*next)(const char *, int, ...);                 \
    if (!next) next = dlsym(RTLD_NEXT, #name);                  \
    va_list more;                                               \
    va_start(more, flags);                                      \
    int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, int) : 0; \
    va_end(more);                                               \
    if (hidden(path)) {                                         \
      errno = ENOENT;                                           \
      return -1;                                                \
    }                                                           \
    return next(path, flags, mode);                             \
  }

HIDE(open)
HIDE(open64)
