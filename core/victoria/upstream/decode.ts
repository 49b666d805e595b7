import { apiError } from '../../base/errors/table.js';
import type { Steps } from '../../base/pace/steps.js';
import { closingQuote } from '../../base/stepped-json.js';
import { addressAdvice } from './failures.js';
import type { BackendSample, BackendSeries, BackendValue } from './types.js';

/** An answer that does not fit the call. The message states the problem; the caller adds the backend and the call. */
export class UnexpectedAnswer extends Error {
  override readonly name = 'UnexpectedAnswer';
}

/** Decodes a listing: `{"values":[{"value","hits"}]}`. */
export function decodeListing(text: string): Steps<readonly BackendValue[]> {
  return decodeItems(
    text,
    /"values"\s*:\s*\[/,
    (answer) => expectArray(member(answer, 'values'), 'values'),
    asValue,
  );
}

function asValue(item: unknown): BackendValue {
  const value = asText(member(item, 'value'), 'value');
  const hits = member(item, 'hits');
  if (typeof hits !== 'number' || !Number.isSafeInteger(hits) || hits < 0)
    throw new UnexpectedAnswer(`the hits of ${shown(value)} are ${shown(hits)}, not a count`);
  return { value, hits };
}

/** Decodes stats_query: one sample per group and result column; empty labels are dropped. */
export function decodeStats(text: string): Steps<readonly BackendSample[]> {
  return decodeResult(text, 'vector', (sample) => {
    const [, value] = asPoint(member(sample, 'value'));
    return { ...asMetric(member(sample, 'metric')), value };
  });
}

/** Decodes the answer of stats_query_range. */
export function decodeStatsRange(text: string): Steps<readonly BackendSeries[]> {
  return decodeResult(text, 'matrix', (each) => ({
    ...asMetric(member(each, 'metric')),
    points: expectArray(member(each, 'values'), 'values').map(asPoint),
  }));
}

/** Decodes the `data.result` of a statistics answer. */
function decodeResult<Item>(
  text: string,
  type: 'vector' | 'matrix',
  read: (item: unknown) => Item,
): Steps<readonly Item[]> {
  return decodeItems(text, /"result"\s*:\s*\[/, (answer) => resultOf(answer, type), read);
}

/** Items decoded per step. */
const stepItems = 256;

/** Decodes the items of the answer's list; a long list is parsed in pieces. */
function* decodeItems<Item>(
  text: string,
  start: RegExp,
  listOf: (answer: unknown) => readonly unknown[],
  read: (item: unknown) => Item,
): Steps<readonly Item[]> {
  const taken = yield* takeList(text, start);
  const items: Item[] = [];
  for (const piece of listsOf(text, taken, listOf)) {
    for (const item of piece) {
      items.push(read(item));
      if (items.length % stepItems === 0) yield;
    }
    // A few items may be a whole piece: series have thousands of points.
    yield;
  }
  return items;
}

function* listsOf(
  text: string,
  taken: TakenList | undefined,
  listOf: (answer: unknown) => readonly unknown[],
): Generator<readonly unknown[]> {
  if (taken === undefined) {
    yield listOf(parseAnswer(text));
    return;
  }
  listOf(parseAnswer(taken.envelope));
  for (const piece of taken.pieces) yield expectArray(parseAnswer(piece, true), 'a list');
}

function resultOf(answer: unknown, type: 'vector' | 'matrix'): readonly unknown[] {
  const status = member(answer, 'status');
  if (status !== 'success') throw new UnexpectedAnswer(`status is ${shown(status)}, not "success"`);
  const data = member(answer, 'data');
  const found = member(data, 'resultType');
  if (found !== type) throw new UnexpectedAnswer(`resultType is ${shown(found)}, not "${type}"`);
  return expectArray(member(data, 'result'), 'result');
}

/** The column and the labels of a group; empty labels are dropped. */
function asMetric(value: unknown): {
  readonly name: string;
  readonly labels: ReadonlyMap<string, string>;
} {
  const labels = new Map<string, string>();
  for (const [name, label] of Object.entries(asObject(value, 'metric'))) {
    const text = asText(label, 'a label');
    if (text !== '') labels.set(name, text);
  }
  const name = labels.get('__name__') ?? '';
  labels.delete('__name__');
  return { name, labels };
}

function asPoint(value: unknown): readonly [seconds: number, value: string] {
  const [seconds, text] = expectArray(value, 'a value');
  if (typeof seconds !== 'number') throw new UnexpectedAnswer(`the time of a value is ${shown(seconds)}`);
  return [seconds, asText(text, 'a value')];
}

/** Parses a whole body, or a part of one, as JSON. */
function parseAnswer(text: string, isPart = false): unknown {
  try {
    const parsed: unknown = JSON.parse(text);
    return parsed;
  } catch (error) {
    // JSON that ends too early was cut at the backend's deadline (docs/protocol/victorialogs.md#failures); other invalid JSON does not come
    // from VictoriaLogs.
    if (isPart || text.startsWith('{')) throw apiError('queryTimeout', {}, { cause: error });
    throw new UnexpectedAnswer(`not JSON; ${addressAdvice}`, { cause: error });
  }
}

function asObject(value: unknown, what: string): object {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw new UnexpectedAnswer(`${what} is ${shown(value)}, not an object`);
}

function member(value: unknown, name: string): unknown {
  const object = asObject(value, `the object that should have ${name}`);
  return Object.hasOwn(object, name) ? Object.getOwnPropertyDescriptor(object, name)?.value : undefined;
}

function expectArray(value: unknown, what: string): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new UnexpectedAnswer(`${what} is ${shown(value)}, not a list`);
}

function asText(value: unknown, what: string): string {
  if (typeof value === 'string') return value;
  throw new UnexpectedAnswer(`${what} is ${shown(value)}, not a string`);
}

const maxShown = 60;

/** The start of a value, for an error text. */
export function shown(value: unknown): string {
  if (value === undefined) return 'missing';
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'a list' : 'an object';
  const text = JSON.stringify(value);
  return text.length > maxShown ? `${text.slice(0, maxShown)}...` : text;
}

/** Maximum length of a body that is parsed as a whole, which takes a millisecond. */
const wholeLength = 131_072;
const pieceLength = 65_536;

/** A JSON text and the long list cut out of it. */
interface TakenList {
  /** The text with an empty list in its place. */
  readonly envelope: string;
  /** The items of the list, grouped into JSON arrays. */
  readonly pieces: readonly string[];
}

/**
 * Cuts the list after the first match of `start` out of a JSON text, so that it can be parsed in pieces. Undefined for a short text or for
 * one of another form, which are left to the parser.
 */
function* takeList(text: string, start: RegExp): Steps<TakenList | undefined> {
  if (text.length <= wholeLength) return undefined;
  const found = start.exec(text.slice(0, 1024));
  if (found === null) return undefined;
  const from = found.index + found[0].length;
  const pieces: string[] = [];
  let begin = from;
  let depth = 0;
  const signs = /["{}[\]]/g;
  signs.lastIndex = from;
  for (let sign = signs.exec(text); sign !== null; sign = signs.exec(text)) {
    switch (sign[0]) {
      case '"': {
        const end = closingQuote(text, sign.index);
        if (end < 0) return undefined;
        signs.lastIndex = end + 1;
        break;
      }
      case '{':
      case '[':
        depth += 1;
        break;
      default:
        depth -= 1;
        if (depth < 0) {
          if (begin < sign.index) pieces.push(`[${text.slice(begin, sign.index)}]`);
          return { envelope: text.slice(0, from) + text.slice(sign.index), pieces };
        }
        if (depth === 0 && signs.lastIndex - begin >= pieceLength && text[signs.lastIndex] === ',') {
          pieces.push(`[${text.slice(begin, signs.lastIndex)}]`);
          begin = signs.lastIndex + 1;
          signs.lastIndex = begin;
          yield;
        }
    }
  }
  return undefined;
}
