local pcall = pcall
local ____exports = {}
local ffi = require("ffi")
--- The few functions of the C library that reading a configuration takes. Structures and functions
-- have names of our own (the functions by assembler name), so that another Lua library declaring
-- the real ones cannot clash with us. Layouts are those of 64-bit Linux; glibc and musl agree.
local DECLARATIONS = "\nstruct ax_addrinfo {\n  int ai_flags, ai_family, ai_socktype, ai_protocol;\n  uint32_t ai_addrlen;\n  const uint8_t *ai_addr;\n  char *ai_canonname;\n  struct ax_addrinfo *ai_next;\n};\nstruct ax_glob {\n  size_t gl_pathc;\n  char **gl_pathv;\n  size_t gl_offs;\n  int gl_flags;\n  void *gl_hooks[8];\n};\nint ax_getaddrinfo(const char *, const char *, const struct ax_addrinfo *, struct ax_addrinfo **)\n  __asm__(\"getaddrinfo\");\nvoid ax_freeaddrinfo(struct ax_addrinfo *) __asm__(\"freeaddrinfo\");\nconst char *ax_gai_strerror(int) __asm__(\"gai_strerror\");\nint ax_glob(const char *, int, void *, struct ax_glob *) __asm__(\"glob\");\nvoid ax_globfree(struct ax_glob *) __asm__(\"globfree\");\nint ax_open(const char *, int, ...) __asm__(\"open\");\nint64_t ax_lseek(int, int64_t, int) __asm__(\"lseek\");\nintptr_t ax_read(int, void *, size_t) __asm__(\"read\");\nint ax_close(int) __asm__(\"close\");\nchar *ax_strerror(int) __asm__(\"strerror\");\nextern char **ax_ngx_argv __asm__(\"ngx_argv\");\n"
pcall(function()
    ffi.cdef(DECLARATIONS)
end)
--- The C library. Any phase; the functions block.
____exports.libc = ffi.C
---
-- @returns the text of the last failed call's errno
function ____exports.lastError()
    return ffi.string(____exports.libc.ax_strerror(ffi.errno()))
end
return ____exports
