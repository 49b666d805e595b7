import type { Random } from '../watch/random.js';
import type { Action, BackendReply } from './wire.js';

/** One way to damage a backend response. */
export interface Way {
  readonly name: string;
  /** The required result: `same` if nothing is lost, else the undamaged answer or a clear error. */
  readonly law: 'same' | 'same-or-error';
  /** The backend timeout of the proxy, for responses that never end. */
  readonly timeoutMs?: number;
  /** Text of the damage that an error may repeat, as it does with VictoriaLogs' own messages. */
  readonly told?: string;
  /** The damage; undefined if it does not apply to such a response. */
  readonly actions: (reply: BackendReply, random: Random) => readonly Action[] | undefined;
}
