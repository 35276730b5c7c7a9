/**
 * The wire format of protocol buffers (protobuf.dev/programming-guides/encoding), as much of it as the RPCs of container
 * runtimes use. Bytes come from sockets of processes that are in trouble, or are not what they seem: nothing here throws,
 * and what a message can make us hold is bounded by its own length.
 */

/** A field as it stands: a number for varint and fixed types, bytes for all else. */
export interface WireField {
  readonly number: number;
  readonly value: bigint | Buffer;
}

const VARINT = 0;
const FIXED64 = 1;
const LENGTH_DELIMITED = 2;
const FIXED32 = 5;

/** Ten groups of seven bits hold 64. */
const MAX_VARINT_BYTES = 10;
/** Two bytes can be a field, which takes fifty times as much here. No answer that is asked for has so many. */
const MAX_FIELDS = 100_000;

/** All fields in their order; null for bytes that are no message: cut, overlong, with groups, or with too many fields. */
export function readFields(bytes: Buffer): readonly WireField[] | null {
  const fields: WireField[] = [];
  let at = 0;
  while (at < bytes.length) {
    const tag = readVarint(bytes, at);
    if (tag === null || fields.length >= MAX_FIELDS) return null;
    const number = Number(tag.value >> 3n);
    if (number < 1 || number > 0x1fff_ffff) return null;
    const read = readValue(bytes, tag.end, Number(tag.value & 7n));
    if (read === null) return null;
    fields.push({ number, value: read.value });
    at = read.end;
  }
  return fields;
}

interface Read<T> {
  readonly value: T;
  readonly end: number;
}

function readValue(bytes: Buffer, at: number, type: number): Read<bigint | Buffer> | null {
  switch (type) {
    case VARINT:
      return readVarint(bytes, at);
    case FIXED64:
      return at + 8 > bytes.length ? null : { value: bytes.readBigUInt64LE(at), end: at + 8 };
    case FIXED32:
      return at + 4 > bytes.length ? null : { value: BigInt(bytes.readUInt32LE(at)), end: at + 4 };
    case LENGTH_DELIMITED: {
      const length = readVarint(bytes, at);
      if (length === null || length.value > BigInt(bytes.length - length.end)) return null;
      const end = length.end + Number(length.value);
      return { value: bytes.subarray(length.end, end), end };
    }
    default:
      return null;
  }
}

function readVarint(bytes: Buffer, from: number): Read<bigint> | null {
  let value = 0n;
  for (let index = 0; index < MAX_VARINT_BYTES; index += 1) {
    const byte = bytes[from + index];
    if (byte === undefined) return null;
    value |= BigInt(byte & 0x7f) << BigInt(7 * index);
    if (byte < 0x80) return { value: BigInt.asUintN(64, value), end: from + index + 1 };
  }
  return null;
}

/** A varint or a length-delimited field, ready to stand behind others. */
export function writeField(number: number, value: bigint | Buffer): Buffer {
  if (typeof value === 'bigint') return Buffer.concat([writeVarint(tagOf(number, VARINT)), writeVarint(value)]);
  return Buffer.concat([writeVarint(tagOf(number, LENGTH_DELIMITED)), writeVarint(BigInt(value.length)), value]);
}

function tagOf(number: number, type: number): bigint {
  return (BigInt(number) << 3n) | BigInt(type);
}

/** Negative numbers as their two's complement in 64 bits. */
function writeVarint(value: bigint): Buffer {
  const bytes: number[] = [];
  for (let rest = BigInt.asUintN(64, value); ; rest >>= 7n) {
    if (rest < 0x80n) return Buffer.from([...bytes, Number(rest)]);
    bytes.push(Number(rest & 0x7fn) | 0x80);
  }
}
