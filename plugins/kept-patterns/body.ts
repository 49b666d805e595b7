import type { Pacer } from '../../core/base/pace/pacer.js';
import { atPace } from '../../core/base/pace/steps.js';
import { encodeSteps } from '../../core/wire/answer/encode.js';
import type { PatternsAnswer } from '../../core/wire/answer/discovery-types.js';

type Patterns = PatternsAnswer['patterns'];

/** The bytes that clients get. */
export async function bodyOf(answer: PatternsAnswer, pacer: Pacer): Promise<Buffer> {
  const { body } = await atPace(encodeSteps(answer, { categorizeLabels: false }), pacer);
  return body;
}

/** The answer that these bytes were made of; throws for others: they may come from a file. */
export function answerOf(body: Buffer): PatternsAnswer {
  const { data } = JSON.parse(body.toString()) as { readonly data?: unknown };
  if (!Array.isArray(data)) throw new Error('no list of patterns');
  return { kind: 'patterns', patterns: data.map(patternOf), warnings: [] };
}

function patternOf(value: unknown): Patterns[number] {
  const { pattern, level, samples } = value as Partial<Record<string, unknown>>;
  if (typeof pattern !== 'string' || !(level === undefined || typeof level === 'string'))
    throw new Error('a pattern without text');
  if (!Array.isArray(samples) || !samples.every(isSample)) throw new Error('a pattern without samples');
  return { pattern, level, samples };
}

function isSample(value: unknown): value is Patterns[number]['samples'][number] {
  return Array.isArray(value) && value.length === 2 && value.every((number) => typeof number === 'number');
}
