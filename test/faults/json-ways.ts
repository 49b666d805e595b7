import type { Random } from '../watch/random.js';
import type { Way } from './way.js';
import { whole, type BackendReply } from './wire.js';

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

const odd: readonly Json[] = [null, true, 5, -1, 1e300, 'odd', '', [], {}, [[]], [null], { value: {} }];

/**
 * Replaces a value of a response with one of another type. The proxy may reject values that the backend never sends there, or ignore them,
 * but they must not change the client's response.
 */
export const typeWays: readonly Way[] = [
  {
    name: 'a value of another type somewhere',
    law: 'same-or-error',
    actions: (reply, random) => {
      const body = spoiltBody(reply, random);
      return body === undefined ? undefined : [whole(reply, { body: Buffer.from(body) })];
    },
  },
];

function spoiltBody(reply: BackendReply, random: Random): string | undefined {
  const text = reply.body.toString('utf8');
  if (!reply.path.endsWith('/query')) return spoilt(text, random);
  const lines = text.split('\n');
  const at = random.below(Math.max(1, lines.length - 1));
  const line = spoilt(lines[at] ?? '', random);
  if (line === undefined) return undefined;
  lines[at] = line;
  return lines.join('\n');
}

function spoilt(text: string, random: Random): string | undefined {
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
  const places = placesOf(value);
  const place = random.pick(places);
  const others = odd.filter((other) => kindOf(other) !== kindOf(place.value));
  const replaced = random.pick(others);
  if (place.set === undefined) return JSON.stringify(replaced);
  place.set(replaced);
  return JSON.stringify(value);
}

interface Place {
  readonly value: Json;
  /** Undefined at the root. */
  readonly set?: (value: Json) => void;
}

function placesOf(value: Json, set?: (value: Json) => void): Place[] {
  const here: Place = set === undefined ? { value } : { value, set };
  if (Array.isArray(value)) {
    return [here, ...value.flatMap((item, at) => placesOf(item, (changed) => (value[at] = changed)))];
  }
  if (typeof value !== 'object' || value === null) return [here];
  return [
    here,
    ...Object.entries(value).flatMap(([name, item]) => placesOf(item, (changed) => (value[name] = changed))),
  ];
}

function kindOf(value: Json): string {
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
}
