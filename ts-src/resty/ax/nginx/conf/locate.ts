import * as ffi from "ffi";
import { directoryOf, fullPath } from "./files";
import { libc } from "./libc";
import { argumentsOf, confOption } from "./command_line";

/** What can be seen of the running process. Tests pass their own. */
export interface ProcessView {
  /** nginx's own copy of its arguments; undefined where it cannot be reached. */
  argv(this: void): string[] | undefined;
  /** Text of a file under /proc; undefined when it cannot be read. */
  readProc(this: void, path: string): string | undefined;
  /** nginx's prefix (-p, or compiled in), ending in "/". */
  prefix(this: void): string;
  /** nginx's configure arguments, as `nginx -V` prints them. */
  configureArguments(this: void): string;
}

export interface Location {
  /** Full path, if the prefix is one. */
  path: string;
  /** Where the path is from, and where it was looked for before. For messages. */
  looked: string;
}

/** nginx's path of the configuration file when it was built without --conf-path (auto/options). */
const BUILT_IN_PATH = "conf/nginx.conf";

/** Longest argument list taken: an end mark that never comes must not hang the start. */
const MAX_ARGUMENTS = 1024;

/** The running process. Any phase. */
export const thisProcess: ProcessView = {
  argv: nginxArguments,
  readProc(this: void, path: string): string | undefined {
    const [file] = io.open(path, "rb");
    if (file === undefined) return undefined;
    const text = file.read("*a");
    file.close();
    return text;
  },
  prefix: () => ngx.config.prefix(),
  configureArguments: () => ngx.config.nginx_configure(),
};

function nginxArguments(this: void): string[] | undefined {
  const [ok, argv] = pcall(() => libc.ax_ngx_argv);
  if (!ok || argv === undefined) return undefined;
  const words: string[] = [];
  for (let i = 0; i < MAX_ARGUMENTS && argv[i] !== undefined; i++) words.push(ffi.string(argv[i]));
  return words;
}

/**
 * Finds the configuration file of the running nginx: the path given; else `-c` among nginx's
 * arguments, taken from its own copy of them, or from /proc (of this process; of its parent, if this
 * is a worker); else --conf-path of the configure arguments; else conf/nginx.conf. Relative paths
 * are relative to the prefix, as nginx takes them.
 *
 * Does not look whether the file exists: it is the one nginx would take.
 * @param conf_path path given by the user, if any
 */
export function locate(view: ProcessView, conf_path?: string): Location {
  const prefix = view.prefix();
  if (conf_path !== undefined) return { path: fullPath(prefix, conf_path), looked: "path given (nginx_conf)" };
  const [words, source] = commandLine(view);
  const option = words === undefined ? undefined : confOption(words);
  if (option !== undefined) return { path: fullPath(prefix, option), looked: `-c in ${source}` };
  const not_there = words === undefined ? `${source}, ` : `no -c in ${source}, `;
  const [built_in, built_in_from] = builtInPath(view);
  return { path: fullPath(prefix, built_in), looked: `no path given (nginx_conf), ${not_there}${built_in_from}` };
}

/** @returns nginx's arguments, if they can be found, and where they were found or looked for */
function commandLine(view: ProcessView): LuaMultiReturn<[string[] | undefined, string]> {
  const argv = view.argv();
  if (argv !== undefined) return $multi(argv, "nginx's arguments");
  let process = "/proc/self";
  let looked = "";
  // A worker's title says nothing; its parent is the master.
  for (let generation = 0; generation < 2; generation++) {
    const file = `${process}/cmdline`;
    const words = argumentsOf(view.readProc(file) ?? "");
    if (words !== undefined) return $multi(words, file);
    looked += (looked === "" ? "" : " and ") + file;
    const [parent] = string.match(view.readProc(`${process}/status`) ?? "", "PPid:%s*(%d+)");
    if (parent === undefined) break;
    process = `/proc/${parent}`;
  }
  return $multi(undefined, `no arguments in ${looked}`);
}

function builtInPath(view: ProcessView): LuaMultiReturn<[string, string]> {
  const configured = view.configureArguments();
  // The configure script quotes values with blanks in them.
  const [quoted] = string.match(configured, "%-%-conf%-path='([^']*)'");
  const path = quoted ?? string.match(configured, "%-%-conf%-path=([^%s']+)")[0];
  if (path !== undefined && path !== "") return $multi(path, "--conf-path in nginx's configure arguments");
  return $multi(BUILT_IN_PATH, `no --conf-path in nginx's configure arguments, so ${BUILT_IN_PATH} in its prefix`);
}

/**
 * Where nginx itself takes relative names in its configuration from (ngx_conf_full_name): the directory of the main file.
 * @returns the directory, ending in "/", and the file
 */
export function confDirectory(view: ProcessView): LuaMultiReturn<[string, string]> {
  const { path } = locate(view);
  return $multi(directoryOf(path), path);
}
