/* Makes the k-th call of the system on files below a folder fail. Preload it: LD_PRELOAD=io_faults.so

   faults_arm(folder, k, code, lasting): counts calls on paths that contain `folder`; call k, counted from 1, fails with
   the error `code`, and so do all later ones if `lasting`. faults_count() returns how many calls were counted. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#define MOST_HANDLES 65536

static char folder[4096];
static atomic_long calls, first;
static atomic_int code, lasting;
static atomic_char watched[MOST_HANDLES];

void faults_arm(const char *where, long k, int error, int for_ever) {
    strncpy(folder, where, sizeof folder - 1);
    calls = 0;
    first = k;
    code = error;
    lasting = for_ever;
}

long faults_count(void) { return calls; }

static int below(const char *path) { return folder[0] && path && strstr(path, folder) != NULL; }

static int held(int handle) { return handle >= 0 && handle < MOST_HANDLES && watched[handle]; }

/* Counts a call; returns whether it must fail, with errno set. */
static int fails(int counted) {
    if (!counted || !folder[0]) return 0;
    long now = atomic_fetch_add(&calls, 1) + 1;
    if (!code || (now != first && !(lasting && now > first))) return 0;
    errno = code;
    return 1;
}

static int watch(int handle, int counted) {
    if (handle >= 0 && handle < MOST_HANDLES) watched[handle] = counted;
    return handle;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* Files that are only read are counted when they are read. */
#define OPEN(name, at_decl, at_use, counted_at)                                        \
    int name(at_decl const char *path, int flags, ...) {                               \
        va_list more;                                                                  \
        va_start(more, flags);                                                         \
        mode_t mode = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(more, mode_t) : 0;      \
        va_end(more);                                                                  \
        int counted = below(path) || (counted_at);                                     \
        if (fails(counted && (flags & (O_CREAT | O_WRONLY | O_RDWR)))) return -1;      \
        return watch(REAL(name)(at_use path, flags, mode), counted);                   \
    }
#define NONE
#define AT_DECL int at,
#define AT_USE at,
OPEN(open, NONE, NONE, 0)
OPEN(open64, NONE, NONE, 0)
OPEN(openat, AT_DECL, AT_USE, held(at) && path[0] != '/')
OPEN(openat64, AT_DECL, AT_USE, held(at) && path[0] != '/')

int close(int handle) {
    if (handle >= 0 && handle < MOST_HANDLES) watched[handle] = 0;
    return REAL(close)(handle);
}

#define ON_HANDLE(type, name, decl, use) \
    type name decl { return fails(held(handle)) ? -1 : REAL(name) use; }
ON_HANDLE(ssize_t, write, (int handle, const void *data, size_t size), (handle, data, size))
ON_HANDLE(ssize_t, writev, (int handle, const struct iovec *parts, int count), (handle, parts, count))
ON_HANDLE(ssize_t, pwrite, (int handle, const void *data, size_t size, off_t at), (handle, data, size, at))
ON_HANDLE(ssize_t, pwrite64, (int handle, const void *data, size_t size, off64_t at), (handle, data, size, at))
ON_HANDLE(ssize_t, read, (int handle, void *data, size_t size), (handle, data, size))
ON_HANDLE(ssize_t, pread, (int handle, void *data, size_t size, off_t at), (handle, data, size, at))
ON_HANDLE(ssize_t, pread64, (int handle, void *data, size_t size, off64_t at), (handle, data, size, at))
ON_HANDLE(int, fsync, (int handle), (handle))
ON_HANDLE(int, fdatasync, (int handle), (handle))
ON_HANDLE(int, ftruncate, (int handle, off_t size), (handle, size))
ON_HANDLE(int, ftruncate64, (int handle, off64_t size), (handle, size))

int rename(const char *from, const char *to) { return fails(below(from) || below(to)) ? -1 : REAL(rename)(from, to); }
int renameat(int at, const char *from, int to_at, const char *to) {
    return fails(below(from) || below(to) || held(at) || held(to_at)) ? -1 : REAL(renameat)(at, from, to_at, to);
}
int renameat2(int at, const char *from, int to_at, const char *to, unsigned flags) {
    return fails(below(from) || below(to) || held(at) || held(to_at)) ? -1 : REAL(renameat2)(at, from, to_at, to, flags);
}
int mkdir(const char *path, mode_t mode) { return fails(below(path)) ? -1 : REAL(mkdir)(path, mode); }
int mkdirat(int at, const char *path, mode_t mode) {
    return fails(below(path) || held(at)) ? -1 : REAL(mkdirat)(at, path, mode);
}
int unlink(const char *path) { return fails(below(path)) ? -1 : REAL(unlink)(path); }
int unlinkat(int at, const char *path, int flags) {
    return fails(below(path) || held(at)) ? -1 : REAL(unlinkat)(at, path, flags);
}
int rmdir(const char *path) { return fails(below(path)) ? -1 : REAL(rmdir)(path); }
