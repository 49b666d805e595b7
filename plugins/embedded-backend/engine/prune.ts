import { build, compileStreamFilter, type LogsqlFilter } from '../logsql/index.js';
import { isOfStreams } from '../../../core/victoria/logsql/build.js';
import { MAX_NS, MIN_NS } from '../http/time-arg.js';
import type { TimeRange } from '../store/scan.js';
import type { Stream } from '../store/stream.js';
import type { StreamTags } from '../store/stream-tags.js';

/** A filter split into a part that the store's index can evaluate and a part to test row by row. */
export interface PrunedFilter {
  readonly range: TimeRange;
  /** Exact test of a stream's fields. */
  readonly matchesStream: (tags: StreamTags) => boolean;
  /** The remaining filter; `all` if stream and time decide everything. */
  readonly rowFilter: LogsqlFilter;
}

/** Splits the top-level conditions of a filter into those two parts. */
export function pruneFilter(filter: LogsqlFilter, evalNs: bigint): PrunedFilter {
  const tests: ((tags: StreamTags) => boolean)[] = [];
  const rest: LogsqlFilter[] = [];
  let range: TimeRange = { minNs: MIN_NS, maxNs: MAX_NS };
  for (const part of conjuncts(filter)) {
    if (isPureTime(part)) range = intersect(range, timeBounds(part, evalNs));
    else if (isOfStreams(part)) tests.push(compileStreamTest(part));
    else {
      range = intersect(range, timeBounds(part, evalNs));
      rest.push(part);
    }
  }
  return { range, matchesStream: (tags) => tests.every((test) => test(tags)), rowFilter: build.and(...rest) };
}

/** The top-level conditions that must all hold, with nested ANDs flattened. */
function conjuncts(filter: LogsqlFilter): LogsqlFilter[] {
  return filter.kind === 'and' ? filter.parts.flatMap(conjuncts) : [filter];
}

/** The closed time range outside which no row can match. */
export function timeBounds(filter: LogsqlFilter, evalNs: bigint): TimeRange {
  switch (filter.kind) {
    case 'time':
      return { minNs: filter.min ?? MIN_NS, maxNs: filter.max ?? MAX_NS };
    case 'time-relative': {
      const endNs = evalNs - filter.offset;
      return { minNs: filter.duration === undefined ? MIN_NS : endNs - filter.duration, maxNs: endNs - 1n };
    }
    case 'and':
      return filter.parts.map((part) => timeBounds(part, evalNs)).reduce(intersect);
    case 'or':
      return filter.parts.map((part) => timeBounds(part, evalNs)).reduce(unite);
    case 'not':
    case 'all':
    case 'stream':
    case 'field':
      return { minNs: MIN_NS, maxNs: MAX_NS };
  }
}

/** True if any top-level condition of the filter is on time. */
export function hasTimeFilter(filter: LogsqlFilter): boolean {
  return filter.kind === 'and' ? filter.parts.some(hasTimeFilter) : isPureTime(filter);
}

function isPureTime(filter: LogsqlFilter): boolean {
  return filter.kind === 'time' || filter.kind === 'time-relative';
}

/** True if the filter only has conditions on streams and time, so that rows can be counted without reading them. */
export function isPureStreamFilter(filter: LogsqlFilter): boolean {
  return conjuncts(filter).every((part) => isPureTime(part) || isOfStreams(part));
}

/** The streams whose fields satisfy the stream conditions of the filter. */
export function selectStreams(streams: readonly Stream[], filter: LogsqlFilter): Stream[] {
  const { matchesStream } = pruneFilter(filter, 0n);
  return streams.filter((stream) => matchesStream(stream.tags));
}

function compileStreamTest(filter: LogsqlFilter): (tags: StreamTags) => boolean {
  switch (filter.kind) {
    case 'stream': {
      const matches = compileStreamFilter(filter);
      return (tags) => matches((label) => tags.get(label) ?? '');
    }
    case 'and': {
      const tests = filter.parts.map(compileStreamTest);
      return (tags) => tests.every((test) => test(tags));
    }
    case 'or': {
      const tests = filter.parts.map(compileStreamTest);
      return (tags) => tests.some((test) => test(tags));
    }
    case 'not': {
      const test = compileStreamTest(filter.filter);
      return (tags) => !test(tags);
    }
    case 'all':
    case 'time':
    case 'time-relative':
    case 'field':
      return () => true;
  }
}

function intersect(a: TimeRange, b: TimeRange): TimeRange {
  return { minNs: a.minNs > b.minNs ? a.minNs : b.minNs, maxNs: a.maxNs < b.maxNs ? a.maxNs : b.maxNs };
}

function unite(a: TimeRange, b: TimeRange): TimeRange {
  return { minNs: a.minNs < b.minNs ? a.minNs : b.minNs, maxNs: a.maxNs > b.maxNs ? a.maxNs : b.maxNs };
}
