import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Child } from "./child";
import { http } from "./http";
import { findNginx } from "./nginx";
import { freePort } from "./ports";
import { despitePortRaces, errorLogPath, startServer } from "./server";
import { KIT_DIR, newDir, readIfThere, removeDir, render } from "./workdir";

/** How long a request is worked on. All times in ms, 0..60000; slow_share 0..1. */
export type Delay =
  | { dist: "fixed"; mean_ms: number }
  | { dist: "exp"; mean_ms: number }
  | { dist: "exp"; p99_ms: number }
  | { dist: "uniform"; min_ms: number; max_ms: number }
  | { dist: "lognormal"; p50_ms: number; p99_ms: number }
  | { dist: "bimodal"; fast_mean_ms: number; slow_mean_ms: number; slow_share: number };

/** Behaviour of a backend. docs/testkit.md explains each. */
export interface BackendSettings {
  delay: Delay;
  /** 0..1. */
  error_share: number;
  /** 400..599; 444 closes the connection without an answer. */
  error_status: number;
  /** Delay of errors, ms, without taking a slot; null: as long as any request, in a slot. */
  error_delay_ms: number | null;
  /** Share of requests that never get an answer, 0..1. */
  hang_share: number;
  /** Requests worked on at a time, the rest waiting in a line; 0 = no limit. */
  slots: number;
  /** Size of the body; 0 = the backend's name. */
  body_bytes: number;
  /** Pieces in which the body is sent when body_interval_ms is not 0. */
  body_chunks: number;
  /** Pause between pieces, ms. */
  body_interval_ms: number;
}

/** What a backend saw since its start or the last reset. Control requests do not count. */
export interface BackendCounters {
  requests: number;
  /** Connections opened to it that carried a request. */
  connections: number;
  upgrades: number;
  /** Delays drawn, and their sum: the distribution as asked for, before timers and scheduling. */
  delays: number;
  delay_sum_ms: number;
  /** Ended requests by status; 499 = the client left first. */
  by_status: Record<string, number>;
  /** Being worked on now. */
  active: number;
  max_active: number;
  /** Waiting for a slot now. */
  queued: number;
  max_queued: number;
}

export interface BackendOptions {
  /** Sent in the X-Backend header. */
  name?: string;
  settings?: Partial<BackendSettings>;
  /** Address to listen on: "127.0.0.1" (default), another of this machine, "[::1]", or "unix". */
  host?: string;
  /** Port to listen on; a free one by default. */
  port?: number;
  /** Seed of its delays and errors. */
  seed?: number;
  /** Directory under which to keep its files; by default one that goes when it is stopped. */
  parent_dir?: string;
  leave_running?: boolean;
}

export interface Backend {
  name: string;
  /** As in a `server` line: "127.0.0.1:8080" or "unix:/path". */
  address: string;
  /** 0 for a unix socket. */
  port: number;
  control_url: string;
  dir: string;
  pid(): number;
  isAlive(): boolean;
  /** Changes settings; those not named stay. Survives restart(). */
  set(settings: Partial<BackendSettings>): Promise<void>;
  settings(): Promise<BackendSettings>;
  counters(): Promise<BackendCounters>;
  resetCounters(): Promise<void>;
  errorLog(): string;
  /** Ends the process at once, in the middle of whatever it is doing. */
  kill(): Promise<void>;
  /** A new process at the same address with the same settings; counters start from 0. */
  restart(): Promise<void>;
  /** Stops the process from running without ending it: connections stay open, nothing is answered. */
  pause(): void;
  resume(): void;
  /** Ends the process and, unless told otherwise or given a parent_dir, removes its files. */
  stop(options?: { keep_files?: boolean }): Promise<void>;
}

/** A backend is a small program; this is far above what it needs. */
const MEMORY_LIMIT_MB = 4000;

interface Place {
  listen: string;
  address: string;
  port: number;
  control_port: number;
}

async function choosePlace(socket_path: string, options: BackendOptions): Promise<Place> {
  const host = options.host ?? "127.0.0.1";
  const control_port = await freePort();
  if (host === "unix") {
    const address = `unix:${socket_path}`;
    return { listen: address, address, port: 0, control_port };
  }
  const port = options.port ?? (await freePort(host.replace(/[[\]]/g, "")));
  return { listen: `${host}:${port}`, address: `${host}:${port}`, port, control_port };
}

