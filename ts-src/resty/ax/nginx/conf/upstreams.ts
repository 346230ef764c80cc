import { quote } from "../../core/config/show";
import { directoryOf, fullPath, isPattern, matchingFiles, readFile } from "./files";
import { type Lexer, newLexer, readStatement, skipBlock } from "./lexer";
import { lineAt } from "./text";

/** A `server` line as written. */
export interface ServerLine {
  /** "server", the address, the parameters. */
  words: string[];
  file: string;
  line: number;
}

/** A statement of an upstream block: its first word, and where it is. */
export interface Directive {
  name: string;
  file: string;
  line: number;
}

export interface UpstreamBlock {
  name: string;
  file: string;
  line: number;
  servers: ServerLine[];
  /** Everything but the server lines, in the order in which nginx takes it. */
  directives: Directive[];
}

/** What an nginx configuration says of upstreams. Built by one reading, immutable afterwards. */
export interface NginxConf {
  path: string;
  /** In the order of the configuration. */
  upstreams: UpstreamBlock[];
  /** Lower-case name → block: nginx tells upstreams apart without regard to case. */
  by_name: Record<string, UpstreamBlock | undefined>;
  /** Files read, the main one included. */
  files: number;
}

/**
 * Where a reading gives up. nginx has no such limits; an installation of ten thousand sites with a
 * file each stays below, a file that includes itself in ever new ways does not.
 */
export const MAX_FILES = 20000;
export const MAX_TOTAL_BYTES = 64 * 1024 * 1024;
export const MAX_INCLUDE_DEPTH = 32;

const enum Context {
  Main,
  Http,
  Upstream,
}

interface Reading {
  conf: NginxConf;
  /** What relative includes are relative to: the main file's directory, in whatever file they are. */
  directory: string;
  bytes_left: number;
  /** The files being read, each with the line of the include in it: "/etc/nginx/nginx.conf:12". */
  chain: string[];
  /** Their paths. */
  open: string[];
  /** The upstream block being read. */
  block?: UpstreamBlock;
}

/**
 * Reads an nginx configuration and takes the `upstream` blocks directly in its `http` block. Includes
 * are followed where they can contain such blocks or their lines; other blocks are skipped unread.
 * Init phase: it blocks.
 * @param path full path of the main configuration file
 * @returns the upstreams, or undefined and an error text with file and line
 */
export function readUpstreams(path: string): LuaMultiReturn<[NginxConf | undefined, string | undefined]> {
  const conf: NginxConf = { path, upstreams: [], by_name: {}, files: 0 };
  const reading: Reading = { conf, directory: directoryOf(path), bytes_left: MAX_TOTAL_BYTES, chain: [], open: [] };
  const err = readWhole(reading, path, Context.Main);
  return $multi(err === undefined ? conf : undefined, err);
}

/** Reads one file, main or included. The last entry of `chain` says where it is included. */
function readWhole(reading: Reading, path: string, context: Context): string | undefined {
  const included_at = reading.chain[reading.chain.length - 1] as string | undefined;
  const prefix = included_at === undefined ? "" : `${included_at}: `;
  const refused = refuseInclude(reading, path);
  if (refused !== undefined) return prefix + refused;
  const [content, err] = readFile(path, reading.bytes_left);
  if (content === undefined) return `${prefix}cannot read ${path}: ${err}`;
  reading.conf.files++;
  reading.bytes_left -= content.length;
  reading.open.push(path);
  const failed = readBody(reading, newLexer(path, content), context);
  reading.open.pop();
  return failed;
}

/** Cycles and floods, before they are read. */
function refuseInclude(reading: Reading, path: string): string | undefined {
  if (reading.open.includes(path)) return `include cycle: ${reading.chain.join(" -> ")} -> ${path}`;
  const depth = reading.open.length;
  if (depth > MAX_INCLUDE_DEPTH) {
    const first = reading.chain.slice(0, 2).join(" -> ");
    const last = reading.chain.slice(depth - 2).join(" -> ");
    return `includes are more than ${MAX_INCLUDE_DEPTH} deep: ${first} -> ... -> ${last} -> ${path}`;
  }
  if (reading.conf.files >= MAX_FILES) return `the configuration includes more than ${MAX_FILES} files`;
  return undefined;
}

/**
 * Reads statements to the end of the file, or of the block.
 * @param opened the line of the block's start; undefined for a whole file
 */
function readBody(reading: Reading, lex: Lexer, context: Context, opened?: number): string | undefined {
  for (;;) {
    const [ending, err] = readStatement(lex);
    let failed: string | undefined;
    if (ending === undefined) {
      return err;
    } else if (ending === "eof") {
      return opened === undefined ? undefined : `${lex.file}:${opened}: the block that opens here is not closed`;
    } else if (ending === "}") {
      return opened === undefined ? `${lex.file}:${lineAt(lex, lex.start)}: unexpected "}"` : undefined;
    } else if (ending === "{") {
      failed = readBlock(reading, lex, context);
    } else if (lex.words[0] === "include") {
      failed = readInclude(reading, lex, context);
    } else if (lex.words[0] === "server" && context === Context.Upstream) {
      reading.block?.servers.push({ words: lex.words, file: lex.file, line: lineAt(lex, lex.start) });
    } else if (context === Context.Upstream) {
      noteDirective(reading, lex);
    }
    if (failed !== undefined) return failed;
  }
}

function noteDirective(reading: Reading, lex: Lexer): void {
  reading.block?.directives.push({ name: lex.words[0], file: lex.file, line: lineAt(lex, lex.start) });
}

function readBlock(reading: Reading, lex: Lexer, context: Context): string | undefined {
  if (context === Context.Main && lex.words[0] === "http") {
    return readBody(reading, lex, Context.Http, lineAt(lex, lex.start));
  }
  if (context === Context.Http && lex.words[0] === "upstream") return readUpstream(reading, lex);
  if (context === Context.Upstream) noteDirective(reading, lex);
  return skipBlock(lex);
}

function readUpstream(reading: Reading, lex: Lexer): string | undefined {
  const line = lineAt(lex, lex.start);
  const where = `${lex.file}:${line}`;
  if (lex.words.length !== 2) return `${where}: "upstream" needs one name, it has ${lex.words.length - 1}`;
  const block: UpstreamBlock = { name: lex.words[1], file: lex.file, line, servers: [], directives: [] };
  const key = string.lower(block.name);
  const other = reading.conf.by_name[key];
  if (other !== undefined) {
    return `${where}: duplicate upstream ${quote(block.name)}; the first is at ${other.file}:${other.line}`;
  }
  reading.conf.by_name[key] = block;
  reading.conf.upstreams.push(block);
  reading.block = block;
  return readBody(reading, lex, Context.Upstream, line);
}

function readInclude(reading: Reading, lex: Lexer, context: Context): string | undefined {
  const where = `${lex.file}:${lineAt(lex, lex.start)}`;
  if (lex.words.length !== 2) return `${where}: "include" needs one file name, it has ${lex.words.length - 1}`;
  const path = fullPath(reading.directory, lex.words[1]);
  let paths: string[] | undefined = [path];
  if (isPattern(path)) {
    let err: string | undefined;
    [paths, err] = matchingFiles(path);
    if (paths === undefined) return `${where}: cannot list ${quote(path)}: ${err}`;
  }
  reading.chain.push(where);
  for (let i = 0; i < paths.length; i++) {
    const failed = readWhole(reading, paths[i], context);
    if (failed !== undefined) return failed;
  }
  reading.chain.pop();
  return undefined;
}
