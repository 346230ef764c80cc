import { quote } from "../../core/config/show";
import { skipLuaBlock } from "./lua_block";
import { byteAt, CharCode, lineAt, type Text } from "./text";

/**
 * Statements of an nginx configuration file, cut as nginx cuts them (ngx_conf_read_token in
 * src/core/ngx_conf_file.c of nginx 1.29), with its oddities: "#" starts a comment only between
 * words, "}" ends nothing within a word, "${" does not open a block, ")" may follow a quote.
 */
export interface Lexer extends Text {
  /** The words of the statement read last. */
  words: string[];
  /** Where that statement starts. */
  start: number;
}

/** How a statement ends. "}" and "eof" have no words. */
export type Ending = ";" | "{" | "}" | "eof";

/**
 * Longest word, bytes. nginx's own limit is its buffer of 4096 bytes unless compiled otherwise; what
 * is longer than this is a quote that was not closed, or no configuration.
 */
export const MAX_WORD_BYTES = 65536;

const BLANK = "[ \t\r\n]";
const NOT_BLANK = "[^ \t\r\n]";
const BARE_END = "[ \t\r\n;{\\$]";

/** What nginx replaces in a word; other backslashes stay. */
const ESCAPES: Record<string, string> = {
  '\\"': '"',
  "\\'": "'",
  "\\\\": "\\",
  "\\t": "\t",
  "\\r": "\r",
  "\\n": "\n",
};

type Read = LuaMultiReturn<[Ending | undefined, string | undefined]>;

/**
 * @param file name for messages
 * @param content text of the whole file
 */
export function newLexer(file: string, content: string): Lexer {
  return { file, content, pos: 1, line: 1, counted_to: 1, words: [], start: 1 };
}

/** An error text for what is at a position not before the last statement's start. */
function failAt(lex: Lexer, pos: number, text: string): Read {
  return $multi(undefined, `${lex.file}:${lineAt(lex, pos)}: ${text}`);
}

/** Moves to the next character that is neither blank nor in a comment. */
function skipBlank(lex: Lexer): void {
  let at: number | undefined = string.find(lex.content, NOT_BLANK, lex.pos)[0];
  while (at !== undefined && byteAt(lex.content, at) === CharCode.Sharp) {
    const [end] = string.find(lex.content, "\n", at, true);
    at = end === undefined ? undefined : string.find(lex.content, NOT_BLANK, end)[0];
  }
  lex.pos = at ?? lex.content.length + 1;
}

/**
 * Reads the next statement: its words, its start, how it ends. A "{" leaves the position behind the
 * brace; the caller then reads the block's statements, or skips it with skipBlock.
 * @returns how the statement ends, or undefined and an error text with file and line
 */
export function readStatement(lex: Lexer): Read {
  const words: string[] = [];
  lex.words = words;
  skipBlank(lex);
  lex.start = lex.pos;
  for (;;) {
    const code = byteAt(lex.content, lex.pos);
    if (code === undefined) return atEnd(lex);
    let ending: Ending | undefined;
    let err: string | undefined;
    if (code === CharCode.Semicolon || code === CharCode.Open || code === CharCode.Close) {
      return readPunctuation(lex, code);
    } else if (code === CharCode.DoubleQuote || code === CharCode.SingleQuote) {
      [ending, err] = readQuoted(lex, code);
    } else {
      [ending, err] = readBare(lex);
    }
    if (ending !== undefined || err !== undefined) return $multi(ending, err);
    skipBlank(lex);
  }
}

function atEnd(lex: Lexer): Read {
  if (lex.words.length === 0) return $multi("eof", undefined);
  return failAt(lex, lex.start, 'unexpected end of file: the statement that starts here has no ";" or "{"');
}

function readPunctuation(lex: Lexer, code: number): Read {
  const empty = lex.words.length === 0;
  const char = string.char(code) as Ending;
  if (empty !== (code === CharCode.Close)) return failAt(lex, lex.pos, `unexpected "${char}"`);
  lex.pos++;
  return $multi(char, undefined);
}

/** Takes the word between two positions. */
function addWord(lex: Lexer, first: number, last: number): string | undefined {
  if (last - first >= MAX_WORD_BYTES) {
    return `a word of more than ${MAX_WORD_BYTES} bytes starts here: ${quote(string.sub(lex.content, first, first + 9))}`;
  }
  let word = string.sub(lex.content, first, last);
  if (string.find(word, "\\", 1, true)[0] !== undefined) [word] = string.gsub(word, "\\.", ESCAPES);
  lex.words.push(word);
  return undefined;
}

function readQuoted(lex: Lexer, mark: number): Read {
  const open = lex.pos;
  const end_or_escape = mark === CharCode.DoubleQuote ? '[\\"]' : "[\\']";
  let [at] = string.find(lex.content, end_or_escape, open + 1);
  while (at !== undefined && byteAt(lex.content, at) === CharCode.Backslash) {
    [at] = string.find(lex.content, end_or_escape, at + 2);
  }
  if (at === undefined) return failAt(lex, open, `the ${string.char(mark)} that opens here is not closed`);
  const err = addWord(lex, open + 1, at - 1);
  if (err !== undefined) return failAt(lex, open, err);
  lex.pos = at + 1;
  const code = byteAt(lex.content, lex.pos);
  if (code === undefined || code === CharCode.Parenthesis) return $multi(undefined, undefined);
  if (code === CharCode.Semicolon || code === CharCode.Open) return readPunctuation(lex, code);
  const char = string.sub(lex.content, lex.pos, lex.pos);
  if (string.find(char, BLANK)[0] !== undefined) return $multi(undefined, undefined);
  return failAt(lex, lex.pos, `unexpected ${quote(char)} after a closing quote`);
}

function readBare(lex: Lexer): Read {
  const content = lex.content;
  const first = lex.pos;
  let pos = first;
  for (;;) {
    const [at] = string.find(content, BARE_END, pos);
    if (at === undefined) {
      return failAt(lex, lex.start, 'unexpected end of file: the statement that starts here has no ";" or "{"');
    }
    const code = byteAt(content, at);
    if (code === CharCode.Backslash) {
      pos = at + 2;
    } else if (code === CharCode.Dollar) {
      pos = at + 1;
      while (byteAt(content, pos) === CharCode.Open) pos++;
    } else {
      const err = addWord(lex, first, at - 1);
      if (err !== undefined) return failAt(lex, first, err);
      lex.pos = at;
      if (code === CharCode.Semicolon || code === CharCode.Open) return readPunctuation(lex, code);
      return $multi(undefined, undefined);
    }
  }
}

/** @returns whether the statement just read opens a block of Lua, not of nginx statements */
function opensLua(lex: Lexer): boolean {
  return string.sub(lex.words[0], -13) === "_by_lua_block";
}

/**
 * Skips the block whose "{" was just read, whatever is in it.
 * @returns an error text with file and line, or undefined
 */
export function skipBlock(lex: Lexer): string | undefined {
  if (opensLua(lex)) return skipLuaBlock(lex);
  const opened = lineAt(lex, lex.start);
  let depth = 1;
  while (depth > 0) {
    const [ending, err] = readStatement(lex);
    if (ending === undefined) return err;
    if (ending === "eof") return `${lex.file}:${opened}: the block that opens here is not closed`;
    if (ending === "}") depth--;
    else if (ending === "{" && !opensLua(lex)) depth++;
    else if (ending === "{") {
      const lua_err = skipLuaBlock(lex);
      if (lua_err !== undefined) return lua_err;
    }
  }
  return undefined;
}
