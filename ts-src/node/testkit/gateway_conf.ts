import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Backend } from "./backend";
import { findNginx } from "./nginx";
import { KIT_DIR, render, ROOT } from "./workdir";

export interface GatewayOptions {
  /** First part of its directory's name. */
  name?: string;
  /** Worker processes, 1 by default. */
  workers?: number;
  /**
   * Nodes of the upstream block: backends, or the text of a `server` line after the word
   * ("127.0.0.1:80 weight=5"). At least one.
   */
  servers: (Backend | string)[];
  /** Lines for the upstream block's `server` entries of backends, e.g. "max_fails=0"; none by default. */
  server_params?: string;
  /**
   * "none": nginx's own round robin, and nothing of the library loaded. "ax" (default): the library.
   * "ax-off": library loaded and logging, but nginx picks. Else: text for the upstream block, e.g. "least_conn;".
   */
  balancer?: string;
  /** Configuration for `init`. By default one upstream named "backend" with strategy defaults. */
  ax?: unknown;
  /** The same as a Lua expression, for what JSON cannot say. */
  ax_lua?: string;
  /** Name of the upstream block, "backend" by default. */
  upstream_name?: string;
  /** Idle connections kept to the upstream by each worker, 256 by default: more than tests open; 0 = no `keepalive`. */
  keepalive?: number;
  /** Connections of each worker, to clients and to nodes, 8192 by default. */
  worker_connections?: number;
  /** Size of lua_shared_dict ax, "16m" by default. */
  shared_dict_size?: string;
  /** Calls `access` in the access phase; off by default, as it is optional. */
  access?: boolean;
  /** Variables of its environment; workers see those that an `env` directive in `main` names. */
  env?: Record<string, string>;
  /** More nginx.conf text: at the top level, in http, the upstream, the server, `location /`. */
  main?: string;
  http?: string;
  upstream?: string;
  server?: string;
  location?: string;
  /** Directories with Lua modules that go before the library's. */
  lua_path?: string[];
  /** Where the compiled library is; the source tree's lua-out by default. */
  lua_out?: string;
  /** "notice" by default. */
  log_level?: string;
  /** Another template instead of nginx/testkit/gateway.conf: a path, and the words it wants. */
  template?: string;
  words?: Record<string, string | number>;
  /** Has the last word on nginx.conf's text. */
  edit?: (conf: string) => string;
  /** Port to listen on; a free one by default. */
  port?: number;
  /** Path that is polled at the start; any answer will do. "/kit/ready" by default. */
  ready_path?: string;
  /** Address space of each process, MB, 4000 by default; 0 = no limit. */
  memory_limit_mb?: number;
  /** Directory under which to keep its files; by default one that goes when it is stopped. */
  parent_dir?: string;
  leave_running?: boolean;
}

/** More than specs open. */
const KEEPALIVE = 256;
const WORKER_CONNECTIONS = 8192;

/** Address of a node as a `server` line has it. */
function serverLine(server: Backend | string, params: string): string {
  const text = typeof server === "string" ? server : `${server.address} ${params}`.trim();
  return `        server ${text};`;
}

function usesLibrary(balancer: string): boolean {
  return balancer === "ax" || balancer === "ax-off";
}

/** The http-level lines of the library, as users write them. `init` reads its configuration from a file. */
function axHttp(options: GatewayOptions, dir: string): string {
  const name = options.upstream_name ?? "backend";
  const config_path = join(dir, "ax.json");
  writeFileSync(config_path, JSON.stringify(options.ax ?? { upstreams: { [name]: {} } }, undefined, 2));
  return [
    `    lua_shared_dict ax ${options.shared_dict_size ?? "16m"};`,
    `    init_by_lua_block { require("resty.ax").init(${options.ax_lua ?? `"${config_path}"`}) }`,
    `    init_worker_by_lua_block { require("resty.ax").init_worker() }`,
    `    log_by_lua_block { require("resty.ax").log() }`,
  ].join("\n");
}

function balancerLines(balancer: string, name: string): string {
  if (balancer === "none" || balancer === "ax-off") return "";
  if (balancer !== "ax") return `        ${balancer}`;
  return `        balancer_by_lua_block { require("resty.ax").balancer("${name}") }`;
}

const AX_API = `        location /ax/ {
            allow 127.0.0.1;
            deny all;
            content_by_lua_block { require("resty.ax").api() }
        }`;

function luaPackagePath(options: GatewayOptions): string {
  const dirs = [...(options.lua_path ?? []), options.lua_out ?? join(ROOT, "lua-out")];
  return `${dirs.map((dir) => `${dir}/?.lua`).join(";")};;`;
}

/**
 * Text of a gateway's nginx.conf. Writes ax.json, the library's configuration, into `dir`.
 * @param dir the gateway's directory
 * @param port port it listens on
 * @param write also writes nginx.conf itself
 */
export function buildConf(options: GatewayOptions, dir: string, port: number, { write = false } = {}): string {
  const balancer = options.balancer ?? "ax";
  const name = options.upstream_name ?? "backend";
  const with_ax = usesLibrary(balancer);
  const template = options.template ?? join(KIT_DIR, "gateway.conf");
  const rendered = render(readFileSync(template, "utf8"), {
    load_modules: findNginx().load_modules,
    kit_dir: KIT_DIR,
    workers: options.workers ?? 1,
    worker_connections: options.worker_connections ?? WORKER_CONNECTIONS,
    // Some more than the connections, for logs and for what nginx itself has open.
    open_files: (options.worker_connections ?? WORKER_CONNECTIONS) + 1024,
    port,
    listen: `127.0.0.1:${port}`,
    nginx_dir: join(ROOT, "nginx"),
    lua_package_path: luaPackagePath(options),
    log_level: options.log_level ?? "notice",
    upstream_name: name,
    servers: options.servers.map((server) => serverLine(server, options.server_params ?? "")).join("\n"),
    balancer: balancerLines(balancer, name),
    keepalive: options.keepalive ?? KEEPALIVE,
    keepalive_line: options.keepalive === 0 ? "" : `keepalive ${options.keepalive ?? KEEPALIVE};`,
    ax_http: with_ax ? axHttp(options, dir) : "",
    ax_access:
      with_ax && options.access === true
        ? `            access_by_lua_block { require("resty.ax").access("${name}") }`
        : "",
    ax_api: with_ax ? AX_API : "",
    main: options.main ?? "",
    http: options.http ?? "",
    upstream: options.upstream ?? "",
    server: options.server ?? "",
    location: options.location ?? "",
    ...options.words,
  });
  const conf = options.edit?.(rendered) ?? rendered;
  if (write) writeFileSync(join(dir, "nginx.conf"), conf);
  return conf;
}
