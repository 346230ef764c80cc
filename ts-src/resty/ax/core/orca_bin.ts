/**
 * The binary form of a load report: xds.data.orca.v3.OrcaLoadReport as a protocol buffer, in base64. Only what the
 * message has is decoded (doubles, one varint, maps of text to double); other fields are passed over, as the encoding
 * (protobuf.dev/programming-guides/encoding) wants it.
 */

/** Figures in the order of the message. */
export interface BinFigures {
  names: string[];
  values: number[];
}

/** Field numbers of orca_load_report.proto. */
const DOUBLES: Record<number, string | undefined> = {
  1: "cpu_utilization",
  2: "mem_utilization",
  6: "rps_fractional",
  7: "eps",
  9: "application_utilization",
};
const VARINTS: Record<number, string | undefined> = { 3: "rps" };
const MAPS: Record<number, string | undefined> = { 4: "request_cost", 5: "utilization", 8: "named_metrics" };

const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const FIXED32 = 5;

/** A 64-bit number takes no more. */
const VARINT_BYTES = 10;

interface Reader {
  bytes: number[];
  at: number;
  end: number;
  broken: boolean;
}

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** 0..63; the alphabet of URLs is taken as well; -1: none of it */
function sextet(char: string): number {
  if (char === "-") return 62;
  return char === "_" ? 63 : ALPHABET.indexOf(char);
}

/** @returns the bytes of base64, padded or not; undefined when it is none */
function fromBase64(text: string): number[] | undefined {
  let length = text.length;
  while (length > 0 && text.charAt(length - 1) === "=") length--;
  const bytes: number[] = [];
  let count = 0;
  let bits = 0;
  let held = 0;
  for (let i = 0; i < length; i++) {
    const six = sextet(text.charAt(i));
    if (six < 0) return undefined;
    held = held * 64 + six;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      const unit = 2 ** bits;
      bytes[count] = Math.floor(held / unit);
      held = held % unit;
      count++;
    }
  }
  return bytes;
}

function nextByte(reader: Reader): number {
  if (reader.at >= reader.end) {
    reader.broken = true;
    return 0;
  }
  reader.at++;
  return reader.bytes[reader.at - 1];
}

function varint(reader: Reader): number {
  let value = 0;
  let unit = 1;
  for (let i = 0; i < VARINT_BYTES; i++) {
    const byte = nextByte(reader);
    value += (byte % 128) * unit;
    if (byte < 128) return value;
    unit *= 128;
  }
  reader.broken = true;
  return 0;
}

/** IEEE 754, lowest byte first. NaN and infinities come out as NaN. */
function double(reader: Reader): number {
  let mantissa = 0;
  let unit = 1;
  for (let i = 0; i < 6; i++) {
    mantissa += nextByte(reader) * unit;
    unit *= 256;
  }
  const seventh = nextByte(reader);
  const eighth = nextByte(reader);
  mantissa += (seventh % 16) * unit;
  const exponent = (eighth % 128) * 16 + Math.floor(seventh / 16);
  const sign = eighth >= 128 ? -1 : 1;
  if (exponent === 2047) return NaN;
  if (exponent === 0) return sign * mantissa * 2 ** -1074;
  return sign * (1 + mantissa * 2 ** -52) * 2 ** (exponent - 1023);
}

function skip(reader: Reader, wire_type: number): void {
  if (wire_type === VARINT) varint(reader);
  else if (wire_type === FIXED64) reader.at += 8;
  else if (wire_type === BYTES) {
    const length = varint(reader);
    reader.at += length;
  } else if (wire_type === FIXED32) reader.at += 4;
  else reader.broken = true;
  if (reader.at > reader.end) reader.broken = true;
}

/** The next `length` bytes as a reader of their own. */
function part(reader: Reader, length: number): Reader {
  const at = reader.at;
  const fits = at + length <= reader.end;
  if (!fits) reader.broken = true;
  reader.at = fits ? at + length : reader.end;
  return { bytes: reader.bytes, at, end: reader.at, broken: !fits };
}

function text(reader: Reader): string {
  let found = "";
  while (reader.at < reader.end) found += String.fromCharCode(nextByte(reader));
  return found;
}

function put(figures: BinFigures, name: string, value: number): void {
  figures.names[figures.names.length] = name;
  figures.values[figures.values.length] = value;
}

/** An entry of a map: a message of key (1) and value (2), both of which may be absent. */
function mapEntry(entry: Reader, map: string, figures: BinFigures): void {
  let key = "";
  let value = 0;
  while (entry.at < entry.end && !entry.broken) {
    const tag = varint(entry);
    const field = Math.floor(tag / 8);
    const wire_type = tag % 8;
    if (field === 1 && wire_type === BYTES) key = text(part(entry, varint(entry)));
    else if (field === 2 && wire_type === FIXED64) value = double(entry);
    else skip(entry, wire_type);
  }
  if (!entry.broken) put(figures, `${map}.${key}`, value);
}

function field(reader: Reader, figures: BinFigures): void {
  const tag = varint(reader);
  const number = Math.floor(tag / 8);
  const wire_type = tag % 8;
  const of_double = DOUBLES[number];
  const of_varint = VARINTS[number];
  const map = MAPS[number];
  if (of_double !== undefined && wire_type === FIXED64) put(figures, of_double, double(reader));
  else if (of_varint !== undefined && wire_type === VARINT) put(figures, of_varint, varint(reader));
  else if (map !== undefined && wire_type === BYTES) {
    const entry = part(reader, varint(reader));
    mapEntry(entry, map, figures);
    if (entry.broken) reader.broken = true;
  } else skip(reader, wire_type);
}

/**
 * @param base64 what follows "BIN "
 * @returns undefined when it is no base64 or no whole message; figures are to be checked by the caller
 */
export function readBin(base64: string): BinFigures | undefined {
  const bytes = fromBase64(base64);
  if (bytes === undefined) return undefined;
  const reader: Reader = { bytes, at: 0, end: bytes.length, broken: false };
  const figures: BinFigures = { names: [], values: [] };
  while (reader.at < reader.end && !reader.broken) field(reader, figures);
  return reader.broken ? undefined : figures;
}
