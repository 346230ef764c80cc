import { quote } from "../../core/config/show";
import { suggest } from "../../core/config/suggest";
import { parseCount, parseSeconds } from "./nginx_numbers";
import { parseServerAddress, type ServerAddress } from "./server_address";
import type { ServerLine } from "./upstreams";

/** A `server` line understood. max_fails and fail_timeout_s are absent when the line does not say them. */
export interface ParsedServer {
  /** The address as written. */
  name: string;
  address: ServerAddress;
  /** 1 or more, as nginx wants it. */
  weight: number;
  max_fails?: number;
  fail_timeout_s?: number;
  /** 0 = no limit. */
  max_conns: number;
  backup: boolean;
  down: boolean;
  /** "file:line", for messages. */
  where: string;
  warnings: string[];
}

/** nginx's default of `weight`. */
export const DEFAULT_WEIGHT = 1;

const KNOWN = ["weight=", "max_conns=", "max_fails=", "fail_timeout=", "backup", "down"];

const TIME_FORMS = 'a time such as "10", "10s" or "1m30s" (whole seconds)';

/** Parameters that mean nothing here, and why. */
const IGNORED: Record<string, string | undefined> = {
  slow_start: "nodes that return are always ramped up; see ramp_s",
  route: "there are no sticky sessions by route here",
};

/** Parameters that would be wrong to ignore, and what to do. */
const REFUSED: Record<string, string | undefined> = {
  resolve: 'names are resolved once, at start; take "resolve" out, or list the nodes under "nodes"',
  service: 'SRV records are not looked up; list the nodes under "nodes"',
};

/**
 * Understands a `server` line as ngx_http_upstream_server in src/http/ngx_http_upstream.c does.
 * @returns the server, or undefined and an error text that starts with file and line
 */
export function parseServerLine(line: ServerLine): LuaMultiReturn<[ParsedServer | undefined, string | undefined]> {
  const where = `${line.file}:${line.line}`;
  const name = line.words[1] as string | undefined;
  if (name === undefined) return $multi(undefined, `${where}: "server" needs an address`);
  for (let i = 1; i < line.words.length; i++) {
    if (string.find(line.words[i], "$", 1, true)[0] !== undefined) {
      const text = `${where}: server ${quote(name)}: variables are not possible in a server line`;
      return $multi(undefined, `${text}, neither here nor in nginx: ${quote(line.words[i])}`);
    }
  }
  const [address, address_err] = parseServerAddress(name);
  if (address === undefined) return $multi(undefined, `${where}: server ${quote(name)}: ${address_err}`);
  const server: ParsedServer = {
    name,
    address,
    weight: DEFAULT_WEIGHT,
    max_conns: 0,
    backup: false,
    down: false,
    where,
    warnings: [],
  };
  for (let i = 2; i < line.words.length; i++) {
    const err = takeParameter(server, line.words[i]);
    if (err !== undefined) return $multi(undefined, `${where}: server ${quote(name)}: ${err}`);
  }
  return $multi(server, undefined);
}

/** @returns what is wrong with the parameter, or undefined */
function takeParameter(server: ParsedServer, parameter: string): string | undefined {
  const [equals] = string.find(parameter, "=", 1, true);
  if (equals === undefined) return takeWord(server, parameter);
  const key = string.sub(parameter, 1, equals - 1);
  const value = string.sub(parameter, equals + 1);
  if (key === "fail_timeout") {
    server.fail_timeout_s = parseSeconds(value);
    return server.fail_timeout_s === undefined ? `${quote(parameter)}: ${TIME_FORMS} is needed` : undefined;
  }
  if (key === "weight" || key === "max_conns" || key === "max_fails") {
    const least = key === "weight" ? 1 : 0;
    const count = parseCount(value);
    if (count === undefined || count < least) return `${quote(parameter)}: a whole number from ${least} on is needed`;
    server[key] = count;
    return undefined;
  }
  return takeOther(server, key, parameter);
}

function takeWord(server: ParsedServer, word: string): string | undefined {
  if (word === "backup") {
    server.backup = true;
  } else if (word === "down") {
    server.down = true;
  } else if (word === "drain") {
    // nginx keeps it for clients with a sticky session, which nothing here has: no request goes there.
    server.down = true;
    server.warnings.push(`${server.where}: server ${quote(server.name)}: "drain" is taken as "down"`);
  } else {
    return takeOther(server, word, word);
  }
  return undefined;
}

function takeOther(server: ParsedServer, key: string, parameter: string): string | undefined {
  const refused = REFUSED[key];
  if (refused !== undefined) return `${quote(parameter)}: ${refused}`;
  const ignored = IGNORED[key];
  if (ignored === undefined) {
    const nearest = suggest(parameter, KNOWN) ?? suggest(`${key}=`, KNOWN);
    const hint = nearest === undefined ? "" : ` (did you mean ${quote(nearest)}?)`;
    return `unknown parameter ${quote(parameter)}${hint}; known are ${KNOWN.join(", ")}`;
  }
  server.warnings.push(`${server.where}: server ${quote(server.name)}: ${quote(parameter)} is ignored: ${ignored}`);
  return undefined;
}
