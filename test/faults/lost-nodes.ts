/** A cluster that lost a storage node: its responses, and a proxy's responses to every question. */
import { openProxy } from '../conformance/target.js';
import { ask, comparable } from './asking.js';
import { questions, type Question } from './questions.js';
import type { Damage, DamagingRelay } from './relay.js';
import { whole, type BackendReply } from './wire.js';

/** The response to a question. */
export interface Told {
  readonly question: Question;
  readonly status: number;
  readonly text: string;
}

/** Sends every question to a new proxy, one after another; `again` repeats all of them. */
export async function askAll(
  url: string,
  flags: readonly (readonly [string, string])[],
  use: (told: readonly Told[], again: () => Promise<readonly Told[]>) => Promise<void> | void,
): Promise<void> {
  const proxy = await openProxy({ url, close: () => Promise.resolve() }, [], flags);
  const all = async (): Promise<readonly Told[]> => {
    const told: Told[] = [];
    for (const question of questions(1)) {
      const answer = await ask(proxy.urls.main, question);
      told.push({ question, status: answer.status, text: comparable(answer) });
    }
    return told;
  };
  try {
    await use(await all(), all);
  } finally {
    await proxy.close();
  }
}

/** Successful responses that differ from the correct ones. */
export function shortOnes(told: readonly Told[], truth: readonly Told[]): readonly string[] {
  return told.flatMap(({ question, status, text }, place) =>
    status === 200 && text !== truth[place]?.text ? [question.name] : [],
  );
}

/** Errors without a clear message. */
export function unclearOnes(told: readonly Told[], clear: RegExp): readonly string[] {
  return told.flatMap(({ question, status, text }) =>
    status !== 200 && !clear.test(text) ? [`${question.name}: ${text.slice(0, 300)}`] : [],
  );
}

const isQuery = ({ path }: BackendReply): boolean => path.startsWith('/select/logsql/');

/**
 * Simulates VictoriaLogs 1.52 with -search.allowPartialResponse: it silently answers without the node, unless the call requests complete
 * responses.
 */
export function lostNode(relay: DamagingRelay): Damage {
  return (reply, call) => {
    if (!isQuery(reply)) return undefined;
    const isWhole = new URLSearchParams(relay.calls[call]?.form).get('allow_partial_response') === '0';
    if (!isWhole) return [whole(reply, { body: Buffer.from(halved(reply.body.toString('utf8'))) })];
    const node = 'http://127.0.0.1:9/internal/select/query';
    const body = `cannot execute query [*]: cannot connect to storage node at "${node}": connect: connection refused`;
    return [whole(reply, { status: 502, contentType: 'text/plain', body: Buffer.from(body) })];
  };
}

/** Simulates possible later versions: the response is marked as partial. */
export function markedPartial(reply: BackendReply): ReturnType<Damage> {
  return isQuery(reply) ? [whole(reply, { headers: { 'VL-Partial-Response': 'true' } })] : undefined;
}

/** A response without the rows, or listing values, of the lost node; statistics stay. */
export function halved(text: string): string {
  if (!text.startsWith('{"')) return text;
  if (text.startsWith('{"status"')) return text;
  if (text.startsWith('{"values"')) {
    const { values } = JSON.parse(text) as { readonly values: readonly unknown[] };
    return JSON.stringify({ values: values.slice(0, values.length >> 1) });
  }
  const lines = text.split('\n').filter((line) => line !== '');
  return lines
    .slice(0, lines.length >> 1)
    .map((line) => `${line}\n`)
    .join('');
}
