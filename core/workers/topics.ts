import type { Topic } from './channel.js';

/** Messages between the workers and the first process about the channel itself. */

/** A worker is ready to answer. The answer lists topics whose messages it missed while it was not connected. */
export const joinTopic: Topic<null, readonly string[]> = { name: 'join' };

/** Sends a request to all other workers. */
export const othersTopic: Topic<OthersRequest, OthersReply> = { name: 'others' };

export interface OthersRequest {
  readonly topic: string;
  readonly asked: unknown;
  readonly boundMs: number;
  /** True if a worker that does not answer is told, when it joins again, that it missed something. */
  readonly isOwed: boolean;
}
export interface OthersReply {
  readonly answers: readonly { readonly worker: number; readonly answer: unknown }[];
  readonly missing: readonly Missing[];
}

/** A worker that did not answer. */
export interface Missing {
  readonly worker: number;
  readonly reason: string;
}

/** The reason given for a worker that has ended or does not serve yet. */
export const notRunning = 'it is not running';

/** Leases part of a budget to a worker: see core/workers/lending.ts. */
export const lendTopic: Topic<LendRequest, LendReply> = { name: 'lend' };

export interface BudgetTerms {
  readonly name: string;
  /** Capacity of each account. */
  readonly size: number;
  /** Tokens refilled per second; 0 for permits, which are free again when they are given back. */
  readonly perSecond: number;
}
/** Settlement of part of a lease. */
export interface Settled {
  readonly key: string;
  readonly spent: number;
  readonly back: number;
}
export interface LendRequest extends Settled {
  readonly terms: BudgetTerms;
  readonly wants: number;
}
export interface LendReply {
  readonly lent: number;
  /** If nothing was leased: milliseconds before which another request is pointless. */
  readonly waitMs: number;
}

/** Settles without a request for more. */
export const settleTopic: Topic<{ readonly terms: BudgetTerms; readonly settled: readonly Settled[] }, null> =
  { name: 'settle' };

/** The first process recalls part of the units that a worker does not use. The worker settles before it answers. */
export const recallTopic: Topic<AccountOf & { readonly wants: number }, null> = { name: 'recall' };

/** The first process limits a worker to its share for a while, because others wait for permits. */
export const yieldTopic: Topic<AccountOf & { readonly most: number }, null> = { name: 'yield' };

/** The first process leases units that a worker had asked for in vain. */
export const lateTopic: Topic<AccountOf & { readonly lent: number }, null> = { name: 'late' };

interface AccountOf {
  readonly budget: string;
  readonly key: string;
}
