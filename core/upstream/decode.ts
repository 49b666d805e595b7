import { apiError } from '../errors/table.js';
import type { BackendSample, BackendValue } from './types.js';

/** Reads the answer of a listing: `{"values":[{"value","hits"}]}`. */
export function decodeListing(text: string): readonly BackendValue[] {
  const values = member(parseAnswer(text), 'values');
  if (values === null || values === undefined) return [];
  return asArray(values).map((item) => ({
    value: asText(member(item, 'value')),
    hits: Number(member(item, 'hits') ?? 0),
  }));
}

/** Reads the answer of stats_query: one sample per group and result column; empty labels are left out. */
export function decodeStats(text: string): readonly BackendSample[] {
  const samples = asArray(member(member(parseAnswer(text), 'data'), 'result') ?? []);
  return samples.map((sample) => {
    const [timestamp, value] = asArray(member(sample, 'value'));
    const labels = new Map<string, string>();
    for (const [name, label] of Object.entries(asObject(member(sample, 'metric')))) {
      if (typeof label === 'string' && label !== '') labels.set(name, label);
    }
    const name = labels.get('__name__') ?? '';
    labels.delete('__name__');
    return { name, labels, timestampSeconds: Number(timestamp), value: asText(value) };
  });
}

const noJson = 'the answer of the backend is no JSON; is -backend the address of VictoriaLogs?';

/** A whole body as JSON. */
export function parseAnswer(text: string): unknown {
  try {
    const parsed: unknown = JSON.parse(text);
    return parsed;
  } catch (error) {
    // JSON that ends too early was cut at the backend's deadline (backend.md, section 8); what never was JSON comes from something else.
    if (text.startsWith('{')) throw apiError('queryTimeout', {}, { cause: error });
    throw apiError('backendRefused', { cause: noJson }, { cause: error });
  }
}

/** These four read an answer part by part; what has another form is a broken answer. */
export function asObject(value: unknown): object {
  if (typeof value === 'object' && value !== null) return value;
  throw apiError('backendRefused', { cause: 'unexpected answer of the backend' });
}

export function member(value: unknown, name: string): unknown {
  const object = asObject(value);
  return Object.hasOwn(object, name) ? Object.getOwnPropertyDescriptor(object, name)?.value : undefined;
}

export function asArray(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw apiError('backendRefused', { cause: 'unexpected answer of the backend' });
}

export function asText(value: unknown): string {
  if (typeof value === 'string') return value;
  throw apiError('backendRefused', { cause: 'unexpected answer of the backend' });
}
