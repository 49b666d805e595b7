import { apiError } from '../../base/errors/table.js';
import { eachStep, type Steps } from '../../base/pace/steps.js';
import { SteppedJson } from '../../base/stepped-json.js';
import { addressAdvice } from './failures.js';
import type { BackendSample, BackendSeries, BackendValue } from './types.js';

/** An answer that does not fit the call. The message states the problem; the caller adds the backend and the call. */
export class UnexpectedAnswer extends Error {
  override readonly name = 'UnexpectedAnswer';
}

/** Decodes a listing: `{"values":[{"value","hits"}]}`. */
export function decodeListing(text: string): Steps<readonly BackendValue[]> {
  return decodeItems(text, ['values'], (answer) => expectArray(member(answer, 'values'), 'values'), asValue);
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
  return decodeItems(text, ['data', 'result'], (answer) => resultOf(answer, type), read);
}

/** Maximum length of a body that is parsed as a whole, which takes a millisecond. */
const wholeLength = 131_072;

/** Decodes the items of the answer's list; a long answer is parsed in pieces. */
function* decodeItems<Item>(
  text: string,
  path: readonly string[],
  listOf: (answer: unknown) => readonly unknown[],
  read: (item: unknown) => Item,
): Steps<readonly Item[]> {
  let items: Item[] = [];
  if (text.length > wholeLength) {
    try {
      const json = new SteppedJson(text);
      const envelope = yield* objectAround(json, path, (elements) => {
        for (const element of elements) items.push(read(element));
      });
      json.end();
      listOf(envelope);
      return items;
    } catch (error) {
      if (error instanceof UnexpectedAnswer) throw error;
      // An answer of another form is left to the parser.
      items = [];
    }
  }
  yield* eachStep(listOf(parseAnswer(text)), (item) => items.push(read(item)));
  return items;
}

/** Reads an object with an empty list in place of the one at a path, whose elements are passed on. */
function* objectAround(
  json: SteppedJson,
  [next, ...below]: readonly string[],
  each: (elements: readonly unknown[]) => void,
): Steps<object> {
  const members = new Map<string, unknown>();
  yield* json.object(function* (name) {
    if (name !== next) members.set(name, yield* json.value());
    else if (below.length > 0) members.set(name, yield* objectAround(json, below, each));
    else {
      yield* json.elements(each);
      members.set(name, []);
    }
  });
  return Object.fromEntries(members);
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

/** Parses a whole body as JSON. */
function parseAnswer(text: string): unknown {
  try {
    const parsed: unknown = JSON.parse(text);
    return parsed;
  } catch (error) {
    // JSON that ends too early was cut at the backend's deadline (docs/protocol/victorialogs.md#failures); other invalid JSON does not come
    // from VictoriaLogs.
    if (text.startsWith('{')) throw apiError('queryTimeout', {}, { cause: error });
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
