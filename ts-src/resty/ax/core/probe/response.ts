/**
 * Reads the answer to an HTTP check as it comes in (RFC 9112), in pieces of any size. The other side may send anything:
 * what is kept is bounded, and nothing is taken for an answer that is none. Every byte is copied a fixed number of times,
 * however small the pieces are: unfinished lines and bodies are kept as lists and joined once.
 */

/** Longest status line and headers together, those of 1xx answers included: what nginx itself takes by default is 8 kB. */
export const MAX_HEAD_BYTES = 16384;

/** Longest line that tells a chunk's size: 8 hex digits and some extensions. */
const MAX_CHUNK_LINE = 256;

/** Part of an answer that is under way. */
const enum Part {
  StatusLine,
  Header,
  Body,
  ChunkSize,
  ChunkData,
  ChunkEnd,
  Trailer,
  Done,
}

/** One answer. Written by `feed` and `finish`, read when `done`. */
export interface AnswerReader {
  /** The answer is there, as much of it as was asked for; or `problem` says why there is none. */
  done: boolean;
  problem?: string;
  /** 0 before the status line. */
  status: number;
  /** By lower-case name; several lines of one name are joined by commas. Only those of WANTED. */
  headers: Record<string, string | undefined>;
  /** Whole once `done` is true. */
  body: string;
  body_pieces: string[];
  body_bytes: number;
  /** Of the line that has begun: what earlier pieces brought of it. */
  line_pieces: string[];
  line_bytes: number;
  head_bytes: number;
  part: Part;
  /** Bytes of the body or chunk still to come; Infinity: until the connection is closed. */
  left: number;
  max_body_bytes: number;
  head_only: boolean;
}

/** The headers that mean something to a check. */
const WANTED: readonly string[] = [
  "content-length",
  "transfer-encoding",
  "x-ax-watermark",
  "x-ax-queue-depth",
  "endpoint-load-metrics",
  "endpoint-load-metrics-json",
];

/**
 * @param head_only the answer to HEAD: it has no body whatever its headers say
 * @param max_body_bytes more of a body is not waited for
 */
export function newAnswerReader(head_only: boolean, max_body_bytes: number): AnswerReader {
  return {
    done: false,
    status: 0,
    headers: {},
    body: "",
    body_pieces: [],
    body_bytes: 0,
    line_pieces: [],
    line_bytes: 0,
    head_bytes: 0,
    part: Part.StatusLine,
    left: 0,
    max_body_bytes,
    head_only,
  };
}

function fail(reader: AnswerReader, problem: string): void {
  reader.done = true;
  reader.problem = problem;
  reader.part = Part.Done;
}

function complete(reader: AnswerReader): void {
  reader.done = true;
  reader.body = reader.body_pieces.join("");
  reader.part = Part.Done;
}

/** The first bytes of what is no HTTP, as far as they can be shown. */
function shown(text: string): string {
  let out = "";
  for (let i = 0; i < text.length && i < 24; i++) {
    const code = text.charCodeAt(i);
    out += code >= 32 && code < 127 ? text.charAt(i) : ".";
  }
  return out;
}

function digitsOnly(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 48 || code > 57) return false;
  }
  return text !== "";
}

/** "HTTP/1.1 200 OK" @returns 0 when it is no status line */
function parseStatus(line: string): number {
  if (!line.startsWith("HTTP/1.")) return 0;
  const code = line.substring(9, 12);
  const after = line.substring(12, 13);
  const plain = line.substring(8, 9) === " " && digitsOnly(line.substring(7, 8)) && digitsOnly(code);
  if (!plain || (after !== "" && after !== " ")) return 0;
  const status = Number(code);
  return status >= 100 && status <= 599 ? status : 0;
}

function takeStatusLine(reader: AnswerReader, line: string): void {
  const status = parseStatus(line);
  if (status === 0) fail(reader, `no HTTP answer: it begins with "${shown(line)}"`);
  reader.status = status;
  if (status !== 0) reader.part = Part.Header;
}

function takeHeader(reader: AnswerReader, line: string): void {
  const colon = line.indexOf(":");
  if (colon <= 0) {
    // A line that continues the one before (obsolete, RFC 9112 5.2) belongs to a header that does not matter here.
    if (colon < 0 && !line.startsWith(" ") && !line.startsWith("\t")) {
      fail(reader, `a header that is none: "${shown(line)}"`);
    }
    return;
  }
  const name = line.substring(0, colon).toLowerCase();
  if (!WANTED.includes(name)) return;
  const value = line.substring(colon + 1).trim();
  const before = reader.headers[name];
  reader.headers[name] = before === undefined ? value : `${before}, ${value}`;
}