async function run(dir: string, name: string, place: Place, options: BackendOptions): Promise<Child> {
  const conf = render(readFileSync(join(KIT_DIR, "backend.conf"), "utf8"), {
    load_modules: findNginx().load_modules,
    kit_dir: KIT_DIR,
    name,
    seed: options.seed ?? 1,
    settings_path: join(dir, "settings.json"),
    listen: place.listen,
    error_log: "error.log",
    control_listen: `127.0.0.1:${place.control_port}`,
  });
  // What kill -9 left: nginx does not bind over an existing socket file.
  if (place.port === 0) rmSync(place.address.slice("unix:".length), { force: true });
  return startServer({
    dir,
    conf,
    memory_limit_mb: MEMORY_LIMIT_MB,
    leave_running: options.leave_running,
    isReady: () =>
      http(`http://127.0.0.1:${place.control_port}/`, { timeout_ms: 2000 }).then(
        (answer) => (JSON.parse(answer.text) as { name: string }).name === name,
        () => false,
      ),
  });
}

interface State {
  settings: BackendSettings;
  counters: BackendCounters;
}

async function control(url: string, method: string, body?: unknown): Promise<State> {
  const answer = await http(url, { method, body });
  if (answer.status !== 200) throw new Error(`backend control ${method}: ${answer.status} ${answer.text.trim()}`);
  const state = JSON.parse(answer.text) as State;
  state.counters.by_status ??= {};
  return state;
}

/** What startBackend hands over when the process runs. */
interface Started {
  name: string;
  dir: string;
  socket_dir: string | undefined;
  place: Place;
  child: Child;
  /** Written by set(), read by writeSettings(): what a new process starts with. */
  settings: Partial<BackendSettings>;
  options: BackendOptions;
  writeSettings: () => void;
}

function backendOf({ name, dir, socket_dir, place, child, settings, options, writeSettings }: Started): Backend {
  const control_url = `http://127.0.0.1:${place.control_port}/`;
  let current = child;
  return {
    name,
    address: place.address,
    port: place.port,
    control_url,
    dir,
    pid: () => current.pid,
    isAlive: () => current.isAlive(),
    set: async (changes) => {
      await control(control_url, "PATCH", changes);
      Object.assign(settings, changes);
      writeSettings();
    },
    settings: async () => (await control(control_url, "GET")).settings,
    counters: async () => (await control(control_url, "GET")).counters,
    resetCounters: async () => void (await control(`${control_url}counters`, "DELETE")),
    errorLog: () => readIfThere(errorLogPath(dir)),
    kill: () => current.stop("SIGKILL"),
    restart: async () => {
      if (current.isAlive()) await current.stop("SIGTERM");
      current = await despitePortRaces(() => run(dir, name, place, options));
    },
    pause: () => current.signal("SIGSTOP"),
    resume: () => current.signal("SIGCONT"),
    stop: async ({ keep_files = options.parent_dir !== undefined } = {}) => {
      if (current.isAlive()) {
        current.signal("SIGCONT");
        await current.stop("SIGTERM");
      }
      if (socket_dir !== undefined) removeDir(socket_dir);
      if (!keep_files) removeDir(dir);
    },
  };
}

let unnamed = 0;

/**
 * Starts a backend: an nginx process of its own that behaves as its settings say.
 * @throws NginxStartError when it does not start
 */
export async function startBackend(options: BackendOptions = {}): Promise<Backend> {
  const name = options.name ?? `backend-${++unnamed}`;
  const dir = newDir(name, options.parent_dir);
  const settings: Partial<BackendSettings> = { ...options.settings };
  const writeSettings = (): void => writeFileSync(join(dir, "settings.json"), JSON.stringify(settings));
  writeSettings();
  // Not in `dir`: the path of a socket may have 107 bytes only.
  const socket_dir = options.host === "unix" ? newDir("ax", tmpdir()) : undefined;
  const { place, child } = await despitePortRaces(async () => {
    const chosen = await choosePlace(join(socket_dir ?? dir, "http.sock"), options);
    return { place: chosen, child: await run(dir, name, chosen, options) };
  });
  return backendOf({ name, dir, socket_dir, place, child, settings, options, writeSettings });
}

/**
 * Starts several backends, named by `prefix` and 1, 2, ….
 * @param count how many
 * @param options for each of them; seeds differ
 */
export async function startBackends(count: number, options: BackendOptions = {}): Promise<Backend[]> {
  const prefix = options.name ?? "b";
  const starts: Promise<Backend>[] = [];
  for (let i = 1; i <= count; i++) {
    starts.push(startBackend({ ...options, name: `${prefix}${i}`, seed: (options.seed ?? 1) * 1000 + i }));
  }
  return Promise.all(starts);
}
