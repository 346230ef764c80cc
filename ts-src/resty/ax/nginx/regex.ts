/** Compiled once and kept: the patterns are few, and the configuration's. */
const OPTIONS = "o";

function tryRegex(regex: string): string | undefined {
  const [, , err] = ngx.re.find("", regex);
  return err;
}

/**
 * Compiles a regular expression, as the workers will. init phase.
 * @returns what is wrong with it; undefined when nothing is
 */
export function regexProblem(regex: string): string | undefined {
  const [ok, err] = pcall(tryRegex, regex);
  return ok ? err : tostring(err);
}

/**
 * @returns whether it is found in the text; not, too, when the search goes beyond PCRE's limits (`lua_regex_match_limit`)
 */
export function regexMatches(text: string, regex: string): boolean {
  const [from] = ngx.re.find(text, regex, OPTIONS);
  return from !== undefined;
}
