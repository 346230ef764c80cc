/** Checks of what goes into the request of a check. */

/** Longest path, header value and the like: what fits in one line of what servers take. */
const MAX_TEXT = 1024;

/** @returns whether a byte may stand in a request line or a header's value */
function isVisible(code: number): boolean {
  return code > 32 && code < 127;
}

/** @returns what is wrong with the path of a request */
export function checkPath(text: string): string | undefined {
  if (!text.startsWith("/")) return 'does not start with "/"; a path like "/healthz" is needed';
  if (text.length > MAX_TEXT) return `is too long (${text.length}); at most ${MAX_TEXT} bytes are allowed`;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 32) return 'has a space in it; write it as "%20"';
    if (code === 35) return 'has a "#" in it, which is no part of a request; leave out what follows it';
    if (!isVisible(code)) return "has characters that a request line must not have; write them as %XX";
  }
  return undefined;
}

/** @returns what is wrong with a Host header */
export function checkHost(text: string): string | undefined {
  if (text === "") return "is empty; leave the option out instead";
  if (text.length > 255) return `is too long (${text.length}); at most 255 bytes are allowed`;
  for (let i = 0; i < text.length; i++) {
    const char = text.charAt(i);
    if (!isVisible(text.charCodeAt(i)) || "/@?#".includes(char)) {
      return 'is no host; a name or address is needed, perhaps with a port: "app.internal", "10.0.0.1:8080"';
    }
  }
  return undefined;
}

/** @returns what is wrong with a name for SNI */
export function checkServerName(text: string): string | undefined {
  const wrong = checkHost(text);
  if (wrong !== undefined) return wrong;
  return text.includes(":") ? "has a colon in it; a name without a port is needed" : undefined;
}

/** Beside letters and digits: what a header's name may have (RFC 9110 5.6.2). */
const TOKEN_SIGNS = "!#$%&'*+-.^_`|~";

/** They say where the message ends; a check has no body, and its connection is not used again. */
const OWN_HEADERS = ["connection", "content-length", "transfer-encoding"];

/** @returns what is wrong with the name of a header */
export function checkHeaderName(text: string): string | undefined {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    const letter = (code >= 97 && code <= 122) || (code >= 65 && code <= 90);
    const digit = code >= 48 && code <= 57;
    if (!letter && !digit && !TOKEN_SIGNS.includes(text.charAt(i))) {
      return "is no header's name; letters, digits and - are needed";
    }
  }
  if (text === "" || text.length > 255) return "is no header's name; 1..255 characters are needed";
  if (text.toLowerCase() === "host") return "cannot be set here; use host";
  return OWN_HEADERS.includes(text.toLowerCase()) ? "cannot be set: the check needs its own" : undefined;
}

/** @returns what is wrong with the value of a header */
export function checkHeaderValue(text: string): string | undefined {
  if (text.length > MAX_TEXT) return `is too long (${text.length}); at most ${MAX_TEXT} bytes are allowed`;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if ((code < 32 && code !== 9) || code === 127) return "has control characters; only printable ones are allowed";
  }
  return undefined;
}

/** @returns what is wrong with a regular expression, without compiling it */
export function checkRegexText(text: string): string | undefined {
  if (text === "") return "is empty: it matches anything; leave the option out instead";
  return text.length > MAX_TEXT ? `is too long (${text.length}); at most ${MAX_TEXT} bytes are allowed` : undefined;
}
