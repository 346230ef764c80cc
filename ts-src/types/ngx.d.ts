/**
 * Narrow typings for the parts of the ngx API that lua-resty-ax uses. Only files under
 * ts-src/resty/ax/nginx/ may use them; the rest of the library sees our own wrappers.
 */

/** One zone declared with lua_shared_dict. Every method is atomic over all workers. */
interface NgxSharedDict {
  get(
    this: NgxSharedDict,
    key: string,
  ): LuaMultiReturn<[string | number | boolean | undefined, number | string | undefined]>;
  set(
    this: NgxSharedDict,
    key: string,
    value: string | number | boolean | undefined,
    exptime_s?: number,
  ): LuaMultiReturn<[boolean, string | undefined, boolean | undefined]>;
  safe_set(
    this: NgxSharedDict,
    key: string,
    value: string | number | boolean,
    exptime_s?: number,
  ): LuaMultiReturn<[boolean | undefined, string | undefined]>;
  safe_add(
    this: NgxSharedDict,
    key: string,
    value: string | number | boolean,
    exptime_s?: number,
  ): LuaMultiReturn<[boolean | undefined, string | undefined]>;
  incr(
    this: NgxSharedDict,
    key: string,
    value: number,
    init?: number,
  ): LuaMultiReturn<[number | undefined, string | undefined]>;
  delete(this: NgxSharedDict, key: string): void;
  rpush(
    this: NgxSharedDict,
    key: string,
    value: string | number,
  ): LuaMultiReturn<[number | undefined, string | undefined]>;
  lpop(this: NgxSharedDict, key: string): LuaMultiReturn<[string | number | undefined, string | undefined]>;
  llen(this: NgxSharedDict, key: string): LuaMultiReturn<[number | undefined, string | undefined]>;
  capacity(this: NgxSharedDict): number;
  free_space(this: NgxSharedDict): number;
}

/** @noSelf */
interface NgxTimer {
  every(
    delay_s: number,
    callback: (this: void, premature: boolean) => void,
  ): LuaMultiReturn<[number | undefined, string | undefined]>;
  at(
    delay_s: number,
    callback: (this: void, premature: boolean) => void,
  ): LuaMultiReturn<[number | undefined, string | undefined]>;
}

/** @noSelf */
interface NgxWorker {
  id(): number | undefined;
  pid(): number;
  count(): number;
  exiting(): boolean;
}

/** @noSelf */
interface NgxConfig {
  prefix(): string;
  nginx_configure(): string;
  nginx_version: number;
  ngx_lua_version: number;
  subsystem: string;
}

/** @noSelf */
interface NgxReq {
  get_method(): string;
  /** Seconds, ms resolution. */
  start_time(this: void): number;
  get_headers(max?: number): Record<string, string | string[] | undefined>;
  read_body: (this: void) => void;
  get_body_data(): string | undefined;
  get_body_file(): string | undefined;
  get_uri_args(max?: number): Record<string, string | true | (string | true)[] | undefined>;
}

/** A cosocket. Timer, access and content phases. */
interface NgxTcpSocket {
  settimeouts(this: NgxTcpSocket, connect_ms: number, send_ms: number, read_ms: number): void;
  connect(
    this: NgxTcpSocket,
    host: string,
    port_or_options?: number | { pool: string },
    options?: { pool: string },
  ): LuaMultiReturn<[number | undefined, string | undefined]>;
  sslhandshake(
    this: NgxTcpSocket,
    session: boolean | undefined,
    server_name: string | undefined,
    verify: boolean,
  ): LuaMultiReturn<[unknown, string | undefined]>;
  send(this: NgxTcpSocket, data: string): LuaMultiReturn<[number | undefined, string | undefined]>;
  receiveany(this: NgxTcpSocket, max: number): LuaMultiReturn<[string | undefined, string | undefined]>;
  close(this: NgxTcpSocket): LuaMultiReturn<[number | undefined, string | undefined]>;
}

