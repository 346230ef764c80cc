/** Path of the current request without arguments, decoded and normalised by nginx. */
export function requestPath(): string {
  return ngx.var["uri"] ?? "/";
}

/** Whether the request's arguments have this one, with a value or without. */
export function hasArgument(name: string): boolean {
  const [at] = string.find(`&${ngx.var["args"] ?? ""}&`, `[&]${name}[=&]`);
  return at !== undefined;
}

/** The arguments of the current request, decoded; one given several times is a list of its values. */
export function queryArguments(): Record<string, unknown> {
  return ngx.req.get_uri_args();
}

/** Who the client has proved to be (auth_basic), or undefined. */
export function remoteUser(): string | undefined {
  const user = ngx.var["remote_user"];
  return user === "" ? undefined : user;
}

export function requestMethod(): string {
  return ngx.req.get_method();
}

/** Answers the current request with JSON. Content phase. */
export function respondJson(status: number, text: string, headers: Record<string, string>): void {
  ngx.status = status;
  ngx.header["Content-Type"] = "application/json";
  ngx.header["Cache-Control"] = "no-store";
  for (const [name, value] of pairs(headers)) ngx.header[name] = value;
  ngx.print(text, "\n");
}
