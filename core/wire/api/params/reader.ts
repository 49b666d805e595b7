import { apiError } from '../../../base/errors/table.js';
import {
  maxInt64,
  minInt64,
  nanosPerSecond,
  parseGoFloat,
  parseGoInt,
  parseMoment,
  parsePrometheusDuration,
  parseTimestamp,
  TimestampError,
} from '../../../base/time/index.js';
import { quoteGo } from '../../../base/label-set.js';
import type { TimeRange } from '../../../base/time/range.js';
import type { LimitsSettings } from '../../limits/limits.js';
import type { Direction, DottedNames } from '../request.js';

/** Merged parameters of URL and form: each name with all its values, form values first. */
export type Params = ReadonlyMap<string, readonly string[]>;

/** The first value of a parameter; as in Loki, empty and missing are the same. */
export function first(params: Params, name: string): string {
  return params.get(name)?.[0] ?? '';
}

/**
 * Reads start, end and since (docs/protocol/requests.md#common-parameters). `defaultSinceNs` applies when the client sends neither start
 * nor since.
 * @param parse reads a bound
 */
export function readTimeRange(
  params: Params,
  context: Now,
  defaultSinceNs: bigint,
  parse = parseTimestamp,
): TimeRange {
  const sinceText = first(params, 'since');
  const sinceNs = sinceText === '' ? defaultSinceNs : readSince(sinceText);
  const endText = first(params, 'end');
  const endNs = endText === '' ? context.nowNs : readOr('end', () => parse(endText));
  const startText = first(params, 'start');
  if (startText !== '') return { startNs: readOr('start', () => parse(startText)), endNs };
  const { nowNs } = context;
  // since counts back from now when end lies in the future.
  return { startNs: (endNs > nowNs ? nowNs : endNs) - sinceNs, endNs };
}

/** The current time, to be read only if the meaning of a request depends on it. */
interface Now {
  readonly nowNs: bigint;
}

function readSince(text: string): bigint {
  const since = parsePrometheusDuration(text);
  if (since.kind === 'ok') return since.value;
  throw apiError('badTimeParameter', { name: 'since', cause: since.error });
}

function readOr(name: string, read: () => bigint): bigint {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof TimestampError)) throw error;
    throw apiError('badTimeParameter', { name, cause: error.message });
  }
}

/** Reads a timestamp whose error text does not name the parameter (`time` of an instant query). */
export function readTime(params: Params, name: string, context: Now): bigint {
  const text = first(params, name);
  if (text === '') return context.nowNs;
  try {
    return parseMoment(text);
  } catch (error) {
    if (!(error instanceof TimestampError)) throw error;
    throw apiError('badRequest', { text: error.message });
  }
}

/** Reads an integer; undefined if the parameter is missing or empty. */
export function readInt(params: Params, name: string): bigint | undefined {
  const text = first(params, name);
  if (text === '') return undefined;
  const parsed = parseGoInt(text);
  if (parsed.kind === 'bad') throw apiError('badNumber', { value: quoteGo(text), problem: parsed.problem });
  return parsed.value;
}

const maxUint32 = 4_294_967_295n;

/** Reads a limit: positive and within 32 bits. */
export function readLimit(params: Params, name: string, defaultLimit: number): number {
  const value = readInt(params, name);
  if (value === undefined) return defaultLimit;
  if (value <= 0n) throw apiError('limitNotPositive', {});
  if (value > maxUint32) throw apiError('limitOutOfRange', { value: String(value) });
  return Number(value);
}

export function readDirection(params: Params): Direction {
  const text = first(params, 'direction');
  switch (text.toLowerCase()) {
    case '':
    case 'backward':
      return 'backward';
    case 'forward':
      return 'forward';
    default:
      throw apiError('badDirection', { value: text });
  }
}

