import type { Comparison, Printed } from './types.js';

/** Describes the first difference between logcli's output for Loki and for the proxy; undefined if there is none. */
export function differenceOf(reference: Printed, proxy: Printed, as: Comparison): string | undefined {
  if (reference.exitCode !== proxy.exitCode)
    return `exit code ${proxy.exitCode}, Loki ${reference.exitCode}: ${lastLine(proxy.stderr)} | ${lastLine(reference.stderr)}`;
  return (
    linesDiffer('stderr', comparableStderr(reference.stderr, as), comparableStderr(proxy.stderr, as)) ??
    outputsDiffer(reference.stdout, proxy.stdout, as) ??
    filesDiffer(reference.files, proxy.files)
  );
}

function comparableStderr(text: string, as: Comparison): readonly string[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return as === 'figures' ? lines.map(withoutFigures) : lines;
}

function outputsDiffer(reference: string, proxy: string, as: Comparison): string | undefined {
  switch (as) {
    case 'text':
      return linesDiffer('stdout', reference.split('\n'), proxy.split('\n'));
    case 'lines':
      return linesDiffer('stdout', sorted(reference), sorted(proxy));
    case 'line-count':
      return linesDiffer(
        'lines of stdout',
        [String(sorted(reference).length)],
        [String(sorted(proxy).length)],
      );
    case 'analysis':
      return linesDiffer('stdout', sorted(squeezed(reference)), sorted(squeezed(proxy)));
    case 'figures':
      return linesDiffer(
        'stdout',
        reference.split('\n').map(withoutFigures),
        proxy.split('\n').map(withoutFigures),
      );
    case 'index-stats': {
      const kept = (text: string): readonly string[] =>
        text.split('\n').filter((line) => !/^\s*(bytes|chunks):/.test(line));
      return linesDiffer('stdout', kept(reference), kept(proxy));
    }
    case 'fields': {
      const kept = (text: string): readonly string[] =>
        itemsOf(text)
          .map((item) => item.replace(/cardinality"?:\s*\d+/, 'cardinality: n'))
          .sort();
      return linesDiffer('stdout', kept(reference), kept(proxy));
    }
    case 'samples':
      return samplesDiffer(reference, proxy, { share: 1e-9, atLeast: 0 });
    case 'volume':
      return samplesDiffer(reference, proxy, { share: 0.25, atLeast: kib * 2 });
  }
}

function sorted(text: string): readonly string[] {
  return itemsOf(text).sort();
}

/** The lines of a text; a line with a raw JSON list from logcli is split into its items. */
function itemsOf(text: string): string[] {
  return text.split('\n').flatMap((line) => listedIn(line) ?? [line]);
}

function listedIn(line: string): readonly string[] | undefined {
  if (!/^\{"(fields|values)":/.test(line)) return undefined;
  // The raw output of logcli for detected fields, or for the values of one.
  const { fields, values } = JSON.parse(line) as {
    readonly fields?: readonly unknown[] | null;
    readonly values?: readonly unknown[] | null;
  };
  return (fields ?? values ?? []).map((item) => JSON.stringify(item));
}

function squeezed(text: string): string {
  return text.replaceAll(/[ \t]+/g, ' ');
}

function withoutFigures(line: string): string {
  return squeezed(
    line.replaceAll(/-?\d[\d.]*(?:e[+-]\d+)? ?(?:[kMGT]?B|[nµm]?s|[hm](?=\d))?/g, 'n'),
  ).replaceAll(/n+/g, 'n');
}

function linesDiffer(
  what: string,
  reference: readonly string[],
  proxy: readonly string[],
): string | undefined {
  const at = reference.findIndex((line, index) => line !== proxy[index]);
  if (at >= 0) return `${what}, line ${at + 1}: ${shown(proxy[at])} | Loki ${shown(reference[at])}`;
  return proxy.length > reference.length
    ? `${what}, line ${reference.length + 1}: ${shown(proxy[reference.length])} | Loki has none`
    : undefined;
}

function filesDiffer(
  reference: ReadonlyMap<string, string>,
  proxy: ReadonlyMap<string, string>,
): string | undefined {
  const names = linesDiffer('files', [...reference.keys()], [...proxy.keys()]);
  if (names !== undefined) return names;
  for (const [name, text] of reference) {
    const difference = linesDiffer(name, text.split('\n'), (proxy.get(name) ?? '').split('\n'));
    if (difference !== undefined) return difference;
  }
  return undefined;
}

/** Loki counts chunks in whole KiB. */
const kib = 1024;

interface Tolerance {
  readonly share: number;
  readonly atLeast: number;
}
type Sample = readonly [time: number, value: string];
interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly value?: Sample;
  readonly values?: readonly Sample[];
}

/** Compares logcli's output for a vector or matrix: series by their labels, samples in order. */
function samplesDiffer(reference: string, proxy: string, tolerance: Tolerance): string | undefined {
  const wanted = seriesOf(reference);
  const found = seriesOf(proxy);
  if (wanted === undefined || found === undefined)
    return linesDiffer('stdout', reference.split('\n'), proxy.split('\n'));
  const names = linesDiffer('series', [...wanted.keys()].sort(), [...found.keys()].sort());
  if (names !== undefined) return names;
  for (const [name, samples] of wanted) {
    const others = found.get(name) ?? [];
    if (samples.length !== others.length) return `${name}: ${others.length} samples, Loki ${samples.length}`;
    const at = samples.findIndex((sample, index) => !isNear(sample, others[index], tolerance));
    if (at >= 0) return `${name}: ${JSON.stringify(others[at])}, Loki ${JSON.stringify(samples[at])}`;
  }
  return undefined;
}

function seriesOf(text: string): ReadonlyMap<string, readonly Sample[]> | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    if (!Array.isArray(parsed)) return undefined;
    // The output of logcli for a vector or matrix.
    const list = parsed as readonly Series[];
    return new Map(
      list.map(({ metric, value, values }) => [
        JSON.stringify(Object.entries(metric).sort()),
        values ?? (value === undefined ? [] : [value]),
      ]),
    );
  } catch {
    return undefined;
  }
}

function isNear(a: Sample, b: Sample | undefined, tolerance: Tolerance): boolean {
  if (b === undefined || Math.abs(a[0] - b[0]) > 0.001) return false;
  if (a[1] === b[1]) return true;
  const [x, y] = [Number(a[1]), Number(b[1])];
  return Math.abs(x - y) <= Math.max(tolerance.atLeast, tolerance.share * Math.max(Math.abs(x), Math.abs(y)));
}

function shown(line: string | undefined): string {
  if (line === undefined) return 'has none';
  return line.length > 300 ? `${line.slice(0, 300)}...` : line;
}

function lastLine(text: string): string {
  return shown(text.trim().split('\n').at(-1));
}
