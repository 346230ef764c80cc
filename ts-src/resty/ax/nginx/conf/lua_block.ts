import { byteAt, CharCode, lineAt, type Text } from "./text";

/**
 * Finds the end of a block of Lua code, as lua-nginx-module finds it: braces are counted, except in
 * the tokens of its lexer (util/gen-lexer-c and ngx_http_lua_conf_read_lua_token in
 * src/ngx_http_lua_directive.c of lua-nginx-module 0.10.29): long brackets, comments, and strings
 * that end on the line they start on. A quote that has no partner on its line is no string.
 */

/** Characters that a token can start with. "]" is left out: stray "]==]" changes nothing. */
const TOKEN_START = "[%[{}'\"%-]";

/** Where quotes cannot be closed before: a failed search need not be made again from later quotes. */
interface Unclosed {
  double_to: number;
  single_to: number;
}

/**
 * Skips a block of Lua whose "{" was just read; leaves the position behind the "}" that closes it.
 * @returns an error text with file and line, or undefined
 */
export function skipLuaBlock(text: Text): string | undefined {
  const content = text.content;
  const opened = text.pos;
  const unclosed: Unclosed = { double_to: 0, single_to: 0 };
  let level = 1;
  let pos: number | undefined = opened;
  while (level > 0) {
    const [at]: [number | undefined] = [string.find(content, TOKEN_START, pos)[0]];
    if (at === undefined) return `${text.file}:${lineAt(text, opened)}: the block of Lua that opens here is not closed`;
    const code = byteAt(content, at);
    if (code === CharCode.Open) level++;
    else if (code === CharCode.Close) level--;
    if (code === CharCode.OpenSquare) pos = afterLongBracket(content, at, at);
    else if (code === CharCode.Minus) pos = afterMinus(content, at);
    else if (code === CharCode.DoubleQuote || code === CharCode.SingleQuote)
      pos = afterQuote(content, at, code, unclosed);
    else pos = at + 1;
    if (pos === undefined) return `${text.file}:${lineAt(text, at)}: the long bracket that opens here is not closed`;
  }
  text.pos = pos;
  return undefined;
}

/**
 * @param start where the token starts: at the bracket, or at the "--" before it
 * @param at the "["
 * @returns the position behind the closing bracket, behind `start` if this is no long bracket, or
 *   undefined if it is not closed
 */
function afterLongBracket(content: string, start: number, at: number): number | undefined {
  const [, open_end] = string.find(content, "^%[=*%[", at);
  if (open_end === undefined) return start + 1;
  const closing = "]" + string.rep("=", open_end - at - 1) + "]";
  const [, close_end] = string.find(content, closing, open_end + 1, true);
  return close_end === undefined ? undefined : close_end + 1;
}

/** @returns the position behind the comment, if "-" starts one; undefined as in afterLongBracket */
function afterMinus(content: string, at: number): number | undefined {
  if (byteAt(content, at + 1) !== CharCode.Minus) return at + 1;
  if (string.find(content, "^%[=*%[", at + 2)[0] !== undefined) return afterLongBracket(content, at, at + 2);
  const [newline] = string.find(content, "\n", at, true);
  return newline ?? content.length + 1;
}

/** @returns the position behind the string, or behind the quote when it is not closed on its line */
function afterQuote(content: string, at: number, mark: number, unclosed: Unclosed): number {
  const double = mark === CharCode.DoubleQuote;
  // A search that failed up to some line end fails from any later quote before that line end, too:
  // such a quote was passed as an escaped one, and from there on both searches read the same.
  if (at < (double ? unclosed.double_to : unclosed.single_to)) return at + 1;
  const pattern = double ? '[\\\n"]' : "[\\\n']";
  let [end] = string.find(content, pattern, at + 1);
  while (
    end !== undefined &&
    byteAt(content, end) === CharCode.Backslash &&
    string.sub(content, end + 1, end + 1) !== "\n"
  ) {
    [end] = string.find(content, pattern, end + 2);
  }
  if (end !== undefined && byteAt(content, end) === mark) return end + 1;
  if (double) unclosed.double_to = end ?? content.length + 1;
  else unclosed.single_to = end ?? content.length + 1;
  return at + 1;
}
