import { type Agent, type IncomingHttpHeaders, request as httpRequest } from "node:http";

export interface HttpOptions {
  method?: string;
  headers?: Record<string, string>;
  /** Sent as JSON when it is not a string. */
  body?: unknown;
  /** Longest wait for the whole answer. */
  timeout_ms?: number;
  /** For connections kept open; without one, each request opens and closes its own. */
  agent?: Agent;
}

export interface HttpAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

/**
 * One HTTP request over a connection of its own.
 * @throws Error when there is no complete answer: refused, reset, cut short, timed out
 */
export function http(url: string, options: HttpOptions = {}): Promise<HttpAnswer> {
  const { method = "GET", timeout_ms = 10_000 } = options;
  const body =
    options.body === undefined || typeof options.body === "string" ? options.body : JSON.stringify(options.body);
  const length = body === undefined ? undefined : { "Content-Length": String(Buffer.byteLength(body)) };
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      url,
      {
        method,
        headers: { ...length, ...options.headers },
        agent: options.agent ?? false,
        signal: AbortSignal.timeout(timeout_ms),
      },
      (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (part: string) => (text += part));
        response.on("error", reject);
        response.on("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
      },
    );
    request.on("error", reject);
    request.end(body);
  });
}
