import type { Random } from '../watch/random.js';
import type { Action, BackendReply } from './wire.js';

/** One way in which an answer of a backend goes wrong. */
export interface Way {
  readonly name: string;
  /** What the proxy must make of it: `same` where nothing is lost, else the undamaged answer or a clear error. */
  readonly law: 'same' | 'same-or-error';
  /** The bound of time that the proxy gives the backend, for those that never end. */
  readonly timeoutMs?: number;
  /** Text of the damage that an error may repeat, as it does with what VictoriaLogs says. */
  readonly told?: string;
  /** The damage; undefined where such an answer cannot have it. */
  readonly actions: (reply: BackendReply, random: Random) => readonly Action[] | undefined;
}
