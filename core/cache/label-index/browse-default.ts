import type { Host } from '../../kernel/plugin/host.js';

/** What a browse of label values gets that names no limit; undefined for all values, as without the index. */
export interface BrowseDefault {
  limit: number | undefined;
}

/** The one of this process: the index sets it, and who reads the parameters of a request fills it in. */
export function browseDefault(host: Pick<Host, 'shared'>): BrowseDefault {
  return host.shared('browse default', () => ({ limit: undefined }));
}
