/**
 * lua-resty-ax: an adaptive upstream scheduler for OpenResty and nginx with the Lua module.
 * One function per nginx phase; see the README for the complete nginx.conf.
 */
export { init } from "./ax/phases/init";
export { initWorker as init_worker } from "./ax/phases/init_worker";
export { access } from "./ax/phases/access";
export { balancer } from "./ax/phases/balancer";
export { log } from "./ax/phases/log";
export { api } from "./ax/phases/api";

/** Version of the library. */
export const _VERSION = "0.1.0";