/** The empty line after the headers: what comes next. */
function endHead(reader: AnswerReader): void {
  const { status, headers } = reader;
  if (status < 200) {
    // 100 Continue, 103 Early Hints: the answer proper follows. 101 was not asked for.
    reader.headers = {};
    reader.part = Part.StatusLine;
    if (status === 101) fail(reader, "HTTP 101, which was not asked for");
    return;
  }
  const encoding = headers["transfer-encoding"];
  const length = headers["content-length"];
  if (reader.head_only || status === 204 || status === 304) complete(reader);
  else if (encoding !== undefined && encoding.toLowerCase().endsWith("chunked")) reader.part = Part.ChunkSize;
  else if (encoding !== undefined || length === undefined) {
    reader.left = Infinity;
    reader.part = Part.Body;
  } else if (!digitsOnly(length) || length.length > 15) fail(reader, `Content-Length "${shown(length)}"`);
  else {
    reader.left = Number(length);
    reader.part = Part.Body;
    if (reader.left === 0) complete(reader);
  }
  if (!reader.done && reader.max_body_bytes === 0) complete(reader);
}

const HEX = "0123456789abcdef";

/** @returns the size a chunk's line tells; undefined when it tells none */
function chunkSize(line: string): number | undefined {
  let size = 0;
  let digits = 0;
  while (digits < line.length) {
    const value = HEX.indexOf(line.charAt(digits).toLowerCase());
    if (value < 0) break;
    size = size * 16 + value;
    digits++;
  }
  const after = line.charAt(digits);
  const ends = after === "" || after === ";" || after === " " || after === "\t";
  return digits > 0 && digits <= 8 && ends ? size : undefined;
}

function takeChunkSize(reader: AnswerReader, line: string): void {
  const size = chunkSize(line);
  if (size === undefined) fail(reader, `a chunk of the size "${shown(line)}"`);
  else if (size === 0) reader.part = Part.Trailer;
  else {
    reader.left = size;
    reader.part = Part.ChunkData;
  }
}

/** Takes bytes of the body. @returns where the rest of the data begins */
function takeBody(reader: AnswerReader, data: string, from: number): number {
  const room = reader.max_body_bytes - reader.body_bytes;
  const count = Math.min(reader.left, data.length - from, room);
  reader.body_pieces[reader.body_pieces.length] = data.substring(from, from + count);
  reader.body_bytes += count;
  reader.left -= count;
  if (reader.body_bytes >= reader.max_body_bytes) complete(reader);
  else if (reader.left === 0 && reader.part === Part.Body) complete(reader);
  else if (reader.left === 0) reader.part = Part.ChunkEnd;
  return from + count;
}

function takeLine(reader: AnswerReader, line: string): void {
  const part = reader.part;
  if (part === Part.StatusLine) takeStatusLine(reader, line);
  else if (part === Part.Header && line === "") endHead(reader);
  else if (part === Part.Header) takeHeader(reader, line);
  else if (part === Part.ChunkSize) takeChunkSize(reader, line);
  else if (part === Part.ChunkEnd && line === "") reader.part = Part.ChunkSize;
  else if (part === Part.ChunkEnd) fail(reader, "a chunk longer than it says");
  else if (line === "") complete(reader);
}

function inBody(reader: AnswerReader): boolean {
  return reader.part === Part.Body || reader.part === Part.ChunkData;
}

/** @returns how long a line may be without its end */
function lineRoom(reader: AnswerReader): number {
  const is_chunk = reader.part === Part.ChunkSize || reader.part === Part.ChunkEnd;
  return is_chunk ? MAX_CHUNK_LINE : MAX_HEAD_BYTES - reader.head_bytes;
}

/** Adds to the line that has begun. @returns whether there is room for it */
function extendLine(reader: AnswerReader, piece: string): boolean {
  reader.line_pieces[reader.line_pieces.length] = piece;
  reader.line_bytes += piece.length;
  if (reader.line_bytes <= lineRoom(reader)) return true;
  fail(
    reader,
    reader.status === 0 && reader.head_bytes === 0
      ? `no HTTP answer: it begins with "${shown(reader.line_pieces.join(""))}"`
      : `more than ${MAX_HEAD_BYTES} bytes of headers`,
  );
  return false;
}

/** Takes a line, or what there is of it. @returns where the rest of the data begins */
function readLine(reader: AnswerReader, data: string, from: number): number {
  const end = data.indexOf("\n", from);
  if (!extendLine(reader, data.substring(from, end < 0 ? data.length : end)) || end < 0) return data.length;
  const line = reader.line_pieces.join("");
  if (reader.part <= Part.Header || reader.part === Part.Trailer) reader.head_bytes += reader.line_bytes + 1;
  reader.line_pieces = [];
  reader.line_bytes = 0;
  takeLine(reader, line.endsWith("\r") ? line.substring(0, line.length - 1) : line);
  return end + 1;
}

/**
 * Takes in what was received.
 * @param data bytes (Lua), or one character a byte (JavaScript)
 */
export function feed(reader: AnswerReader, data: string): void {
  let at = 0;
  while (!reader.done && at < data.length)
    at = inBody(reader) ? takeBody(reader, data, at) : readLine(reader, data, at);
}

/** The other side has closed the connection: nothing more will come. */
export function finish(reader: AnswerReader): void {
  if (reader.done) return;
  const nothing_came = reader.head_bytes === 0 && reader.line_bytes === 0;
  if (reader.part === Part.Body && reader.left === Infinity) complete(reader);
  else if (nothing_came) fail(reader, "the connection was closed without an answer");
  else fail(reader, "the connection was closed in the middle of the answer");
}
