import type { CheckKind, ProbeConfig, ProbeHttpConfig } from "./config";
import type { HttpPlan } from "./http";

/** One check to be made: all that whoever makes it has to know. Immutable. */
export interface CheckJob {
  kind: CheckKind;
  upstream: string;
  node: string;
  /** IPv4, IPv6 in brackets, or "unix:/path". */
  host: string;
  /** 0 for a unix socket. */
  port: number;
  timeout_ms: number;
  config: ProbeConfig;
  /** Of an HTTP check. */
  http?: ProbeHttpConfig;
  plan?: HttpPlan;
}
