/** A file being read. Lives as long as the reading. */
export interface Text {
  /** Name for messages. */
  file: string;
  content: string;
  /** The next character; positions are counted from 1, in bytes. */
  pos: number;
  /** The line that `counted_to` is in. Lines are counted only when somebody asks. */
  line: number;
  counted_to: number;
}

export const enum CharCode {
  DoubleQuote = 34,
  Sharp = 35,
  Dollar = 36,
  SingleQuote = 39,
  Parenthesis = 41,
  Minus = 45,
  Semicolon = 59,
  OpenSquare = 91,
  Backslash = 92,
  Open = 123,
  Close = 125,
}

/** @returns the byte at a position, or undefined past the end */
export function byteAt(content: string, pos: number): number | undefined {
  const [code] = string.byte(content, pos, pos);
  return code;
}

/**
 * @param pos not before any position asked for earlier
 * @returns the line of a position, counted from 1
 */
export function lineAt(text: Text, pos: number): number {
  for (;;) {
    const [newline] = string.find(text.content, "\n", text.counted_to, true);
    if (newline === undefined || newline >= pos) break;
    text.line++;
    text.counted_to = newline + 1;
  }
  return text.line;
}