/** A light thread. */
interface NgxLightThread {
  readonly __light_thread: never;
}

/** @noSelf */
interface NgxThreads {
  spawn<A extends unknown[]>(body: (this: void, ...args: A) => void, ...args: A): NgxLightThread;
  kill(thread: NgxLightThread): LuaMultiReturn<[true | undefined, string | undefined]>;
}

/** @noSelf */
interface NgxRegex {
  /** Begin and end of the first match; undefined and undefined without one; a third value is an error. */
  find(
    subject: string,
    regex: string,
    options?: string,
  ): LuaMultiReturn<[number | undefined, number | undefined, string | undefined]>;
}

/** @noSelf */
interface NgxApi {
  socket: { tcp(this: void): LuaMultiReturn<[NgxTcpSocket | undefined, string | undefined]> };
  thread: NgxThreads;
  re: NgxRegex;
  shared: Record<string, NgxSharedDict | undefined>;
  timer: NgxTimer;
  worker: NgxWorker;
  config: NgxConfig;
  req: NgxReq;
  var: Record<string, string | undefined>;
  header: Record<string, string | number | undefined>;
  status: number;
  is_subrequest: boolean;
  ERR: number;
  WARN: number;
  NOTICE: number;
  ERROR: number;
  log(level: number, ...message: (string | number | boolean | undefined)[]): void;
  get_phase(): string;
  exit(status: number): void;
  on_abort(callback: (this: void) => void): LuaMultiReturn<[unknown, string | undefined]>;
  say(text: string): void;
  print(...text: string[]): void;
  now(): number;
  sleep(delay_s: number): void;
}

declare const ngx: NgxApi;

declare module "ngx.balancer" {
  /** @noSelf */
  interface Balancer {
    set_current_peer(
      this: void,
      address: string,
      port?: number,
    ): LuaMultiReturn<[true | undefined, string | undefined]>;
    /** From lua-resty-core 0.1.29 on. */
    enable_keepalive?(
      idle_timeout_s: number,
      max_requests: number,
    ): LuaMultiReturn<[true | undefined, string | undefined]>;
    set_more_tries(count: number): LuaMultiReturn<[true | undefined, string | undefined]>;
    get_last_failure(
      this: void,
    ): LuaMultiReturn<["next" | "failed" | "keepalive" | undefined, number | string | undefined]>;
  }
  const balancer: Balancer;
  export = balancer;
}

declare module "ngx.semaphore" {
  export interface NgxSemaphore {
    wait(this: NgxSemaphore, timeout_s: number): LuaMultiReturn<[boolean | undefined, string | undefined]>;
    post(this: NgxSemaphore, count: number): boolean;
    /** Negative: how many wait. */
    count(this: NgxSemaphore): number;
  }
  function create(this: void, count: number): LuaMultiReturn<[NgxSemaphore | undefined, string | undefined]>;
  export { create as new };
}

declare module "resty.core.base" {
  /** @noSelf */
  interface Base {
    /** The nginx request structure's address as cdata; undefined outside a request. */
    get_request(this: void): unknown;
  }
  const base: Base;
  export = base;
}

declare module "jit.opt" {
  /** Sets flags and limits of the compiler, by "name=value". */
  export function start(this: void, ...options: string[]): void;
}

declare module "resty.core.time" {
  /** @noSelf */
  interface Time {
    monotonic_msec(this: void): number;
  }
  const time: Time;
  export = time;
}

declare module "cjson.safe" {
  /** @noSelf */
  interface Cjson {
    encode(value: unknown): LuaMultiReturn<[string | undefined, string | undefined]>;
    decode(text: string): LuaMultiReturn<[unknown, string | undefined]>;
    encode_sparse_array(convert: boolean, ratio?: number, safe?: number): void;
  }
  function create(): Cjson;
  const empty_array_mt: LuaMetatable<object>;
  /** What JSON's null becomes: a value that is not nil. */
  const json_null: unknown;
  export { create as new, empty_array_mt, json_null as null };
}
