import { byteLength, sliceBytes, toBytes } from '../../values/raw-bytes.js';
import {
  smallInt,
  concrete,
  GoInt,
  GoInterface,
  GoSlice,
  nilInterface,
  typeName,
  type Concrete,
  type GoValue,
} from '../values.js';
import { GoError, type GoFunction } from './types.js';

/** `index x 1 2` is x[1][2]. */
function index(boxed: GoValue, keys: readonly GoValue[]): GoValue {
  const outer = concrete(boxed);
  if (outer === undefined) throw new GoError('index of untyped nil');
  let item: GoValue = outer;
  for (const key of keys) {
    const inner: Concrete = concrete(item);
    if (inner === undefined) throw new GoError('index of nil pointer');
    item = element(inner, concrete(key));
  }
  return item;
}

function element(item: Exclude<Concrete, undefined>, key: Concrete): GoValue {
  if (typeof item === 'string') {
    const bytes = toBytes(item);
    const byte = bytes[place(key, bytes.length)];
    if (byte === undefined) throw new GoError('reflect: string index out of range');
    return new GoInt(BigInt(byte), 'uint8');
  }
  if (typeof item === 'object') {
    if (item.kind === 'slice') {
      const found = item.items[place(key, item.items.length)];
      if (found === undefined) throw new GoError('reflect: slice index out of range');
      return found;
    }
    if (item.kind === 'map') {
      if (key === undefined) throw new GoError('value is nil; should be of type string');
      if (typeof key !== 'string') throw new GoError(`value has type ${typeName(key)}; should be string`);
      return item.get(key) ?? (item.type === 'map[string]string' ? '' : nilInterface);
    }
  }
  throw new GoError(`can't index item of type ${typeName(item)}`);
}

/** An index as an offset up to the end of the indexed value. */
function place(key: Concrete, most: number): number {
  if (key === undefined) throw new GoError('cannot index slice/array with nil');
  if (!(key instanceof GoInt)) throw new GoError(`cannot index slice/array with type ${typeName(key)}`);
  if (key.value < 0n || key.value > BigInt(most)) {
    throw new GoError(`index out of range: ${key.value.toString()}`);
  }
  return Number(key.value);
}

/** `slice x 1 2` is x[1:2]. */
function slice(boxed: GoValue, keys: readonly GoValue[]): GoValue {
  const item = concrete(boxed);
  if (item === undefined) throw new GoError('slice of untyped nil');
  if (keys.length > 3) throw new GoError(`too many slice indexes: ${String(keys.length)}`);
  if (typeof item === 'string') {
    if (keys.length === 3) throw new GoError('cannot 3-index slice a string');
    const length = byteLength(item);
    const [from, to] = bounds(keys, length, length);
    return sliceBytes(item, from, to);
  }
  if (!(item instanceof GoSlice)) throw new GoError(`can't slice item of type ${typeName(item)}`);
  const [from, to, capacity] = bounds(keys, item.items.length, item.capacity);
  if (to > capacity) throw new GoError(`invalid slice index: ${String(to)} > ${String(capacity)}`);
  const { backing, start } = item;
  return new GoSlice(backing, start + from, start + to, start + capacity);
}

function bounds(keys: readonly GoValue[], length: number, capacity: number): [number, number, number] {
  const [from = 0, to = length, limit = capacity] = keys.map((key) => place(concrete(key), capacity));
  if (from > to) throw new GoError(`invalid slice index: ${String(from)} > ${String(to)}`);
  return [from, to, limit];
}

function length(boxed: GoValue): GoValue {
  const item = concrete(boxed);
  if (typeof item === 'string') return smallInt(byteLength(item));
  if (item === undefined) {
    throw new GoError(
      boxed instanceof GoInterface
        ? 'len of nil pointer'
        : 'reflect: call of reflect.Value.Type on zero Value',
    );
  }
  if (typeof item === 'object') {
    if (item.kind === 'map') return smallInt(item.size);
    if (item.kind === 'slice') return smallInt(item.items.length);
  }
  throw new GoError(`len of type ${typeName(item)}`);
}

/** Go's functions that access the contents of values. */
export const accessFunctions: Readonly<Record<string, GoFunction>> = {
  index: { parameters: ['value'], rest: 'value', weight: 3, call: ([item, ...keys]) => index(item, keys) },
  slice: { parameters: ['value'], rest: 'value', weight: 3, call: ([item, ...keys]) => slice(item, keys) },
  len: { parameters: ['value'], weight: 2, call: ([item]) => length(item) },
};
