import type { Naming } from '../victoria/names/naming.js';
import type { RowReader } from '../victoria/names/row-reader.js';
import type { Upstream } from '../victoria/upstream/types.js';

/** The backend of one exchange, and the reader of its names. */
export interface Backend {
  readonly upstream: Upstream;
  readonly reader: RowReader;
  readonly naming: Naming;
}
