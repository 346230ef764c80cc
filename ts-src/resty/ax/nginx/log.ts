/** Writes to nginx's error log. Any phase. */
export function logError(message: string): void {
  ngx.log(ngx.ERR, "lua-resty-ax: ", message);
}

export function logWarning(message: string): void {
  ngx.log(ngx.WARN, "lua-resty-ax: ", message);
}

export function logNotice(message: string): void {
  ngx.log(ngx.NOTICE, "lua-resty-ax: ", message);
}
