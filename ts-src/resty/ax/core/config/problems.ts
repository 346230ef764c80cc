import { quote } from "./show";

/** One thing wrong with a configuration: where (full key path), and what is wrong and allowed. */
export interface Problem {
  path: string;
  text: string;
}

/** Collects problems. Written by one validation, read by whoever reports them, then dropped. */
export interface Problems {
  /** The first MAX_LISTED problems. */
  list: Problem[];
  /** All problems, listed or not. */
  total: number;
}

/** More than this on a screen help nobody, and a generated configuration can have thousands. */
export const MAX_LISTED = 50;

/** Longest key shown bare in a path; longer ones are quoted and cut. */
const MAX_BARE_KEY = 64;

/** @returns an empty collection */
export function newProblems(): Problems {
  return { list: [], total: 0 };
}

/**
 * Adds a problem; from MAX_LISTED on only counts it.
 * @param path key path, "" for the configuration as a whole
 * @param text what is wrong and what is allowed
 */
export function report(problems: Problems, path: string, text: string): void {
  problems.total++;
  if (problems.list.length < MAX_LISTED) {
    problems.list.push({ path: path === "" ? "configuration" : path, text });
  }
}

function isBare(key: string): boolean {
  if (key.length === 0 || key.length > MAX_BARE_KEY) return false;
  for (let i = 0; i < key.length; i++) {
    const code = key.charCodeAt(i);
    const letter = (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code === 95;
    const later = (code >= 48 && code <= 57) || code === 45;
    if (!letter && (i === 0 || !later)) return false;
  }
  return true;
}

/**
 * @param path path of the map
 * @param key a key in it; quoted in brackets when it could be misread (dots, spaces, …)
 * @returns path of the entry
 */
export function keyPath(path: string, key: string): string {
  if (!isBare(key)) return `${path}[${quote(key)}]`;
  return path === "" ? key : `${path}.${key}`;
}

/**
 * @param path path of the list
 * @param position counted from 1, as a Lua user counts
 * @returns path of the entry
 */
export function positionPath(path: string, position: number): string {
  return `${path}[${position}]`;
}

/**
 * @param problems at least one
 * @param source where the configuration came from: "init" or a file name
 * @param max_length where to stop listing, bytes; without it all MAX_LISTED are listed
 * @returns the text for the user, ready for error(text, 0): a head line, then one numbered line a problem
 */
export function renderProblems(problems: Problems, source: string, max_length?: number): string {
  const noun = problems.total === 1 ? "problem" : "problems";
  let text = `lua-resty-ax: ${problems.total} ${noun} in the configuration (${source}):`;
  let listed = 0;
  while (listed < problems.list.length) {
    const line = `\n  ${listed + 1}. ${problems.list[listed].path}: ${problems.list[listed].text}`;
    if (max_length !== undefined && text.length + line.length > max_length) break;
    text += line;
    listed++;
  }
  const left = problems.total - listed;
  return left > 0 ? `${text}\n  ... and ${left} more` : text;
}
