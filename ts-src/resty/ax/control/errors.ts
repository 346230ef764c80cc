/**
 * Every error the API answers, under a stable code. docs/api.md explains each; a spec compares the two.
 */
export const API_ERRORS = {
  // The path is none of this API's.
  PathNotFound: 404,
  // No such upstream in the configuration.
  UpstreamNotFound: 404,
  // No such node in the upstream.
  NodeNotFound: 404,
  // Another method than those of the path.
  MethodNotAllowed: 405,
  // The location was mounted with read_only.
  MethodDisabled: 405,
  // A PATCH that is not application/json.
  UnsupportedMediaType: 415,
  // A body longer than any change needs.
  BodyTooLarge: 413,
  // The body could not be read.
  BodyUnreadable: 400,
  // The body is not JSON, or not an object.
  BodyNotJson: 400,
  // A field that does not exist.
  UnknownField: 400,
  // A field of the wrong type or out of range.
  BadValue: 400,
  // Nothing to change, or fields that contradict each other.
  BadChange: 400,
  // No room in the shared dict.
  StoreFull: 503,
  // A fault of ours.
  InternalError: 500,
  // init() or init_worker() has not run in this worker.
  NotInitialised: 503,
} as const;

export type ApiErrorCode = keyof typeof API_ERRORS;

export interface ApiResponse {
  status: number;
  body: unknown;
  /** Methods for the Allow header of a 405. */
  allow?: string;
  /** For the error log, at notice level: what was changed. */
  notice?: string;
}

/** An error document: status, stable code, text for people, where the code is explained. */
export function apiError(code: ApiErrorCode, text: string): ApiResponse {
  const status = API_ERRORS[code];
  return { status, body: { error: { status, code, text, href: `docs/api.md#${string.lower(code)}` } } };
}
