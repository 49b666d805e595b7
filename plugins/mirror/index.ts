/** Stage `mirror`: a share of requests is sent to a second Loki API after its answer went out, and the answers are compared. */
import { setImmediate } from 'node:timers/promises';
import { Agent } from 'undici';
import { ApiError } from '../../core/base/errors/api-error.js';
import { RefusedQuery } from '../../core/base/errors/refused-query.js';
import type { MirrorOptions } from '../../core/base/options.gen.js';
import { summed } from '../../core/base/order.js';
import { atPace, Pacer } from '../../core/base/pace/steps.js';
import { authorizationOf } from '../../core/base/url-credentials.js';
import { compareAnswers, parsedBody, type Answered } from '../../core/comparison/answers.js';
import { askLoki } from '../../core/comparison/ask-loki.js';
import type { Difference } from '../../core/comparison/difference.js';
import { knownDifference } from '../../core/comparison/known-differences.js';
import {
  defineStage,
  jsonAnswer,
  type Answer,
  type Exchange,
  type Host,
  type Stage,
  type Topic,
} from '../../core/plugin/index.js';
import { encodeSteps } from '../../core/wire/answer/encode.js';
import { lokiRequest, type LokiRequest } from '../../core/wire/api/loki-request.js';
import { timeoutSignal, timerMs } from '../../core/base/time/waits.js';

const metrics = {
  mirror_requests_total: {
    type: 'counter',
    help: 'Requests mirrored to a second Loki API, by outcome: equal, different, failed (no answer of the mirror), skipped (too large).',
    labels: ['outcome'],
  },
  mirror_differences_total: {
    type: 'counter',
    help: 'Mirrored requests with different answers, by the kind of difference, and whether docs/differences.md explains it.',
    labels: ['kind', 'known'],
  },
  mirror_not_sent_total: {
    type: 'counter',
    help: 'Requests chosen for mirroring and not sent, because of -mirror-rate or -mirror-max-concurrent.',
    labels: ['reason'],
  },
  mirror_seconds: {
    type: 'histogram',
    help: 'Time until the whole answer of the mirror was received.',
    buckets: [0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30],
  },
} as const;

export default defineStage<MirrorOptions, never, never, typeof metrics>({
  name: 'mirror',
  summary:
    'Sends a share of requests to a second Loki API as well, compares the answers, and counts differences.',
  needs: [],
  gives: [],
  rest: 'once',
  optional: true,
  servesAdmin: true,
  metrics,
  create: (options, host) =>
    options.url === undefined || options.url === '' || options.percent === 0
      ? passThrough
      : mirror(options.url, options, host),
});

const passThrough: Stage<never, never> = {
  handle: (exchange, rest) => rest(exchange),
  admitAgain: () => () => true,
};

/** A difference, as the admin API shows it. */
interface MirroredDifference extends Difference {
  readonly atMs: number;
  readonly tenant: string;
  readonly request: LokiRequest;
  /** Words of the row in docs/differences.md that explains it. */
  readonly known?: string;
}

/** Number of chosen requests by outcome since the start. */
const none = { equal: 0, different: 0, failed: 0, skipped: 0, not_sent: 0 };
type Outcomes = Readonly<typeof none>;

/** Findings of one worker. */
interface Findings {
  readonly differences: readonly MirroredDifference[];
  readonly outcomes: Outcomes;
}

