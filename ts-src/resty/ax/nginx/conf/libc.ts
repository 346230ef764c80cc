import * as ffi from "ffi";

/**
 * The few functions of the C library that reading a configuration takes. Structures and functions
 * have names of our own (the functions by assembler name), so that another Lua library declaring
 * the real ones cannot clash with us. Layouts are those of 64-bit Linux; glibc and musl agree.
 */
const DECLARATIONS = `
struct ax_addrinfo {
  int ai_flags, ai_family, ai_socktype, ai_protocol;
  uint32_t ai_addrlen;
  const uint8_t *ai_addr;
  char *ai_canonname;
  struct ax_addrinfo *ai_next;
};
struct ax_glob {
  size_t gl_pathc;
  char **gl_pathv;
  size_t gl_offs;
  int gl_flags;
  void *gl_hooks[8];
};
int ax_getaddrinfo(const char *, const char *, const struct ax_addrinfo *, struct ax_addrinfo **)
  __asm__("getaddrinfo");
void ax_freeaddrinfo(struct ax_addrinfo *) __asm__("freeaddrinfo");
const char *ax_gai_strerror(int) __asm__("gai_strerror");
int ax_glob(const char *, int, void *, struct ax_glob *) __asm__("glob");
void ax_globfree(struct ax_glob *) __asm__("globfree");
int ax_open(const char *, int, ...) __asm__("open");
int64_t ax_lseek(int, int64_t, int) __asm__("lseek");
intptr_t ax_read(int, void *, size_t) __asm__("read");
int ax_close(int) __asm__("close");
char *ax_strerror(int) __asm__("strerror");
extern char **ax_ngx_argv __asm__("ngx_argv");
`;

/** A C array or pointer: counted from 0, undefined (NULL) compares equal to undefined. */
export type CArray<T> = Record<number, T>;

export interface AddrInfo {
  ai_flags: number;
  ai_family: number;
  ai_socktype: number;
  ai_addr: CArray<number>;
  ai_next: AddrInfo | undefined;
}

export interface Glob {
  gl_pathc: unknown;
  gl_pathv: CArray<unknown>;
}

export interface Libc {
  ax_getaddrinfo(
    this: void,
    host: string,
    service: undefined,
    hints: AddrInfo,
    result: CArray<AddrInfo | undefined>,
  ): number;
  ax_freeaddrinfo(this: void, list: AddrInfo): void;
  ax_gai_strerror(this: void, code: number): unknown;
  ax_glob(this: void, pattern: string, flags: number, on_error: undefined, result: Glob): number;
  ax_globfree(this: void, result: Glob): void;
  ax_open(this: void, path: string, flags: unknown): number;
  ax_lseek(this: void, fd: number, offset: number, whence: number): unknown;
  ax_read(this: void, fd: number, buffer: unknown, size: number): unknown;
  ax_close(this: void, fd: number): number;
  ax_strerror(this: void, code: number): unknown;
  /** nginx's own copy of its arguments, ended by NULL. Reading it throws outside nginx. */
  ax_ngx_argv: CArray<unknown>;
}

// Fails when this file is loaded a second time in one Lua state: everything is declared then.
pcall(() => {
  ffi.cdef(DECLARATIONS);
});

/** The C library. Any phase; the functions block. */
export const libc = ffi.C as Libc;

/** @returns the text of the last failed call's errno */
export function lastError(): string {
  return ffi.string(libc.ax_strerror(ffi.errno()));
}
