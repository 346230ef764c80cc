/** nginx's command line, from /proc/<pid>/cmdline or as a list of arguments. */

/** What nginx's master writes over its arguments, with the arguments behind it, joined by blanks. */
const MASTER_TITLE = "nginx: master process ";

/** What every other process of nginx writes over them. */
const TITLE = "nginx: ";

/** Options with a value, attached ("-c/x") or as the next argument (ngx_get_options in src/core/nginx.c). */
const WITH_VALUE = "[pecgs]";

/**
 * @param cmdline text of /proc/<pid>/cmdline
 * @returns the arguments, the program's name first; undefined when they are not there (a worker)
 */
export function argumentsOf(cmdline: string): string[] | undefined {
  if (string.sub(cmdline, 1, MASTER_TITLE.length) === MASTER_TITLE) {
    return fromTitle(string.match(cmdline, "^[^%z]*")[0]);
  }
  if (cmdline === "" || string.sub(cmdline, 1, TITLE.length) === TITLE) return undefined;
  const words: string[] = [];
  for (const [word] of string.gmatch(cmdline, "([^%z]*)%z")) words.push(word);
  return words;
}

/**
 * The title has lost where arguments end. nginx takes no arguments but options, so that what does not
 * start with "-" belongs to the value before it: paths with blanks in them are found again.
 */
function fromTitle(title: string): string[] {
  const words = [""];
  for (const [word] of string.gmatch(string.sub(title, MASTER_TITLE.length + 1), "[^ ]+")) {
    const last = words.length - 1;
    const is_option = string.sub(word, 1, 1) === "-";
    const awaits_value = last > 0 && string.find(words[last], `^%-[^pecgs]*${WITH_VALUE}$`)[0] !== undefined;
    if (is_option || awaits_value) words.push(word);
    else words[last] = words[last] === "" ? word : `${words[last]} ${word}`;
  }
  return words;
}

/**
 * @param words nginx's arguments, the program's name first
 * @returns the value of the last -c, as nginx takes it
 */
export function confOption(words: string[]): string | undefined {
  let found: string | undefined;
  for (let i = 1; i < words.length; i++) {
    // Flags without a value may stand before: "-tc", "-qc/x".
    const [letter, attached] = string.match(words[i], `^%-[^pecgs]*(${WITH_VALUE})(.*)$`);
    if (letter !== undefined) {
      let value: string | undefined = attached;
      if (attached === "") {
        i++;
        value = words[i];
      }
      if (letter === "c") found = value;
    }
  }
  return found;
}
