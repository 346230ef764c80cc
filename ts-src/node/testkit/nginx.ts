import { spawnSync } from "node:child_process";
import { accessSync, constants, existsSync } from "node:fs";
import { delimiter, join } from "node:path";

/** An nginx that can run Lua. */
export interface Nginx {
  bin: string;
  /** As it prints it, e.g. "nginx/1.22.1" or "openresty/1.27.1.2". */
  version: string;
  /** Lines for the top of nginx.conf; empty when the Lua module is built in (OpenResty). */
  load_modules: string;
}

/** Where nginx may be when it is not on the PATH. */
const USUAL_PLACES = [
  "/usr/local/openresty/nginx/sbin/nginx",
  "/usr/sbin/nginx",
  "/usr/local/sbin/nginx",
  "/usr/local/nginx/sbin/nginx",
];

let found: Nginx | undefined;

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Full path of a program on the PATH. */
export function which(program: string): string | undefined {
  for (const dir of (process.env.PATH ?? "").split(delimiter)) {
    const path = join(dir, program);
    if (dir !== "" && isExecutable(path)) return path;
  }
  return undefined;
}

function candidates(): string[] {
  const wanted = process.env.NGINX;
  if (wanted !== undefined && wanted !== "") return [wanted.includes("/") ? wanted : (which(wanted) ?? wanted)];
  const on_path = [which("openresty"), which("nginx")].filter((path) => path !== undefined);
  return [...on_path, ...USUAL_PLACES.filter(isExecutable)];
}

/** The nginx at `bin`, or why it will not do, by what its -V says. */
export function inspectNginx(bin: string): Nginx | string {
  const run = spawnSync(bin, ["-V"], { encoding: "utf8" });
  if (run.error !== undefined || run.status !== 0) return `${bin}: does not run`;
  const version = /version: (\S+)/.exec(run.stderr)?.[1] ?? "unknown";
  if (/--add-module=\S*(ngx_lua|lua-nginx-module)/.test(run.stderr)) return { bin, version, load_modules: "" };
  const prefix = /--prefix=(\S+)/.exec(run.stderr)?.[1] ?? "/usr/local/nginx";
  const dir = /--modules-path=(\S+)/.exec(run.stderr)?.[1] ?? join(prefix, "modules");
  const modules = ["ndk_http_module.so", "ngx_http_lua_module.so"].map((file) => join(dir, file));
  if (!modules.every((file) => existsSync(file))) {
    return `${bin}: no Lua module built in, and no ${modules.join(" with ")}`;
  }
  return { bin, version, load_modules: modules.map((file) => `load_module ${file};`).join("\n") };
}

/**
 * Finds nginx with the Lua module: $NGINX if set, else openresty or nginx on the PATH, else the usual places.
 * @throws Error that says what was tried and what to install
 */
export function findNginx(): Nginx {
  if (found !== undefined) return found;
  const problems: string[] = [];
  for (const bin of candidates()) {
    const result = inspectNginx(bin);
    if (typeof result !== "string") {
      found = result;
      return result;
    }
    problems.push(result);
  }
  const tried = problems.length > 0 ? problems.join("; ") : "nothing on the PATH";
  throw new Error(
    `no nginx with the Lua module (${tried}): install OpenResty or the packages nginx and ` +
      `libnginx-mod-http-lua, or set NGINX to the binary`,
  );
}

/**
 * The environment for an nginx: this process's without $NGINX, which tells the kit where nginx is, and nginx itself, when
 * it takes over from an older binary, which sockets it inherits.
 */
export function nginxEnv(more: Record<string, string> = {}): NodeJS.ProcessEnv {
  const env = { ...process.env, ...more };
  delete env.NGINX;
  return env;
}

/** Arguments that run nginx in the foreground, with everything it writes under `dir`. */
export function nginxArgs(dir: string, conf_path: string): string[] {
  // As root, workers would drop to a user who may not enter `dir` or read the library.
  const user = process.getuid?.() === 0 ? " user root;" : "";
  return ["-p", dir, "-c", conf_path, "-e", "error.log", "-g", `daemon off;${user}`];
}
