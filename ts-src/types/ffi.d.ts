/** Narrow typings for LuaJIT's FFI: cdata is opaque, conversions are explicit at the call. */
declare module "ffi" {
  /** @noSelf */
  interface Ffi {
    cdef(declarations: string): void;
    /** Library symbols; the caller states the signatures it declared with cdef. */
    C: unknown;
    "new"(type: string, ...init: unknown[]): unknown;
    cast(this: void, type: string, value: unknown): unknown;
    string(data: unknown, length?: number): string;
    sizeof(type: string): number;
    errno(): number;
    copy(to: unknown, from: unknown, length?: number): void;
  }
  const ffi: Ffi;
  export = ffi;
}
