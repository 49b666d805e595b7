import { openProxy } from '../conformance/target.js';
import { faultOfError, type ProxyAnswer } from '../watch/error-texts.js';
import type { Random } from '../watch/random.js';
import { ask, comparable } from './asking.js';
import { shifted, type Question } from './questions.js';
import type { DamagingRelay, SeenCall } from './relay.js';
import type { Way } from './way.js';

/** The undamaged answer to a question. */
export interface Truth {
  readonly question: Question;
  readonly answer: ProxyAnswer;
  readonly shiftedAnswer: ProxyAnswer;
  /** The calls for the first answer. */
  readonly calls: readonly SeenCall[];
}

/** A violated law. */
export interface Offence {
  readonly question: string;
  readonly call: number;
  readonly way: string;
  readonly what: string;
}

const relayStore = (relay: DamagingRelay): { url: string; close(): Promise<void> } => ({
  url: relay.url,
  close: () => Promise.resolve(),
});

/** Uses a new proxy with its caches on. */
async function withFreshProxy<Result>(
  relay: DamagingRelay,
  timeoutMs: number,
  use: (url: string) => Promise<Result>,
): Promise<Result> {
  const proxy = await openProxy(relayStore(relay), [], [['backend-timeout', `${timeoutMs}ms`]]);
  try {
    return await use(proxy.urls.main);
  } finally {
    await proxy.close();
  }
}

export async function truthOf(relay: DamagingRelay, question: Question): Promise<Truth> {
  relay.expect();
  return withFreshProxy(relay, 30_000, async (url) => {
    relay.expect();
    const answer = await ask(url, question);
    const calls = [...relay.calls];
    return { question, answer, calls, shiftedAnswer: await ask(url, shifted(question)) };
  });
}

/**
 * Damages one call of a question, then sends it again and over another range, and returns the problems; `taken` is false if nothing was
 * damaged.
 */
export async function tryDamage(
  relay: DamagingRelay,
  truth: Truth,
  call: number,
  way: Way,
  random: Random,
): Promise<{ readonly taken: boolean; readonly offences: readonly Offence[] }> {
  const { question } = truth;
  const offences: Offence[] = [];
  const offend = (what: string | undefined): void => {
    if (what !== undefined) offences.push({ question: question.name, call, way: way.name, what });
  };
  let taken = false;
  relay.expect();
  await withFreshProxy(relay, way.timeoutMs ?? 30_000, async (url) => {
    relay.expect((reply, number) => {
      if (number !== call) return undefined;
      const actions = way.actions(reply, random);
      taken ||= actions !== undefined;
      return actions;
    });
    const damaged = await ask(url, question);
    relay.expect();
    if (!taken) return;
    offend(judge(damaged, truth, way));
    // A wrongly cached answer shows first; other lasting effects of the damage show in the next answer.
    offend(differs('the next answer', await ask(url, question), truth.answer));
    offend(
      differs('the next answer over another range', await ask(url, shifted(question)), truth.shiftedAnswer),
    );
  });
  return { taken, offences };
}

function judge(answer: ProxyAnswer, truth: Truth, way: Way): string | undefined {
  const difference = differs('a wrong answer', answer, truth.answer);
  if (answer.status === 200 || difference === undefined) return difference;
  if (way.law === 'same') return `${answer.status} though nothing was lost: ${answer.text.slice(0, 200)}`;
  const fault = faultOfError(answer, way.told === undefined ? [] : [way.told]);
  return fault === undefined ? undefined : `${answer.status}: ${fault}`;
}

function differs(name: string, answer: ProxyAnswer, truth: ProxyAnswer): string | undefined {
  const [got, wanted] = [comparable(answer), comparable(truth)];
  if (got === wanted) return undefined;
  let at = 0;
  while (got[at] === wanted[at]) at += 1;
  const from = Math.max(0, at - 40);
  return `${name}: ${answer.status} ${excerpt(got, from)} for ${excerpt(wanted, from)}`;
}

function excerpt(text: string, from: number): string {
  return JSON.stringify(text.slice(from, from + 120));
}
