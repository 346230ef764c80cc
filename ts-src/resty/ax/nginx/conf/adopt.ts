import { quote } from "../../core/config/show";
import { suggest } from "../../core/config/suggest";
import type { AdoptResult } from "./adoption";
import { adoptFromApi } from "./from_api";
import { checkOrder, type OrderFindings } from "./block_order";
import { adoptFromBlock } from "./from_block";
import { locate, type Location, thisProcess } from "./locate";
import { apiServers, apiUpstreams, type UpstreamApi, upstreamApi } from "./ngx_upstream";
import { type NginxConf, readUpstreams } from "./upstreams";

export type { AdoptedServer, Adoption, AdoptResult } from "./adoption";

/** Names listed in an error; a configuration can have thousands. */
const MAX_LISTED = 20;

const LIST_THEM = 'list the nodes under "nodes"';

/** An nginx configuration, or why there is none. */
interface Source {
  location: Location;
  /** The user named the file: it must be readable. */
  given: boolean;
  conf?: NginxConf;
  /** Why it could not be read. */
  err?: string;
  /** That has been said in a warning. */
  warned: boolean;
}

/**
 * The servers of an upstream block: from ngx.upstream where nginx has it (with what it cannot tell
 * from the configuration file, if that can be read), else from nginx's configuration.
 *
 * Init phase: reads files and resolves names.
 * @param upstream name of the block, without regard to case
 * @param confPath nginx's main configuration file, relative to its prefix; found by itself if not given
 * @returns the servers, or undefined and an error text that says what was looked for, where, and
 *   what to do
 */
export function adopt(this: void, upstream: string, confPath?: string): AdoptResult {
  return adoptFrom(openSource(confPath), upstream);
}

/** For many upstreams: reads each configuration only once, at its first use, and keeps it as long as itself. */
export interface ConfReader {
  adopt: typeof adopt;
  /**
   * What the order of a block's directives makes of this library.
   * @returns undefined when the configuration cannot be read or has no such block
   */
  checkOrder(this: void, upstream: string, conf_path?: string): OrderFindings | undefined;
}

/** @returns a reader that has read nothing yet. Init phase. */
export function newConfReader(): ConfReader {
  const sources: Record<string, Source | undefined> = {};
  const sourceOf = (conf_path: string | undefined): Source => {
    const source = sources[conf_path ?? ""] ?? openSource(conf_path);
    sources[conf_path ?? ""] = source;
    return source;
  };
  return {
    adopt: (upstream, confPath) => adoptFrom(sourceOf(confPath), upstream),
    checkOrder(upstream, conf_path) {
      const block = sourceOf(conf_path).conf?.by_name[string.lower(upstream)];
      return block === undefined ? undefined : checkOrder(block);
    },
  };
}

/** @returns a function like `adopt` that reads each configuration only once */
export function newAdopt(): typeof adopt {
  return newConfReader().adopt;
}

function openSource(conf_path: string | undefined): Source {
  const location = locate(thisProcess, conf_path);
  const [conf, err] = readUpstreams(location.path);
  return { location, given: conf_path !== undefined, conf, err, warned: false };
}

function adoptFrom(source: Source, upstream: string): AdoptResult {
  const api = upstreamApi();
  if (api !== undefined && (source.conf !== undefined || !source.given)) return askApi(api, source, upstream);
  if (source.conf === undefined) return $multi(undefined, unreadable(source, upstream));
  const block = source.conf.by_name[string.lower(upstream)];
  if (block === undefined) return $multi(undefined, unknownInFile(source.conf, source.location, upstream));
  if (block.servers.length === 0) return $multi(undefined, emptyBlock(upstream, `${block.file}:${block.line}`));
  return adoptFromBlock(block);
}

function askApi(api: UpstreamApi, source: Source, upstream: string): AdoptResult {
  const servers = apiServers(api, upstream);
  const block = source.conf?.by_name[string.lower(upstream)];
  // The address of a proxy_pass can look like an empty block here.
  const absent = servers?.length === 0 && source.conf !== undefined && block === undefined;
  if (servers === undefined || absent) {
    return $multi(undefined, unknownUpstream(upstream, "nginx's configuration", apiUpstreams(api)));
  }
  if (servers.length === 0) return $multi(undefined, emptyBlock(upstream, "says ngx.upstream"));
  const [adoption, err] = adoptFromApi(upstream, servers, block);
  if (adoption !== undefined && source.conf === undefined && !source.warned) {
    source.warned = true;
    adoption.warnings.push(`max_conns of server lines cannot be seen: ${source.err}; ${lookedFor(source.location)}`);
  } else if (adoption !== undefined && source.conf !== undefined && block === undefined) {
    const text = `max_conns of the server lines cannot be seen: no upstream block ${quote(upstream)} in ${source.conf.path}`;
    adoption.warnings.push(`${text}; ${lookedFor(source.location)}`);
  }
  return $multi(adoption, err);
}

function lookedFor(location: Location): string {
  return `the file was found by: ${location.looked}; if nginx uses another one, set "nginx_conf" to its path`;
}

function unreadable(source: Source, upstream: string): string {
  const text = `upstream ${quote(upstream)}: nginx's configuration cannot be read: ${source.err}`;
  return `${text}; ${lookedFor(source.location)}, or ${LIST_THEM}`;
}

function emptyBlock(upstream: string, where: string): string {
  return `upstream ${quote(upstream)}: its block has no server lines (${where}); write some, or ${LIST_THEM}`;
}

function unknownInFile(conf: NginxConf, location: Location, upstream: string): string {
  const names: string[] = [];
  for (const block of conf.upstreams) names.push(block.name);
  const others = conf.files - 1;
  const includes = others === 0 ? "" : ` and the ${others} other ${others === 1 ? "file" : "files"} it includes`;
  return `${unknownUpstream(upstream, conf.path + includes, names)}; ${lookedFor(location)}`;
}

function unknownUpstream(upstream: string, where: string, names: string[]): string {
  const text = `no upstream block ${quote(upstream)} in the http block of ${where}`;
  if (names.length === 0) return `${text}: there is no upstream block at all`;
  const nearest = suggest(upstream, names);
  const hint = nearest === undefined ? "" : ` (did you mean ${quote(nearest)}?)`;
  let list = "";
  for (let i = 0; i < names.length && i < MAX_LISTED; i++) list += (i > 0 ? ", " : "") + quote(names[i]);
  if (names.length > MAX_LISTED) list += ` and ${names.length - MAX_LISTED} more`;
  return `${text}${hint}; there ${names.length === 1 ? "is" : "are"} ${list}`;
}
