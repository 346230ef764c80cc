// The same vectors as spec/unit/probe_vectors_spec.lua: core/ must give the same in Lua and in JavaScript.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parseLoadReport } from "../../ts-src/resty/ax/core/orca";
import { parseStatusRange } from "../../ts-src/resty/ax/core/probe/config";
import { feed, finish, newAnswerReader } from "../../ts-src/resty/ax/core/probe/response";
import { offsetPlaceMs, placeMs } from "../../ts-src/resty/ax/core/probe/rounds";
import { parseWatermark } from "../../ts-src/resty/ax/core/probe/signals";

interface AnswerCase {
  name: string;
  text: string;
  close?: boolean;
  head_only?: boolean;
  max_body_bytes?: number;
  status?: number;
  body?: string;
  headers?: Record<string, string>;
  problem?: string;
}

interface Vectors {
  answers: AnswerCase[];
  reports: { header: string; report: Record<string, number> | null }[];
  watermarks: { text: string; share: number | null }[];
  ranges: { given: unknown; from?: number; to?: number }[];
  places: { name: string; tcp: number; http: number }[];
}

const vectors = JSON.parse(readFileSync(new URL("../vectors/probe.json", import.meta.url), "utf8")) as Vectors;

function decode(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

describe("an answer", () => {
  it.each(vectors.answers)("with $name", (given) => {
    const reader = newAnswerReader(given.head_only === true, given.max_body_bytes ?? 1000);
    feed(reader, given.text);
    expect(reader.done).toBe(given.close !== true);
    finish(reader);
    expect(reader.problem).toBe(given.problem);
    if (given.problem !== undefined) return;
    expect(reader.status).toBe(given.status);
    expect(reader.body).toBe(given.body);
    expect(reader.headers).toMatchObject(given.headers ?? {});
  });
});

describe("a load report", () => {
  it.each(vectors.reports)("$header", ({ header, report }) => {
    expect(parseLoadReport(header, decode)).toEqual(report ?? undefined);
  });
});

describe("a watermark", () => {
  it.each(vectors.watermarks)("$text", ({ text, share }) => {
    expect(parseWatermark(text)).toBe(share ?? undefined);
  });
});

describe("expected status", () => {
  it.each(vectors.ranges)("$given", ({ given, from, to }) => {
    expect(parseStatusRange(given)).toEqual(from === undefined ? undefined : { from, to });
  });
});

describe("a node's places in the intervals", () => {
  it.each(vectors.places)("$name", ({ name, tcp, http }) => {
    expect(placeMs(name, 3000)).toBe(tcp);
    expect(offsetPlaceMs(name, 3000, 10000)).toBe(http);
  });
});
