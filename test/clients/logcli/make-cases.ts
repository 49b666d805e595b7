import type { LogcliCase } from './types.js';

export const from = '--from=2026-11-01T02:00:00Z';
export const to = '--to=2026-11-01T03:00:00Z';
export const hour = [from, to] as const;
export const tenMinutes = ['--from=2026-11-01T02:00:00Z', '--to=2026-11-01T02:10:00Z'] as const;
export const day = ['--from=2026-11-01T00:00:00Z', '--to=2026-11-01T06:00:00Z'] as const;
export const gateway = '{app="api-gateway"}';
export const checkout = '{service_name="checkout"}';
export const payments = '{service_name="payments"}';
export const every = '{service_name=~".+"}';
export const prod = '{namespace="prod", app!="orders"}';
export const perLevel = 'sum by (level) (count_over_time({app="api-gateway"}[5m]))';

/** The reason why the error text for a request without a tenant differs (docs/differences.md). */
export const missingTenant =
  'the specification words the refusal of a request without a tenant in its own way';

/** The reason why sparse streams are listed, or measured, differently (docs/differences.md). */
export const byChunks =
  "Loki answers from its index: a chunk's labels and size count for all the time that it spans";

export function query(name: string, ...args: readonly string[]): LogcliCase {
  return { command: 'query', name, args };
}
export function instant(name: string, ...args: readonly string[]): LogcliCase {
  return { command: 'instant-query', name, args, as: 'samples' };
}
export function labels(name: string, ...args: readonly string[]): LogcliCase {
  return { command: 'labels', name, args };
}
export function series(name: string, ...args: readonly string[]): LogcliCase {
  return { command: 'series', name, args, as: 'lines' };
}
export function stats(name: string, ...args: readonly string[]): LogcliCase {
  return { command: 'stats', name, args, as: 'index-stats' };
}
export function volume(name: string, ...args: readonly string[]): LogcliCase {
  return { command: 'volume', name, args, as: 'volume' };
}
export function volumeRange(name: string, ...args: readonly string[]): LogcliCase {
  return { command: 'volume_range', name, args, as: 'volume' };
}
export function fields(name: string, ...args: readonly string[]): LogcliCase {
  return { command: 'detected-fields', name, args, as: 'fields' };
}
export function refused(name: string, command: string, ...args: readonly string[]): LogcliCase {
  return { command, name: `refused: ${name}`, args };
}
