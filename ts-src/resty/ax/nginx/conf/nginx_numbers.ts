/** Numbers and times as nginx's configuration writes them. */

/** nginx's limit, 2^63 - 1, as near as a double comes to it. */
const MAX_INT = 9223372036854775808;

/**
 * @param text decimal digits (ngx_atoi in src/core/ngx_string.c)
 * @returns the number, or undefined
 */
export function parseCount(text: string): number | undefined {
  if (string.find(text, "^%d+$")[0] === undefined) return undefined;
  const value = tonumber(text);
  return value !== undefined && value <= MAX_INT ? value : undefined;
}

interface Unit {
  /** Units must come in this order, each at most once. */
  step: number;
  seconds: number;
}

const SECONDS_STEP = 7;

const UNITS: Record<string, Unit | undefined> = {
  y: { step: 1, seconds: 365 * 86400 },
  M: { step: 2, seconds: 30 * 86400 },
  w: { step: 3, seconds: 7 * 86400 },
  d: { step: 4, seconds: 86400 },
  h: { step: 5, seconds: 3600 },
  m: { step: 6, seconds: 60 },
  s: { step: SECONDS_STEP, seconds: 1 },
  // A blank after a number without a unit: seconds, and nothing more may follow with a unit.
  " ": { step: 8, seconds: 1 },
};

/**
 * A time in seconds (ngx_parse_time with is_sec = 1 in src/core/ngx_parse.c): "10", "10s", "1m30s",
 * "1h 30m". Milliseconds are not allowed there.
 * @returns seconds, or undefined
 */
export function parseSeconds(text: string): number | undefined {
  let total = 0;
  let step = 0;
  let pos = 1;
  let any_digit = false;
  while (pos <= text.length) {
    const [digits, letter] = string.match(text, "^(%d*)(.?)", pos);
    if (digits !== "") any_digit = true;
    const value = digits === "" ? 0 : (tonumber(digits) ?? MAX_INT);
    pos += digits.length;
    if (letter === "") {
      total += value;
      break;
    }
    const unit = UNITS[letter];
    if (unit === undefined || unit.step <= step) return undefined;
    // A blank counts as "s" there, and "s" is given at most once.
    if (letter === " " && step === SECONDS_STEP) return undefined;
    if (letter === "m" && string.sub(text, pos + 1, pos + 1) === "s") return undefined;
    step = unit.step;
    total += value * unit.seconds;
    pos++;
    while (string.sub(text, pos, pos) === " ") pos++;
  }
  return any_digit && total <= MAX_INT ? total : undefined;
}
