import { Memo } from '../../../base/memory/byte-lru.js';
import type { FieldFilter, LogsqlFilter, RelativeTimeFilter, StreamFilter, TimeFilter } from '../ast.js';
import type { RowView } from '../row.js';
import { maxTime, minTime, parseDate } from '../literals.js';
import { compareValues } from './compare.js';
import { readStreamText } from '../stream-text.js';
import { compileStreamFilter } from './stream-filter.js';
import { compileTest } from './value-test.js';

/** Inputs of a filter besides its rows. */
export interface FilterContext {
  /** The time of evaluation, Unix nanoseconds; by default the clock. */
  readonly nowNs?: bigint | undefined;
}
export type RowTest = (row: RowView) => boolean;

const streamsRemembered = 4096;

/**
 * Compiles a filter into a test on rows. Patterns, lists and word boundaries are prepared once.
 */
export function compileFilter(filter: LogsqlFilter, context: FilterContext = {}): RowTest {
  switch (filter.kind) {
    case 'all':
      return () => true;
    case 'and': {
      const [first = always, second = always, ...more] = filter.parts.map((part) =>
        compileFilter(part, context),
      );
      if (more.length === 0) return (row) => first(row) && second(row);
      return (row) => first(row) && second(row) && more.every((test) => test(row));
    }
    case 'or': {
      const tests = filter.parts.map((part) => compileFilter(part, context));
      return (row) => tests.some((test) => test(row));
    }
    case 'not': {
      const test = compileFilter(filter.filter, context);
      return (row) => !test(row);
    }
    case 'stream':
      return compileRowStream(filter);
    case 'time':
    case 'time-relative':
      return compileTime(filter, context);
    case 'field':
      return compileField(filter);
  }
}

function always(): boolean {
  return true;
}

/** The closed range of a time filter, Unix nanoseconds. */
function timeBoundsOf(
  filter: TimeFilter | RelativeTimeFilter,
  nowNs: bigint,
): { readonly min: bigint; readonly max: bigint } {
  if (filter.kind === 'time') return { min: filter.min ?? minTime, max: filter.max ?? maxTime };
  const end = nowNs - filter.offset;
  return { min: filter.duration === undefined ? minTime : end - filter.duration, max: end - 1n };
}

function compileTime(filter: TimeFilter | RelativeTimeFilter, context: FilterContext): RowTest {
  const { min, max } = timeBoundsOf(filter, context.nowNs ?? BigInt(Date.now()) * 1_000_000n);
  return (row) => {
    const time = timeOf(row);
    return time !== undefined && time >= min && time <= max;
  };
}

/** The time of a row, Unix nanoseconds; undefined for rows without `_time`, such as results of `stats`. */
export function timeOf(row: RowView): bigint | undefined {
  if (row.timeNs !== 0n) return row.timeNs;
  const text = row.get('_time');
  return text === '' ? undefined : parseDate(text)?.ns;
}

// There are few streams and many rows, so the result per stream is cached.
function compileRowStream(filter: StreamFilter): RowTest {
  const matches = compileStreamFilter(filter);
  const answers = new Memo<string, boolean>(streamsRemembered, (text) => {
    const labels = new Map(readStreamText(text).labels);
    return matches((label) => labels.get(label) ?? '');
  });
  return (row) => answers.get(row.get('_stream'));
}

function compileField(filter: FieldFilter): RowTest {
  const { field, test } = filter;
  const onField = compileOnField(test);
  if (field.kind === 'name') {
    const { name } = field;
    return (row) => onField(row, name);
  }
  const { prefix } = field;
  return (row) => {
    for (const name of row.fieldNames()) if (name.startsWith(prefix) && onField(row, name)) return true;
    return false;
  };
}

function compileOnField(test: FieldFilter['test']): (row: RowView, name: string) => boolean {
  switch (test.kind) {
    case 'lt-field': {
      const { other } = test;
      return (row, name) => compareValues(row.get(name), row.get(other)) < 0;
    }
    case 'own':
      return test.compile();
    default: {
      const matches = compileTest(test);
      return (row, name) => matches(row.get(name));
    }
  }
}
