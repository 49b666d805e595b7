import { inOrder, leftOut, scalar, type KeyParts } from '../../base/keys/parts.js';
import type { TimeRange } from '../../base/time/range.js';
import type { Browse } from '../../wire/api/request.js';

export const timeRange: KeyParts<TimeRange> = { startNs: scalar, endNs: scalar };
export const browsed: KeyParts<Browse> = { limit: scalar, offset: scalar, search: scalar };
export const openRange = leftOut(
  'the range is part of the cache key; it was shortened to the limit of the tenant',
);

/** A key for the union of several selectors, independent of their order. */
export function textSet(selectors: readonly { readonly text: string }[]): string {
  return inOrder([...new Set(selectors.map((selector) => selector.text))].sort());
}
