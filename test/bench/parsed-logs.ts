/** Rows of fields without a line, as sent by collectors that parse JSON: 60 streams over six hours, the same in every run. */
import { chances } from './chances.js';
import type { PushedStream } from './fill.js';

export const parsedStartMs = Date.UTC(2026, 10, 1);
export const parsedEndMs = parsedStartMs + 6 * 3_600_000;

const batchRows = 5_000;
const streams = 60;
const seed = 20_261_102;
const services = ['api', 'cart', 'checkout', 'search', 'users', 'web'];
const methods: readonly [string, number][] = [
  ['GET', 70],
  ['POST', 20],
  ['PUT', 6],
  ['DELETE', 4],
];
const statuses: readonly [string, number][] = [
  ['200', 80],
  ['201', 5],
  ['301', 3],
  ['404', 7],
  ['499', 1],
  ['500', 2],
  ['502', 1],
  ['503', 1],
];

/** Batches for Loki's push API; an empty line with fields is stored as a row without a message. */
export function* parsedBatches(rows: number): Generator<readonly PushedStream[]> {
  const chance = chances(seed);
  const labels = Array.from({ length: streams }, (_, index) => {
    const service = services[index % services.length] ?? '';
    return { namespace: `team-${index % 5}`, service_name: service, pod: `${service}-${index}` };
  });
  let batch = new Map<number, PushedStream>();
  for (let index = 0; index < rows; index += 1) {
    const source = chance.whole(0, streams - 1);
    const stream = labels[source] ?? {};
    const atMs = parsedStartMs + Math.floor((index / rows) * (parsedEndMs - parsedStartMs));
    const status = chance.weighted(statuses);
    const fields = {
      level: status >= '500' ? 'error' : status >= '400' ? 'warn' : 'info',
      method: chance.weighted(methods),
      path: `/api/v1/items/${chance.whole(1, 2_000)}`,
      status,
      duration_ms: String(chance.whole(1, 40) * chance.whole(1, 40)),
      bytes: String(chance.whole(100, 90_000)),
      user: `user-${chance.whole(1, 500)}`,
      trace_id: `${chance.whole(0, 2 ** 30).toString(16)}${index.toString(16).padStart(8, '0')}`,
    };
    const target: PushedStream = batch.get(source) ?? { stream, values: [] };
    batch.set(source, target);
    target.values.push([`${atMs}${String(chance.whole(0, 999_999)).padStart(6, '0')}`, '', fields]);
    if (index % batchRows === batchRows - 1) {
      yield [...batch.values()];
      batch = new Map();
    }
  }
  if (batch.size > 0) yield [...batch.values()];
}
