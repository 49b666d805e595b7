import type { PatternResult, PatternsAnswer } from '../../wire/answer/types.js';
import type { PatternsRequest } from '../../wire/api/discovery-request.js';
import { cutWindows, linesOf, spreadSample } from './pattern-windows.js';
import { PatternFinder } from './drain/pattern-finder.js';
import { compilePatternFilter } from '../../logql/pipeline/line-filter-pattern.js';
import type { MemoryAccount } from '../../base/memory/account.js';
import { Pacer } from '../../base/pace/pacer.js';
import { atPace, eachAtPace } from '../../base/pace/steps.js';
import type { PatternsPlan } from '../plan/types.js';
import { countLines, readWindows, type PatternBackend, type WindowLines } from './pattern-lines.js';

/** Loki's settings: clusters per stream, and the least lines for a pattern to be shown. */
const maxClusters = 300;
const minLines = 30;
/** The least number of times a pattern must occur in a sample to be extrapolated. */
const minSampled = 3;
const maxTrees = 2000;
/** The most windows that a range is split into when not all of its lines can be read. */
const maxWindows = 24;
/** The most samples in an answer; beyond that, empty buckets are left out. */
const maxSamples = 500_000;
/** Bytes of a pair of numbers in its list. */
const sampleBytes = 48;
const secondNs = 1_000_000_000n;

type Samples = PatternResult['samples'];

/** The patterns of the selected lines, counted per bucket (docs/protocol/answers.md#patterns). */
export async function answerPatterns(
  { filter }: PatternsPlan,
  request: PatternsRequest,
  context: PatternBackend,
): Promise<PatternsAnswer> {
  const { search, stepNs, range } = request;
  const isEmpty = range.endNs <= range.startNs;
  const histogram = isEmpty ? [] : await countLines(filter, range, stepNs, context);
  const total = linesOf(histogram);
  const windows = cutWindows(histogram, range, stepNs, total <= search.maxRows ? 1 : maxWindows);
  const read = await readWindows(filter, windows, search, context);
  const pacer = new Pacer(context.signal);
  const custom: PatternResult[] = [];
  for (const pattern of search.custom) custom.push(await countCustom(pattern, read, stepNs, pacer));
  const found = await findPatterns(read, stepNs, context.memory, pacer);
  const own = new Set(search.custom);
  const patterns = [...custom, ...found.filter(({ pattern }) => !own.has(pattern))].slice(0, request.limit);
  const stepSeconds = Number(stepNs / secondNs);
  return {
    kind: 'patterns',
    patterns: await filled(patterns, stepSeconds, context.memory, pacer),
    warnings: [],
  };
}

async function findPatterns(
  read: readonly WindowLines[],
  stepNs: bigint,
  memory: MemoryAccount,
  pacer: Pacer,
): Promise<readonly PatternResult[]> {
  const finder = new PatternFinder({ maxClusters, maxTrees });
  for (const [index, { window, lines }] of read.entries()) {
    const isSample = window.lines > lines.length;
    for (const { streamKey, level, line, timestampNs } of lines) {
      finder.add(streamKey, level, line, bucketOf(index, isSample, timestampNs, stepNs));
      const pause = pacer.due();
      if (pause !== undefined) await pause;
    }
  }
  const results: (PatternResult & { readonly lines: number })[] = [];
  for (const { pattern, level, size, counts } of await atPace(finder.patterns(), pacer)) {
    const samples = samplesOf(counts, read);
    const lines = samples.reduce((sum, [, count]) => sum + count, 0);
    if (lines >= minLines && size >= minSampled) {
      memory.charge(samples.length * sampleBytes, 'samples of patterns');
      results.push({ pattern, level, samples, lines });
    }
    const pause = pacer.due();
    if (pause !== undefined) await pause;
  }
  return results
    .sort((a, b) => b.lines - a.lines || (a.pattern < b.pattern ? -1 : 1))
    .map(({ pattern, level, samples }) => ({ pattern, level, samples }));
}

/** A configured pattern counts all lines it matches, of any level. */
async function countCustom(
  pattern: string,
  read: readonly WindowLines[],
  stepNs: bigint,
  pacer: Pacer,
): Promise<PatternResult> {
  const matches = compilePatternFilter(pattern);
  const counts = new Map<number, number>();
  for (const [index, { window, lines }] of read.entries())
    await eachAtPace(lines, pacer, ({ line, timestampNs }) => {
      if (!matches(line)) return;
      const bucket = bucketOf(index, window.lines > lines.length, timestampNs, stepNs);
      counts.set(bucket, (counts.get(bucket) ?? 0) + 1);
    });
  return { pattern, level: undefined, samples: samplesOf(counts, read) };
}

/** Lines of a window that was read completely are counted by time; sampled lines by window, as a negative number. */
function bucketOf(window: number, isSample: boolean, timestampNs: bigint, stepNs: bigint): number {
  return isSample ? -1 - window : Number(((timestampNs / stepNs) * stepNs) / secondNs);
}

function samplesOf(counts: ReadonlyMap<number, number>, read: readonly WindowLines[]): Samples {
  const sums = new Map<number, number>();
  const add = (seconds: number, lines: number): void => {
    sums.set(seconds, (sums.get(seconds) ?? 0) + lines);
  };
  for (const [bucket, count] of counts) {
    const sampled = bucket < 0 ? read[-1 - bucket] : undefined;
    if (sampled === undefined) add(bucket, count);
    else
      for (const [seconds, lines] of spreadSample(sampled.window, count, sampled.lines.length))
        add(seconds, lines);
  }
  return [...sums].sort(([a], [b]) => a - b);
}

/** Empty buckets between the first and the last one are shown unless there are too many. */
async function filled(
  patterns: readonly PatternResult[],
  stepSeconds: number,
  memory: MemoryAccount,
  pacer: Pacer,
): Promise<readonly PatternResult[]> {
  const spans = patterns.map(({ samples }) => {
    const [first, last] = [samples[0]?.[0] ?? 0, samples.at(-1)?.[0] ?? 0];
    return samples.length === 0 ? 0 : Math.round((last - first) / stepSeconds) + 1;
  });
  const all = spans.reduce((sum, span) => sum + span, 0);
  if (all > maxSamples) return patterns;
  memory.charge(all * sampleBytes, 'samples of patterns');
  const results: PatternResult[] = [];
  await eachAtPace(patterns.entries(), pacer, ([index, result]) => {
    const counts = new Map(result.samples);
    const start = result.samples[0]?.[0] ?? 0;
    const samples = Array.from(
      { length: spans[index] ?? 0 },
      (_bucket, offset): readonly [number, number] => {
        const seconds = start + offset * stepSeconds;
        return [seconds, counts.get(seconds) ?? 0];
      },
    );
    results.push({ ...result, samples });
  });
  return results;
}
