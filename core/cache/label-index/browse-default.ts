import { Claims } from '../../base/claims.js';
import type { Host } from '../../kernel/plugin/host.js';

/** What a browse of label values gets that names no limit; undefined for all values, as without the index. */
export type BrowseDefault = Claims<number>;

/** The one of this process: the index claims it, and who reads the parameters of a request fills it in. */
export function browseDefault(host: Pick<Host, 'shared'>): BrowseDefault {
  return host.shared('browse default', () => new Claims<number>());
}
