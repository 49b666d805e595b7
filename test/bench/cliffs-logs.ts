/**
 * Rows of which a given share is exceptional in one way; a share of 0 is the baseline. JSON and logfmt lines that contain levels, over six
 * hours. The data is the same in every run.
 */
import { chances, type Chances } from './chances.js';
import type { PushedStream } from './fill.js';

export const cliffsStartMs = Date.UTC(2026, 10, 3);
export const cliffsEndMs = cliffsStartMs + 6 * 3_600_000;

/** The kinds of exceptional data. */
export type Exception =
  | 'rows pushed twice'
  | 'minutes pushed twice'
  | 'streams of mixed formats'
  | 'rows without a line'
  | 'streams with clashing names'
  | 'levels spelled oddly';

export interface CliffData {
  readonly exception: Exception;
  /** The percentage of rows, streams or time stretches that are exceptional. */
  readonly percent: number;
  readonly rows: number;
  readonly streams: number;
}

const seed = 20_261_127;
const batchRows = 10_000;
const stretchMs = 300_000;
const nsPerMs = 1_000_000;
const namespaces = ['shop', 'search', 'billing', 'identity', 'media', 'platform'];
const methods = ['GET', 'GET', 'GET', 'POST', 'PUT', 'DELETE'] as const;
const levels: readonly (readonly [string, number])[] = [
  ['info', 80],
  ['warn', 12],
  ['error', 8],
];
/** JSON text that Loki also detects as one of these levels. */
const oddLevels = [
  '"level":"Wrn"',
  '"severity":"ERR"',
  '"lvl":"inf"',
  String.raw`"level":"\u0065rror"`,
  '"level" : "Information"',
  '"LEVEL":"dbg"',
] as const;
const oddWords = ['lvl=wrn', 'severity=ERR', 'level="Inf"', 'LEVEL=dbg', 'level=Critical'] as const;

/** Batches for Loki's push API with `rows` rows in total, duplicates included. */
export function* cliffBatches({
  exception,
  percent,
  rows,
  streams,
}: CliffData): Generator<readonly PushedStream[]> {
  const chance = chances(seed);
  const sources = Array.from({ length: streams }, (_, index) => sourceOf(index));
  const msPerRow = (cliffsEndMs - cliffsStartMs) / rows;
  let batch = new Map<number, PushedStream>();
  let inBatch = 0;
  for (let made = 0; made < rows;) {
    const index = chance.whole(0, streams - 1);
    const stream = sources[index] ?? {};
    const atMs = Math.floor(cliffsStartMs + (made + chance.next()) * msPerRow);
    const isHit = {
      row: chance.happens(percent / 100),
      // Half of the streams have each format.
      stream: isChosen(Math.floor(index / 2), percent),
      stretch: isChosen(Math.floor((atMs - cliffsStartMs) / stretchMs), percent),
    };
    const fields = fieldsOf(chance);
    const isJson = index % 2 === 0;
    const hasNoLine = exception === 'rows without a line' && isHit.row;
    const isOdd = exception === 'levels spelled oddly' && isHit.row;
    const isText = exception === 'streams of mixed formats' && isHit.stream && chance.happens(0.5);
    const clash = exception === 'streams with clashing names' && isHit.stream;
    const line = isText
      ? textLine(chance, fields)
      : isJson
        ? json(chance, fields, isOdd)
        : logfmt(chance, fields, isOdd);
    const entry = [
      `${atMs}${String(chance.whole(0, nsPerMs - 1)).padStart(6, '0')}`,
      hasNoLine ? '' : line,
      hasNoLine ? fields : clash ? { namespace: chance.word(), pod: chance.hex(5) } : {},
    ] as const;
    const isTwice =
      (exception === 'rows pushed twice' && isHit.row) ||
      (exception === 'minutes pushed twice' && isHit.stretch);
    let target = batch.get(index);
    if (target === undefined) batch.set(index, (target = { stream, values: [] }));
    for (let copy = 0; copy < (isTwice ? 2 : 1) && made < rows; copy += 1, made += 1, inBatch += 1)
      target.values.push(entry);
    if (inBatch < batchRows) continue;
    yield [...batch.values()];
    batch = new Map();
    inBatch = 0;
  }
  if (inBatch > 0) yield [...batch.values()];
}

/** Chooses the given percentage, spread evenly. Skips the first ones, because the queries do not reach the ends of the range. */
function isChosen(index: number, percent: number): boolean {
  return (index * 37 + 50) % 100 < percent;
}

function sourceOf(index: number): Readonly<Record<string, string>> {
  const app = index % 2 === 0 ? 'gateway' : 'checkout';
  const namespace = namespaces[Math.floor(index / 2) % namespaces.length] ?? '';
  return { env: 'prod', namespace, app, pod: `${app}-${index}` };
}

type Fields = Readonly<Record<'level' | 'method' | 'status' | 'duration_ms', string>>;

function fieldsOf(chance: Chances): Fields {
  const level = chance.weighted(levels);
  return {
    level,
    method: chance.pick(methods),
    status:
      level === 'error'
        ? chance.pick(['500', '503'])
        : level === 'warn'
          ? '404'
          : chance.pick(['200', '201']),
    duration_ms: (chance.next() ** 3 * 2_000).toFixed(3),
  };
}

function json(chance: Chances, { level, method, status, duration_ms }: Fields, isOdd: boolean): string {
  const told = isOdd ? chance.pick(oddLevels) : `"level":"${level}"`;
  return `{${told},"msg":"${chance.words(chance.whole(2, 5))}","method":"${method}","path":"/${chance.word()}/${chance.whole(1, 90_000)}","status":${status},"duration_ms":${duration_ms},"request_id":"${chance.hex(16)}"}`;
}

function logfmt(chance: Chances, { level, status, duration_ms }: Fields, isOdd: boolean): string {
  const told = isOdd ? chance.pick(oddWords) : `level=${level}`;
  return `${told} msg="${chance.words(chance.whole(2, 5))}" status=${status} took=${duration_ms}ms trace=${chance.hex(16)}`;
}

function textLine(chance: Chances, { level, duration_ms }: Fields): string {
  return `[${level.toUpperCase()}] ${chance.words(chance.whole(3, 8))} ${chance.hex(12)} in ${duration_ms} ms`;
}
