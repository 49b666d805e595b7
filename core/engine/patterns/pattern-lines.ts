import { timeOrder } from '../../base/order.js';
import type { PatternSearch } from '../../wire/api/request.js';
import type { Clock } from '../../base/clock.js';
import type { TimeRange } from '../../base/time/range.js';
import type { PatternMeters } from './pattern-metrics.js';
import type { PatternHistogram, PatternWindow } from './pattern-windows.js';
import { inParallel } from '../../base/pace/in-parallel.js';
import { fields, query } from '../../victoria/logsql/build.js';
import type { LogsqlFilter } from '../../victoria/logsql/ast.js';
import type { MemoryAccount } from '../../base/memory/account.js';
import { logRowBytes } from '../../base/memory/byte-lru.js';
import { levelNames } from '../../victoria/names/level-words.js';
import { detectedLevelName } from '../../victoria/names/level.js';
import type { RowsRequest } from '../../victoria/upstream/types.js';
import type { Backend } from '../backend.js';
import { countByTime } from '../rows/count-by-time.js';

/** The parts of a line that the pattern search uses. */
export interface PatternLine {
  readonly timestampNs: bigint;
  readonly streamKey: string;
  readonly level: string;
  readonly line: string;
}

/** The lines read from a window: all of them, or a sample. */
export interface WindowLines {
  readonly window: PatternWindow;
  readonly lines: readonly PatternLine[];
}

/** Columns with a line, its stream and its level. */
const columns = ['_time', '_stream', '_msg', detectedLevelName, ...levelNames, 'severity_number'];
const secondNs = 1_000_000_000n;
/** Maximum length of a line to keep, since longer ones have no pattern, unless they may contain a short message. */
const maxLineLength = 3000;
const levels: ReadonlySet<string> = new Set(['debug', 'info', 'warn', 'error', 'fatal', 'critical', 'trace']);
const parallel = 4;

export interface PatternBackend extends Backend {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Charged for lines and samples. */
  readonly memory: MemoryAccount;
  readonly meters: PatternMeters;
}

/** Counts the lines per bucket. */
export async function countLines(
  filter: LogsqlFilter,
  range: TimeRange,
  stepNs: bigint,
  { upstream }: Backend,
): Promise<PatternHistogram> {
  const counts = await countByTime(filter, range, stepNs, upstream);
  return counts.map(({ startNs, rows }) => [Number(startNs / secondNs), rows]);
}

/**
 * Reads the newest lines of every window, with an equal share of the budget for each. If that left lines out, a second pass reads more of
 * the windows with the smallest samples.
 */
export async function readWindows(
  filter: LogsqlFilter,
  windows: readonly PatternWindow[],
  search: PatternSearch,
  backend: PatternBackend,
): Promise<readonly WindowLines[]> {
  const { signal, meters } = backend;
  const share = Math.max(1, Math.floor(search.maxRows / Math.max(1, windows.length)));
  const readFirst = async (window: PatternWindow): Promise<WindowLines> => {
    meters.patterns_source_lines_requested_total.add(Math.min(window.lines, share), {});
    const newest = window.lines <= share ? undefined : share;
    return { window, lines: await readNewest(filter, window.range, newest, backend) };
  };
  const first = await inParallel(windows, parallel, readFirst, signal);
  const left = first.filter(({ window, lines }) => lines.length < window.lines);
  meters.patterns_windows_attempted_total.add(windows.length, {});
  meters.patterns_windows_accepted_total.add(first.filter(({ lines }) => lines.length > 0).length, {});
  meters.patterns_windows_capped_total.add(left.length, {});
  const thin = left
    .sort((a, b) => a.lines.length / a.window.lines - b.lines.length / b.window.lines)
    .slice(0, search.secondPassMaxWindows);
  const more = thin.length === 0 ? 0 : Math.floor(search.secondPassMaxRows / thin.length);
  if (more === 0) return first;
  meters.patterns_second_pass_windows_total.add(thin.length, {});
  meters.patterns_source_lines_requested_total.add(thin.length * more, {});
  const olderOf = new Map<PatternWindow, readonly PatternLine[]>();
  const readOlder = async ({ window, lines }: WindowLines): Promise<void> => {
    const range = { ...window.range, endNs: lines[0]?.timestampNs ?? window.range.endNs };
    olderOf.set(window, await readNewest(filter, range, more, backend));
  };
  await inParallel(thin, parallel, readOlder, signal);
  return first.map(({ window, lines }) => ({ window, lines: [...(olderOf.get(window) ?? []), ...lines] }));
}

/** Reads lines in time order. */
async function readNewest(
  filter: LogsqlFilter,
  range: TimeRange,
  newest: number | undefined,
  backend: PatternBackend,
): Promise<readonly PatternLine[]> {
  const request = { range, ...(newest === undefined ? {} : { newest }) };
  const lines =
    (await readLines({ ...request, query: query(filter, [fields(...columns)]) }, backend, 'stored')) ??
    (await readLines({ ...request, query: query(filter) }, backend, 'any')) ??
    [];
  return lines.sort((a, b) => timeOrder(a.timestampNs, b.timestampNs));
}

/**
 * Reads lines; undefined if a row without a stored line was found among rows that should have one, since such a line is made of all fields.
 */
async function readLines(
  request: RowsRequest,
  { upstream, reader, memory, meters }: PatternBackend,
  expected: 'stored' | 'any',
): Promise<PatternLine[] | undefined> {
  const lines: PatternLine[] = [];
  let bytes = 0;
  for await (const batch of upstream.rows(request)) {
    for (const row of batch) {
      const { timestampNs, stream, structuredMetadata, line, isRebuilt } = reader.read(row);
      if (isRebuilt && expected === 'stored') {
        memory.release(bytes, 'log lines');
        return undefined;
      }
      const kept = line.length > maxLineLength && !line.startsWith('{') ? '' : line;
      const level = structuredMetadata.get(detectedLevelName).toLowerCase();
      const size = logRowBytes({ line: kept });
      memory.charge(size, 'log lines');
      bytes += size;
      lines.push({
        timestampNs,
        streamKey: stream.labels.key,
        level: levels.has(level) ? level : 'unknown',
        line: kept,
      });
    }
    meters.patterns_source_lines_scanned_total.add(batch.length, {});
  }
  return lines;
}
