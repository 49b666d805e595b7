import type { SeriesRequest } from '../wire/api/request.js';
import type { OperationDescriptor } from './descriptor.js';
import { openRange, textSet, timeRange } from './rules/keys.js';
import { rangedLimits } from './rules/limits.js';
import { bySelectors } from './rules/selection.js';
import { merged, mergeAll } from './rules/tenants.js';
import { isRecentListing, seriesTtl } from './rules/ttl.js';

export const series: OperationDescriptor<SeriesRequest> = {
  selection: bySelectors,
  cache: {
    key: { selectors: textSet, range: timeRange, isOpenRange: openRange },
    ttlMs: seriesTtl,
    isRecent: isRecentListing,
    isChunked: false,
  },
  limits: rangedLimits,
  tenants: merged(mergeAll),
  empty: () => ({ kind: 'series', series: [], warnings: [] }),
};
