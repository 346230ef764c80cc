import * as ffi from "ffi";
import { type Glob, lastError, libc } from "./libc";

/** O_NONBLOCK | O_CLOEXEC on Linux: a pipe that nobody writes to must not keep nginx from starting. */
const OPEN_FLAGS = 0x80800;

const SEEK_SET = 0;
const SEEK_END = 2;

/** What glob(3) returns when no file matches. */
const GLOB_NOMATCH = 3;

const NUL_IN_NAME = "there is a NUL byte in the name";

/**
 * Reads a file as nginx reads its configuration: as many bytes as the file's size says, so that
 * pipes and devices count as empty. Init phase: it blocks.
 * @param path path of the file
 * @param max_bytes a longer file is an error
 * @returns the text, or undefined and the reason
 */
export function readFile(path: string, max_bytes: number): LuaMultiReturn<[string | undefined, string | undefined]> {
  if (hasNul(path)) return $multi(undefined, NUL_IN_NAME);
  const fd = libc.ax_open(path, ffi.cast("int", OPEN_FLAGS));
  if (fd < 0) return $multi(undefined, lastError());
  const [text, err] = readOpened(fd, max_bytes);
  libc.ax_close(fd);
  return $multi(text, err);
}

function readOpened(fd: number, max_bytes: number): LuaMultiReturn<[string | undefined, string | undefined]> {
  const size = tonumber(libc.ax_lseek(fd, 0, SEEK_END)) ?? -1;
  if (size < 0) {
    // Pipes and terminals have no position, and count as empty. Nor has a directory on a tmpfs, which is what /tmp is
    // on Debian 13: reading nothing takes nothing from a pipe, and fails on a directory.
    const count = tonumber(libc.ax_read(fd, ffi.new("char[1]"), 0)) ?? -1;
    if (count < 0) return $multi(undefined, lastError());
    return $multi("", undefined);
  }
  libc.ax_lseek(fd, 0, SEEK_SET);
  // One byte is asked for in any case: only reading tells that this is a directory.
  const wanted = size > max_bytes || size < 1 ? 1 : size;
  const buffer = ffi.new("char[?]", wanted);
  let filled = 0;
  while (filled < wanted) {
    const at = (ffi.cast("char *", buffer) as number) + filled;
    const count = tonumber(libc.ax_read(fd, at, wanted - filled)) ?? -1;
    if (count < 0) return $multi(undefined, lastError());
    if (count === 0) break;
    filled += count;
  }
  if (size > max_bytes)
    return $multi(undefined, `its ${size} bytes are more than the ${max_bytes} that may still be read`);
  return $multi(ffi.string(buffer, size < filled ? size : filled), undefined);
}

/** @returns whether nginx takes the name of an included file as a pattern */
export function isPattern(path: string): boolean {
  return string.find(path, "[*?[]")[0] !== undefined;
}

/**
 * The files that match a pattern, in glob(3)'s order, which is nginx's. Init phase: it blocks.
 * @param pattern full path with *, ? or […]
 * @returns the paths (none is no error, as in nginx), or undefined and the reason
 */
export function matchingFiles(pattern: string): LuaMultiReturn<[string[] | undefined, string | undefined]> {
  if (hasNul(pattern)) return $multi(undefined, NUL_IN_NAME);
  const found = ffi.new("struct ax_glob") as Glob;
  const result = libc.ax_glob(pattern, 0, undefined, found);
  if (result === GLOB_NOMATCH) return $multi([], undefined);
  if (result !== 0) return $multi(undefined, `glob() failed: ${lastError()}`);
  const paths: string[] = [];
  const count = tonumber(found.gl_pathc) ?? 0;
  for (let i = 0; i < count; i++) paths.push(ffi.string(found.gl_pathv[i]));
  libc.ax_globfree(found);
  return $multi(paths, undefined);
}

/** @returns the path as it is when absolute, else within the directory (which ends in "/") */
export function fullPath(directory: string, path: string): string {
  return string.sub(path, 1, 1) === "/" ? path : directory + path;
}

/** @returns the directory of a file, ending in "/"; "" when the path has no directory in it */
export function directoryOf(path: string): string {
  return string.match(path, "^.*/")[0] ?? "";
}

function hasNul(text: string): boolean {
  return string.find(text, "\0", 1, true)[0] !== undefined;
}
