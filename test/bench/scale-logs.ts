/**
 * Many rows over one day in 200 streams: a quarter each of JSON with a level, logfmt with a level, plain text with a level word, and access
 * logs; no level is stored. The data is the same in every run and is generated batch by batch.
 */
import { chances, type Chances } from './chances.js';
import type { PushedStream } from './fill.js';

export const scaleStartMs = Date.UTC(2026, 10, 2);
export const scaleEndMs = scaleStartMs + 24 * 3_600_000;

const seed = 20_261_126;
const streams = 200;
const batchRows = 10_000;
const nsPerMs = 1_000_000;

interface Form {
  readonly app: string;
  /** Programs that log in milliseconds have lines with equal timestamps. */
  readonly hasMilliseconds: boolean;
  readonly line: (chance: Chances, atMs: number) => string;
}

const namespaces = ['shop', 'search', 'billing', 'identity', 'media', 'platform', 'edge', 'batch'];
const levels: readonly (readonly [string, number])[] = [
  ['info', 78],
  ['debug', 9],
  ['warn', 8],
  ['error', 5],
];
const statuses: readonly (readonly [number, number])[] = [
  [200, 76],
  [201, 5],
  [204, 4],
  [304, 5],
  [401, 2],
  [404, 4],
  [429, 1],
  [500, 2],
  [503, 1],
];
const methods: readonly (readonly [string, number])[] = [
  ['GET', 70],
  ['POST', 20],
  ['PUT', 6],
  ['DELETE', 4],
];

const iso = (atMs: number): string => new Date(atMs).toISOString();
const path = (chance: Chances): string => `/api/v2/${chance.word()}/${chance.whole(1, 90_000)}`;
/** Most are short, a few very long. */
const milliseconds = (chance: Chances): string => (chance.next() ** 4 * 4_000 + chance.next()).toFixed(3);

const forms: readonly Form[] = [
  {
    app: 'gateway',
    hasMilliseconds: false,
    line: (chance, atMs) => {
      const status = chance.weighted(statuses);
      const level = status >= 500 ? 'error' : status >= 400 ? 'warn' : 'info';
      return `{"time":"${iso(atMs)}","level":"${level}","msg":"${chance.words(chance.whole(2, 5))}","method":"${chance.weighted(methods)}","path":"${path(chance)}","status":${status},"duration_ms":${milliseconds(chance)},"bytes":${chance.whole(40, 90_000)},"user":{"id":${chance.whole(1, 60_000)},"plan":"${chance.happens(0.3) ? 'paid' : 'free'}"},"request_id":"${chance.hex(16)}"}`;
    },
  },
  {
    app: 'checkout',
    hasMilliseconds: false,
    line: (chance, atMs) =>
      `ts=${iso(atMs)} caller=${chance.word()}.go:${chance.whole(10, 900)} level=${chance.weighted(levels)} msg="${chance.words(chance.whole(2, 6))}" order=${chance.whole(1, 900_000)} took=${milliseconds(chance)}ms trace=${chance.hex(16)}`,
  },
  {
    app: 'worker',
    hasMilliseconds: true,
    line: (chance, atMs) => {
      const level = chance.weighted(levels).toUpperCase();
      return `${iso(atMs).slice(0, 23).replace('T', ' ')} ${level.padEnd(5)} [pool-${chance.whole(1, 40)}] ${chance.word()}.${chance.word()}Job - ${chance.words(chance.whole(3, 8))} id=${chance.hex(12)} after ${chance.whole(1, 9_000)} ms`;
    },
  },
  {
    app: 'ingress',
    hasMilliseconds: false,
    line: (chance, atMs) =>
      `${chance.ip()} - ${chance.happens(0.2) ? chance.word() : '-'} [${iso(atMs)}] "${chance.weighted(methods)} ${path(chance)} HTTP/1.1" ${chance.weighted(statuses)} ${chance.whole(0, 90_000)} "-" "${chance.word()}/${chance.whole(1, 9)}.${chance.whole(0, 30)}" ${chance.hex(16)}`,
  },
];

/** Batches for Loki's push API with `rows` rows in total. */
export function* scaleBatches(rows: number): Generator<readonly PushedStream[]> {
  const chance = chances(seed);
  const sources = Array.from({ length: streams }, (_, index) => sourceOf(index, chance));
  const msPerRow = (scaleEndMs - scaleStartMs) / rows;
  let batch = new Map<object, PushedStream>();
  for (let index = 0; index < rows; index += 1) {
    const source = sources[chance.whole(0, streams - 1)];
    if (source === undefined) continue;
    const { form, labels } = source;
    const atMs = Math.floor(scaleStartMs + (index + chance.next()) * msPerRow);
    const ns = form.hasMilliseconds ? 0 : chance.whole(0, nsPerMs - 1);
    let target = batch.get(source);
    if (target === undefined) batch.set(source, (target = { stream: labels, values: [] }));
    target.values.push([`${atMs}${String(ns).padStart(6, '0')}`, form.line(chance, atMs), {}]);
    if ((index + 1) % batchRows === 0) {
      yield [...batch.values()];
      batch = new Map();
    }
  }
  if (batch.size > 0) yield [...batch.values()];
}

/** Half of the streams of each form belong to each cluster. */
function sourceOf(
  index: number,
  chance: Chances,
): { readonly form: Form; readonly labels: Readonly<Record<string, string>> } {
  const form = forms[index % forms.length];
  if (form === undefined) throw new Error('there are no forms');
  const round = Math.floor(index / forms.length);
  return {
    form,
    labels: {
      cluster: round % 2 === 0 ? 'eu' : 'us',
      namespace: namespaces[Math.floor(round / 2) % namespaces.length] ?? '',
      app: form.app,
      node: `node-${chance.whole(1, 40)}`,
      pod: `${form.app}-${chance.hex(5)}-${index}`,
    },
  };
}
