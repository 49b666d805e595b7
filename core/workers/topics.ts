import type { Topic } from './channel.js';

/** What workers ask the first process, and it them, for the sake of the channel itself. */

/** A worker is ready for questions. The answer: topics of which it missed something while it was not there. */
export const joinTopic: Topic<null, readonly string[]> = { name: 'join' };

/** Asks all other workers. */
export const othersTopic: Topic<OthersAsked, OthersAnswered> = { name: 'others' };

export interface OthersAsked {
  readonly topic: string;
  readonly asked: unknown;
  readonly boundMs: number;
  /** Whether a worker that does not answer is told when it joins again that it missed something. */
  readonly isOwed: boolean;
}
export interface OthersAnswered {
  readonly answers: readonly { readonly worker: number; readonly answer: unknown }[];
  readonly missing: readonly Missing[];
}

/** A worker that gave no answer. */
export interface Missing {
  readonly worker: number;
  readonly reason: string;
}

/** Why a worker gives no answer that has ended, or does not serve yet. */
export const notRunning = 'it is not running';

/** One part of a budget, for a worker that needs it: see core/workers/lending.ts. */
export const lendTopic: Topic<LendAsked, LendAnswered> = { name: 'lend' };

export interface BudgetTerms {
  readonly name: string;
  /** How much there is of each account. */
  readonly size: number;
  /** What comes back of itself in a second, of what has been spent; 0 where it comes back as it is given back. */
  readonly perSecond: number;
}
/** What has become of what a worker had been lent. */
export interface Settled {
  readonly key: string;
  readonly spent: number;
  readonly back: number;
}
export interface LendAsked extends Settled {
  readonly terms: BudgetTerms;
  readonly wants: number;
}
export interface LendAnswered {
  readonly lent: number;
  /** When nothing could be lent: asking again is of no use before. */
  readonly waitMs: number;
}

/** Settles without asking for more. */
export const settleTopic: Topic<{ readonly terms: BudgetTerms; readonly settled: readonly Settled[] }, null> =
  { name: 'settle' };

/** The first process asks a worker to settle, with a part of what it does not use; it has done so when it answers. */
export const recallTopic: Topic<AccountOf & { readonly wants: number }, null> = { name: 'recall' };

/** The first process tells a worker to hold no more than its share for a while: others wait for what it gives back. */
export const yieldTopic: Topic<AccountOf & { readonly most: number }, null> = { name: 'yield' };

/** The first process lends what a worker had asked for in vain. */
export const lateTopic: Topic<AccountOf & { readonly lent: number }, null> = { name: 'late' };

interface AccountOf {
  readonly budget: string;
  readonly key: string;
}
