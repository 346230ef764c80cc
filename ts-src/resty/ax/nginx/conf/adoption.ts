/** One address behind a `server` line. Absent parameters were not written. */
export interface AdoptedServer {
  /** As written, e.g. "app:8080". */
  name: string;
  /** IPv4, IPv6 in brackets, or "unix:/path". */
  host: string;
  /** 1..65535; 0 for a unix socket. */
  port: number;
  /** 1 or more. */
  weight: number;
  max_fails?: number;
  fail_timeout_s?: number;
  /** 0 = no limit. */
  max_conns: number;
  backup: boolean;
  down: boolean;
}

/** The servers of one upstream block. */
export interface Adoption {
  servers: AdoptedServer[];
  /** "ngx.upstream", or the path of the file with the block. */
  from: string;
  /** What is odd but no error: one line each. */
  warnings: string[];
}

/** Servers of an upstream; or undefined and what was looked for, where, and what to do. */
export type AdoptResult = LuaMultiReturn<[Adoption | undefined, string | undefined]>;
