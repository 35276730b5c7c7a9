import { readFields, type WireField, writeField } from './wire.ts';

/**
 * Messages by tables instead of by generated code: the dozen that are asked for here do not need a compiler, and a
 * table shows at one glance which fields of an API are read.
 *
 * - `text`: string · `bytes`: Buffer · `flag`: bool
 * - `number`: int32, uint32, enum; and whatever else fits a double
 * - `digits`: int64, as decimal digits: nanoseconds do not fit a double
 */
export type Scalar = 'text' | 'bytes' | 'flag' | 'number' | 'digits';

/** Name of each field that matters, with its number in the .proto file and its type. Others are passed over. */
export interface MessageShape {
  readonly [name: string]: readonly [number: number, type: FieldType];
}

export type FieldType = Scalar | MessageShape | Repeated;

export interface Repeated {
  readonly repeated: Scalar | MessageShape;
}

/** A field that may come more than once, in a shape. */
export const repeated = <Type extends Scalar | MessageShape>(type: Type): { readonly repeated: Type } => ({
  repeated: type,
});

interface ScalarValues {
  readonly text: string;
  readonly bytes: Buffer;
  readonly flag: boolean;
  readonly number: number;
  readonly digits: string;
}

type ElementOf<Type> = Type extends Scalar ? ScalarValues[Type] : Type extends MessageShape ? Message<Type> : never;

type ValueOf<Type> = Type extends Scalar
  ? ScalarValues[Type]
  : Type extends { readonly repeated: infer Element }
    ? readonly ElementOf<Element>[]
    : Type extends MessageShape
      ? Message<Type> | null
      : never;

/** What was not sent has proto3's default; a message that was not sent is null. */
export type Message<Shape extends MessageShape> = { readonly [Name in keyof Shape]: ValueOf<Shape[Name][1]> };

/** Null for bytes that are no such message. Of a field that came more than once the last one counts. */
export function decodeMessage<Shape extends MessageShape>(shape: Shape, bytes: Buffer): Message<Shape> | null {
  const fields = readFields(bytes);
  if (fields === null) return null;
  const values: Record<string, unknown> = {};
  for (const [name, [number, type]] of Object.entries(shape)) {
    const own = fields.filter(field => field.number === number);
    const value = isRepeated(type) ? elementsOf(type.repeated, own) : lastOf(type, own);
    if (value === undefined) return null;
    values[name] = value;
  }
  return values as Message<Shape>;
}

function elementsOf(type: Scalar | MessageShape, fields: readonly WireField[]): readonly unknown[] | undefined {
  const elements = fields.map(field => valueIn(type, field));
  return elements.includes(undefined) ? undefined : elements;
}

function lastOf(type: Scalar | MessageShape, fields: readonly WireField[]): unknown {
  const last = fields.at(-1);
  if (last !== undefined) return valueIn(type, last);
  return typeof type === 'string' ? DEFAULTS[type] : null;
}

const DEFAULTS: ScalarValues = { text: '', bytes: Buffer.alloc(0), flag: false, number: 0, digits: '0' };

/** Undefined when the field has another wire type than its own. */
function valueIn(type: Scalar | MessageShape, { value }: WireField): unknown {
  if (typeof value === 'bigint') {
    if (type === 'flag') return value !== 0n;
    if (type === 'number') return Number(BigInt.asIntN(64, value));
    return type === 'digits' ? BigInt.asIntN(64, value).toString() : undefined;
  }
  if (type === 'text') return value.toString('utf8');
  if (type === 'bytes') return value;
  return typeof type === 'object' ? (decodeMessage(type, value) ?? undefined) : undefined;
}

/** What a message is made from: what is left out is not sent. */
export type MessageInput<Shape extends MessageShape> = {
  readonly [Name in keyof Shape]?: InputOf<Shape[Name][1]>;
};

type InputOf<Type> = Type extends Scalar
  ? ScalarValues[Type]
  : Type extends { readonly repeated: infer Element }
    ? readonly InputOf<Element>[]
    : Type extends MessageShape
      ? MessageInput<Type>
      : never;

/** In the order of the shape; defaults are not sent, as proto3 has it. */
export function encodeMessage<Shape extends MessageShape>(shape: Shape, message: MessageInput<Shape>): Buffer {
  const parts: Buffer[] = [];
  for (const [name, [number, type]] of Object.entries(shape)) {
    const value: unknown = message[name];
    if (value === undefined) continue;
    if (isRepeated(type)) {
      for (const element of value as readonly unknown[]) parts.push(writeField(number, wireOf(type.repeated, element)));
      continue;
    }
    const wire = wireOf(type, value);
    const isDefault = typeof wire === 'bigint' ? wire === 0n : wire.length === 0 && typeof type === 'string';
    if (!isDefault) parts.push(writeField(number, wire));
  }
  return Buffer.concat(parts);
}

function wireOf(type: Scalar | MessageShape, value: unknown): bigint | Buffer {
  switch (type) {
    case 'text':
      return Buffer.from(value as string);
    case 'bytes':
      return value as Buffer;
    case 'flag':
    case 'number':
    case 'digits':
      return BigInt(value as boolean | number | string);
    default:
      return encodeMessage(type, value as MessageInput<MessageShape>);
  }
}

function isRepeated(type: FieldType): type is Repeated {
  return typeof type === 'object' && 'repeated' in type && !Array.isArray(type.repeated);
}