/** Reads float seconds or a Prometheus duration, in nanoseconds; undefined if the parameter is missing or empty. */
function readSecondsOrDuration(params: Params, name: string): bigint | undefined {
  const text = first(params, name);
  if (text === '') return undefined;
  const seconds = parseGoFloat(text);
  if (seconds.kind === 'ok') return secondsToNs(seconds.value, text);
  const duration = parsePrometheusDuration(text);
  if (duration.kind === 'ok') return duration.value;
  throw apiError('badDuration', { value: quoteGo(text) });
}

/** Reads the minimum distance between entries; 0 if there is none. */
export function readInterval(params: Params): bigint {
  const intervalNs = readSecondsOrDuration(params, 'interval') ?? 0n;
  if (intervalNs < 0n) throw apiError('negativeInterval', {});
  return intervalNs;
}

function secondsToNs(seconds: number, text: string): bigint {
  const ns = seconds * 1e9;
  // Go converts NaN to this integer.
  if (Number.isNaN(ns)) return minInt64;
  if (Math.abs(ns) >= Number(maxInt64)) throw apiError('durationOverflow', { value: quoteGo(text) });
  return BigInt(Math.trunc(ns));
}

/** The length of a range, capped at 64 bits of nanoseconds as in Loki. */
export function lengthOf({ startNs, endNs }: TimeRange): bigint {
  const lengthNs = endNs - startNs;
  return lengthNs > maxInt64 ? maxInt64 : lengthNs;
}

/** The default step: a 250th of the range in whole seconds, at least one second. */
export function defaultStepNs(range: TimeRange): bigint {
  const seconds = lengthOf(range) / nanosPerSecond / 250n;
  return (seconds < 1n ? 1n : seconds) * nanosPerSecond;
}

/** The configuration that parsing of parameters depends on. */
export interface ParamContext extends Now {
  readonly dottedNames: DottedNames;
  /** True if `limit`, `offset` and `search`/`q` work on label listings (`-label-browse-extensions`). */
  readonly hasBrowseExtensions: boolean;
  /** Default limit of a log query (`-max-lines`). */
  readonly defaultLimit: number;
  /** Default range of a listing without start, end and since (`-metadata-default-lookback`); 0 reaches back to the epoch. */
  readonly metadataLookbackNs: bigint;
  /** Default limit of a browse of label values (`-label-values-hot-limit`); undefined without the index, which caps limits at 10000. */
  readonly hotLimit?: number | undefined;
}

export const hourNs = 3_600n * nanosPerSecond;
/**
 * Maximum number of points of a query; more are rejected before the backend is called (docs/protocol/errors-and-limits.md#refused-queries).
 */
const maxPoints = 11_000n;

/** Reads `step`, which must be positive and not too small for the range. */
export function readStep(params: Params, range: TimeRange): bigint {
  const stepNs = readSecondsOrDuration(params, 'step') ?? defaultStepNs(range);
  if (stepNs <= 0n) throw apiError('stepNotPositive', {});
  if (lengthOf(range) / stepNs > maxPoints) throw apiError('tooManyPoints', {});
  return stepNs;
}

/** Parts of the context that come from a plugin's host. */
interface Configured {
  readonly naming: { readonly dottedNames: DottedNames; readonly browseExtensions: boolean };
  readonly limits: { readonly process: Pick<LimitsSettings, 'maxLines' | 'metadataDefaultLookback'> };
}

/** Builds the context of a call from its plugin's host. The current time is fixed once it has been read. */
export function paramContext(
  { naming, limits }: Configured,
  call: { nowNs(): bigint },
  hotLimit?: number,
): ParamContext {
  const { maxLines, metadataDefaultLookback } = limits.process;
  let nowNs: bigint | undefined;
  return {
    get nowNs() {
      return (nowNs ??= call.nowNs());
    },
    hotLimit,
    dottedNames: naming.dottedNames,
    hasBrowseExtensions: naming.browseExtensions,
    defaultLimit: maxLines,
    metadataLookbackNs: BigInt(Math.round(metadataDefaultLookback)) * 1_000_000n,
  };
}
