import type { RunningDeletion } from '../../core/cache/keys.js';

/** The state of a deletion: possibly running, not accepted by the backend, or ended. */
export interface DeletionNotice {
  readonly phase: 'running' | 'refused' | 'ended';
  readonly deletion: RunningDeletion;
}

/** All deletions known to a process, in the form read by other replicas and the next process. */
export interface KnownDeletions {
  readonly running: readonly RunningDeletion[];
  /** Times of the ends by id, in Unix milliseconds. */
  readonly ended: readonly (readonly [id: string, atMs: number])[];
}

/** @throws Error if the text was not written by such a process */
export function readNotice(text: string): DeletionNotice {
  const { phase, deletion } = objectOf(JSON.parse(text));
  if (phase !== 'running' && phase !== 'refused' && phase !== 'ended') throw new Error('an unknown phase');
  return { phase, deletion: deletionOf(deletion) };
}

export function printDeletions(known: KnownDeletions): string {
  return JSON.stringify({ version: 1, ...known });
}

/** @throws Error if the text was not written by such a process */
export function readDeletions(text: string): KnownDeletions {
  const { version, running, ended } = objectOf(JSON.parse(text));
  if (version !== 1 || !Array.isArray(running) || !Array.isArray(ended)) throw new Error('another version');
  return { running: running.map(deletionOf), ended: ended.map(endOf) };
}

function deletionOf(value: unknown): RunningDeletion {
  const { id, begunMs, orgId, account, taskId } = objectOf(value);
  if (typeof id !== 'string' || id === '' || !Number.isFinite(begunMs))
    throw new Error('a deletion without an id or a time');
  return {
    id,
    begunMs: Number(begunMs),
    orgId: optionalText(orgId),
    account: account === undefined ? undefined : accountOf(account),
    taskId: optionalText(taskId),
  };
}

function accountOf(value: unknown): RunningDeletion['account'] {
  const { accountId, projectId } = objectOf(value);
  if (typeof accountId !== 'number' || typeof projectId !== 'number')
    throw new Error('an account without numbers');
  return { accountId, projectId };
}

function endOf(value: unknown): readonly [string, number] {
  const [id, atMs] = Array.isArray(value) ? (value as readonly unknown[]) : [];
  if (typeof id !== 'string' || typeof atMs !== 'number') throw new Error('an end without an id or a time');
  return [id, atMs];
}

function optionalText(value: unknown): string | undefined {
  if (value !== undefined && typeof value !== 'string') throw new Error('a value that is not a text');
  return value;
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) throw new Error('not an object');
  return value as Readonly<Record<string, unknown>>;
}
