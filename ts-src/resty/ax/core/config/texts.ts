/** Checks of strings, for `check` and `key_check` of schemas. */

/** Names end up in keys of shared memory and in metrics' labels: longer ones are a mistake. */
export const MAX_NAME = 255;

function hasControl(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 32 || code === 127) return true;
  }
  return false;
}

/** @returns what is wrong with a name: 1..255 bytes without control characters */
export function checkName(text: string): string | undefined {
  if (text.length === 0) return `is empty; 1..${MAX_NAME} characters are needed`;
  if (text.length > MAX_NAME) return `is too long (${text.length}); at most ${MAX_NAME} bytes are allowed`;
  return hasControl(text) ? "has control characters; only printable ones are allowed" : undefined;
}

/** @returns what is wrong with a text that must not be empty: a path, a module's name */
export function checkNotEmpty(text: string): string | undefined {
  if (text.length === 0) return "is empty; leave the option out instead";
  return hasControl(text) ? "has control characters; only printable ones are allowed" : undefined;
}
