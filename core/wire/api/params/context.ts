import { apiError } from '../../../base/errors/table.js';
import { nanosPerSecond } from '../../../base/time/index.js';
import type { DottedNames } from '../query.js';
import type { TimeRange } from '../../../base/time/range.js';
import { defaultStepNs, lengthOf, readSecondsOrDuration, type Now, type Params } from './reader.js';

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
  readonly limits: {
    readonly process: { readonly maxLines: number; readonly metadataDefaultLookbackMs: number };
  };
}

/** Builds the context of a call from its plugin's host. The current time is fixed once it has been read. */
export function paramContext(
  { naming, limits }: Configured,
  call: { nowNs(): bigint },
  hotLimit?: number,
): ParamContext {
  const { maxLines, metadataDefaultLookbackMs } = limits.process;
  let nowNs: bigint | undefined;
  return {
    get nowNs() {
      return (nowNs ??= call.nowNs());
    },
    hotLimit,
    dottedNames: naming.dottedNames,
    hasBrowseExtensions: naming.browseExtensions,
    defaultLimit: maxLines,
    metadataLookbackNs: BigInt(Math.round(metadataDefaultLookbackMs)) * 1_000_000n,
  };
}
