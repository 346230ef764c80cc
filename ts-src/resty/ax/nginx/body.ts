/** What became of reading a request's body. */
export interface Body {
  /** Absent when it is too long or unreadable. */
  text?: string;
  /** Longer than allowed. */
  too_large: boolean;
  /** Why it could not be read. */
  err?: string;
}

/** @returns the media type in lower case without parameters: "application/json"; "" when there is none */
export function contentType(): string {
  const [type] = string.match(ngx.var["content_type"] ?? "", "^%s*([^;%s]*)");
  return string.lower(type ?? "");
}

/** nginx puts a body past client_body_buffer_size into a file. */
function readSpooled(path: string, max_bytes: number): Body {
  const [file, err] = io.open(path, "rb");
  if (file === undefined) return { too_large: false, err: err ?? path };
  const text = file.read(max_bytes + 1) ?? "";
  file.close();
  return text.length > max_bytes ? { too_large: true } : { text, too_large: false };
}

/**
 * The body of the current request. Content phase; yields.
 *
 * @param max_bytes a longer one is not read where its length is announced, and not kept where it is not
 */
export function readBody(max_bytes: number): Body {
  const announced = tonumber(ngx.var["content_length"] ?? "");
  if (announced !== undefined && announced > max_bytes) return { too_large: true };
  const [ok, err] = pcall(ngx.req.read_body);
  if (!ok) return { too_large: false, err: tostring(err) };
  const text = ngx.req.get_body_data();
  if (text === undefined) {
    const path = ngx.req.get_body_file();
    return path === undefined ? { text: "", too_large: false } : readSpooled(path, max_bytes);
  }
  return text.length > max_bytes ? { too_large: true } : { text, too_large: false };
}