function mirror(url: string, options: MirrorOptions, host: Host<typeof metrics>): Stage<never, never> {
  const { clock, log, meters, pluginId, workers } = host;
  const { timeout, maxConcurrent, maxAnswerBytes, keep, percent, rate: perSecond } = options;
  const parsed = new URL(url);
  const authorization = authorizationOf(parsed);
  const base = parsed.origin + parsed.pathname.replace(/\/+$/, '');
  const agent = new Agent({
    connections: maxConcurrent,
    headersTimeout: timerMs(timeout),
    bodyTimeout: timerMs(timeout),
  });
  const stopped = new AbortController();
  const budget = { name: `${pluginId} rate of ${perSecond}`, size: Math.max(1, perSecond), perSecond };
  /** Undefined for a rate of 0. */
  const tokens = perSecond > 0 ? workers.tokens(budget) : undefined;
  const differences: MirroredDifference[] = [];
  const outcomes = { ...none };
  const topic: Topic<null, Findings> = { name: `${pluginId} findings` };
  let running = 0;
  /** Repeated requests that go through the chain to be mirrored. */
  let owed = 0;
  workers.answer(topic, () => ({ differences, outcomes }));

  /** Answers `/admin/mirror`: the latest differences of all workers, the newest last, and the number of requests by outcome. */
  async function report(): Promise<Answer> {
    const { answers } = await workers.gather(topic, null);
    const found = answers.map(({ answer }) => answer);
    const all = found.flatMap((one) => one.differences).sort((a, b) => a.atMs - b.atMs);
    const sums = summed(
      none,
      found.map((one) => one.outcomes),
    );
    return jsonAnswer({ status: 'success', outcomes: sums, data: all.slice(-keep) });
  }

  function isChosen({ caller, isFinal }: Exchange): boolean {
    if (caller.isBackground === true || !isFinal) return false;
    if (owed === 0) return isDrawn();
    owed -= 1;
    return true;
  }

  function isDrawn(): boolean {
    return Math.random() * 100 < percent;
  }

  /** Starts the mirrored request once the answer has been handed on, unless a limit is reached. Nobody waits for it. */
  function send(exchange: Exchange, request: LokiRequest, answer: Answer | Answered): void {
    if (running >= maxConcurrent) {
      notSent('concurrency');
      return;
    }
    running += 1;
    void mirrored(exchange, request, answer)
      .catch((error: unknown) => {
        count('failed');
        if (!stopped.signal.aborted) log.debug('a mirrored request failed', { error });
      })
      .finally(() => (running -= 1));
  }

  async function mirrored(
    exchange: Exchange,
    request: LokiRequest,
    answer: Answer | Answered,
  ): Promise<void> {
    if (tokens === undefined || !(await tokens.take(''))) {
      notSent('rate');
      return;
    }
    await setImmediate();
    await compare(exchange, request, answer);
  }

  function notSent(reason: 'rate' | 'concurrency'): void {
    outcomes.not_sent += 1;
    meters.mirror_not_sent_total.add(1, { reason });
  }

  async function compare(
    { caller, request: asked }: Exchange,
    request: LokiRequest,
    answer: Answer | Answered,
  ): Promise<void> {
    const { signal } = stopped;
    const own = await encoded(asked, answer, caller.categorizeLabels);
    if (own === undefined) {
      count('skipped');
      return;
    }
    const startedMs = clock.monotonicMs();
    const mirrored = await ask(request, caller, AbortSignal.any([signal, timeoutSignal(timeout)]));
    if (mirrored === undefined) {
      count('skipped');
      return;
    }
    meters.mirror_seconds.observe((clock.monotonicMs() - startedMs) / 1000, {});
    const difference = compareAnswers(request, mirrored, own);
    count(difference === undefined ? 'equal' : 'different');
    if (difference === undefined) return;
    const known = knownDifference({ request, difference, reference: mirrored, candidate: own });
    meters.mirror_differences_total.add(1, {
      kind: difference.kind,
      known: String(known !== undefined),
    });
    differences.push({
      ...difference,
      atMs: clock.nowMs(),
      tenant: caller.orgId ?? '',
      request,
      ...(known === undefined ? {} : { known }),
    });
    if (differences.length > keep) differences.shift();
  }

  function count(outcome: Exclude<keyof Outcomes, 'not_sent'>): void {
    outcomes[outcome] += 1;
    meters.mirror_requests_total.add(1, { outcome });
  }

  /** The answer as the client got it; undefined when it is too large to compare. */
  async function encoded(
    request: Exchange['request'],
    answer: Answer | Answered,
    categorizeLabels: boolean,
  ): Promise<Answered | undefined> {
    if (!('kind' in answer)) return answer;
    const steps = encodeSteps(answer, { categorizeLabels, request });
    const { status, body } = await atPace(steps, new Pacer(stopped.signal));
    return body.byteLength > maxAnswerBytes ? undefined : { status, body: parsedBody(body.toString('utf8')) };
  }

  function ask(
    request: LokiRequest,
    { headers, orgId }: Exchange['caller'],
    signal: AbortSignal,
  ): Promise<Answered | undefined> {
    const flags = headers.get('x-loki-response-encoding-flags');
    return askLoki(request, {
      url: base,
      headers: {
        ...(orgId === undefined ? {} : { 'x-scope-orgid': orgId }),
        ...(flags === undefined ? {} : { 'x-loki-response-encoding-flags': flags }),
        ...(authorization === undefined ? {} : { authorization }),
      },
      dispatcher: agent,
      signal,
      maxBytes: maxAnswerBytes,
    });
  }

  return {
    routes: new Map([['admin_mirror', report]]),
    async handle(exchange, rest) {
      const request = isChosen(exchange) ? lokiRequest(exchange.request) : undefined;
      if (request === undefined) return rest(exchange);
      try {
        const answer = await rest(exchange);
        send(exchange, request, answer);
        return answer;
      } catch (error) {
        const refusal = refusalOf(error);
        if (refusal !== undefined) send(exchange, request, refusal);
        throw error;
      }
    },
    admitAgain: () => () => {
      if (!isDrawn()) return true;
      owed += 1;
      return false;
    },
    /** Closes connections; comparisons that run are given up. */
    async stop() {
      stopped.abort();
      tokens?.release();
      await agent.destroy();
    },
  };
}

/** The answer that a client gets for a refused query; undefined for failures, which are not compared. */
function refusalOf(error: unknown): Answered | undefined {
  if (error instanceof RefusedQuery) return { status: 400, body: error.message };
  if (error instanceof ApiError && error.status < 499) return { status: error.status, body: error.message };
  return undefined;
}
