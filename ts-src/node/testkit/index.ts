/** The test kit. docs/testkit.md is its guide. */
export { type Backend, type BackendCounters, type BackendOptions, type BackendSettings, type Delay } from "./backend";
export { startBackend, startBackends } from "./backend";
export { type Example, type ExampleOptions, startExample } from "./example";
export { checkGateway, type Gateway, startGateway, startupError } from "./gateway";
export { type GatewayOptions } from "./gateway_conf";
export { http, type HttpAnswer, type HttpOptions } from "./http";
export { type Kit, newKit, withKit } from "./kit";
export { findNginx } from "./nginx";
export { type OpenLoopOptions, type OpenLoopResult, runOpenLoop } from "./openloop";
export { freePort, isTaken } from "./ports";
export { cpuSeconds, isAlive, machineCpuSeconds } from "./proc";
export { NginxStartError } from "./server";
export { pause, waitFor } from "./wait";
export { findWrk, type LoadResult, QUANTILES, runWrk, type WrkOptions } from "./wrk";
