import type { Binding } from '../../victoria/upstream/bound.js';
import type { Upstream } from '../../victoria/upstream/types.js';
import type { Operation } from '../../wire/api/request.js';
import type { Answer } from '../../wire/answer/types.js';

/**
 * Answers a request over the backend and a cold one, as one upstream. `hot` is the backend, bound as `binding` says. `run` answers over an
 * upstream; it runs again, without the cold backend, where that has failed and answers may be partial.
 */
export type ColdJoin = (
  hot: Upstream,
  binding: Binding,
  op: Operation,
  run: (upstream: Upstream) => Promise<Answer>,
) => Promise<Answer>;
