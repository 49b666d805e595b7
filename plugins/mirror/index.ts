/** Stage `mirror`: a share of requests is sent to a second Loki API after its answer went out, and the answers are compared. */
import { setImmediate } from 'node:timers/promises';
import { Agent } from 'undici';
import { ApiError } from '../../core/base/errors/api-error.js';
import { RefusedQuery } from '../../core/base/errors/refused-query.js';
import type { MirrorOptions } from '../../core/base/options.gen.js';
import { atPace, Pacer } from '../../core/base/pace/steps.js';
import { authorizationOf } from '../../core/base/url-credentials.js';
import { compareAnswers, parsedBody, type Answered } from '../../core/comparison/answers.js';
import { askLoki } from '../../core/comparison/ask-loki.js';
import type { Difference } from '../../core/comparison/difference.js';
import { knownDifference } from '../../core/comparison/known-differences.js';
import {
  defineStage,
  jsonAnswer,
  type AdmitAgain,
  type Answer,
  type Exchange,
  type Host,
  type Rest,
  type RouteHandler,
  type Stage,
  type Topic,
} from '../../core/plugin/index.js';
import { encodeSteps } from '../../core/wire/answer/encode.js';
import { lokiRequest, type LokiRequest } from '../../core/wire/api/loki-request.js';
import type { Tokens } from '../../core/workers/workers.js';

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
      : new Mirror(options.url, options, host),
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

type Outcome = 'equal' | 'different' | 'failed' | 'skipped' | 'not_sent';
/** Number of chosen requests by outcome since the start. */
type Outcomes = Readonly<Record<Outcome, number>>;

/** Findings of one worker. */
interface Findings {
  readonly differences: readonly MirroredDifference[];
  readonly outcomes: Outcomes;
}

class Mirror implements Stage<never, never> {
  readonly #options: MirrorOptions;
  readonly #host: Host<typeof metrics>;
  readonly #base: string;
  readonly #authorization: string | undefined;
  readonly #agent: Agent;
  readonly #stopped = new AbortController();
  /** Undefined for a rate of 0. */
  readonly #tokens: Tokens | undefined;
  readonly #differences: MirroredDifference[] = [];
  readonly #outcomes = { equal: 0, different: 0, failed: 0, skipped: 0, not_sent: 0 };
  readonly #topic: Topic<null, Findings>;
  #running = 0;
  /** Repeated requests that go through the chain to be mirrored. */
  #owed = 0;

  constructor(url: string, options: MirrorOptions, host: Host<typeof metrics>) {
    this.#options = options;
    this.#host = host;
    this.#topic = { name: `${host.pluginId} findings` };
    host.workers.answer(this.#topic, () =>
      Promise.resolve({ differences: this.#differences, outcomes: this.#outcomes }),
    );
    const parsed = new URL(url);
    this.#authorization = authorizationOf(parsed);
    this.#base = parsed.origin + parsed.pathname.replace(/\/+$/, '');
    const { timeout, maxConcurrent: connections, rate: perSecond } = options;
    const budget = { name: `${host.pluginId} rate of ${perSecond}`, size: Math.max(1, perSecond), perSecond };
    this.#tokens = perSecond > 0 ? host.workers.tokens(budget) : undefined;
    this.#agent = new Agent({ connections, headersTimeout: timeout, bodyTimeout: timeout });
  }

  async handle(exchange: Exchange, rest: Rest): Promise<Answer> {
    const request = this.#isChosen(exchange) ? lokiRequest(exchange.request) : undefined;
    if (request === undefined) return rest(exchange);
    try {
      const answer = await rest(exchange);
      this.#send(exchange, request, answer);
      return answer;
    } catch (error) {
      const refusal = refusalOf(error);
      if (refusal !== undefined) this.#send(exchange, request, refusal);
      throw error;
    }
  }

  admitAgain(): AdmitAgain {
    return () => {
      if (!this.#isDrawn()) return true;
      this.#owed += 1;
      return false;
    };
  }

  /** Closes connections; comparisons that run are given up. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#tokens?.release();
    await this.#agent.destroy();
  }

  /** `/admin/mirror`: the latest differences of all workers, the newest last, and the number of requests by outcome. */
  get routes(): ReadonlyMap<string, RouteHandler> {
    return new Map([
      [
        'admin_mirror',
        async () => {
          const { answers } = await this.#host.workers.gather(this.#topic, null);
          const found = answers.map(({ answer }) => answer);
          const all = found.flatMap(({ differences }) => differences).sort((a, b) => a.atMs - b.atMs);
          const outcomes = added(found.map((one) => one.outcomes));
          return jsonAnswer({ status: 'success', outcomes, data: all.slice(-this.#options.keep) });
        },
      ],
    ]);
  }

  #isChosen({ caller, isFinal }: Exchange): boolean {
    if (caller.isBackground === true || !isFinal) return false;
    if (this.#owed === 0) return this.#isDrawn();
    this.#owed -= 1;
    return true;
  }

  #isDrawn(): boolean {
    return Math.random() * 100 < this.#options.percent;
  }

  /** Starts the mirrored request once the answer has been handed on, unless a limit is reached. Nobody waits for it. */
  #send(exchange: Exchange, request: LokiRequest, answer: Answer | Answered): void {
    if (this.#running >= this.#options.maxConcurrent) {
      this.#notSent('concurrency');
      return;
    }
    this.#running += 1;
    void this.#mirror(exchange, request, answer)
      .catch((error: unknown) => {
        this.#count('failed');
        if (!this.#stopped.signal.aborted) this.#host.log.debug('a mirrored request failed', { error });
      })
      .finally(() => (this.#running -= 1));
  }

  async #mirror(exchange: Exchange, request: LokiRequest, answer: Answer | Answered): Promise<void> {
    if (this.#tokens === undefined || !(await this.#tokens.take(''))) {
      this.#notSent('rate');
      return;
    }
    await setImmediate();
    await this.#compare(exchange, request, answer);
  }

  #notSent(reason: 'rate' | 'concurrency'): void {
    this.#outcomes.not_sent += 1;
    this.#host.meters.mirror_not_sent_total.add(1, { reason });
  }

  async #compare(
    { caller, request: asked }: Exchange,
    request: LokiRequest,
    answer: Answer | Answered,
  ): Promise<void> {
    const { signal } = this.#stopped;
    const own = await this.#encoded(asked, answer, caller.categorizeLabels);
    if (own === undefined) {
      this.#count('skipped');
      return;
    }
    const startedMs = this.#host.clock.monotonicMs();
    const mirrored = await this.#ask(
      request,
      caller,
      AbortSignal.any([signal, AbortSignal.timeout(this.#options.timeout)]),
    );
    if (mirrored === undefined) {
      this.#count('skipped');
      return;
    }
    this.#host.meters.mirror_seconds.observe((this.#host.clock.monotonicMs() - startedMs) / 1000, {});
    const difference = compareAnswers(request, mirrored, own);
    this.#count(difference === undefined ? 'equal' : 'different');
    if (difference === undefined) return;
    const known = knownDifference({ request, difference, reference: mirrored, candidate: own });
    this.#host.meters.mirror_differences_total.add(1, {
      kind: difference.kind,
      known: String(known !== undefined),
    });
    this.#differences.push({
      ...difference,
      atMs: this.#host.clock.nowMs(),
      tenant: caller.orgId ?? '',
      request,
      ...(known === undefined ? {} : { known }),
    });
    if (this.#differences.length > this.#options.keep) this.#differences.shift();
  }

  #count(outcome: Exclude<Outcome, 'not_sent'>): void {
    this.#outcomes[outcome] += 1;
    this.#host.meters.mirror_requests_total.add(1, { outcome });
  }

  /** The answer as the client got it; undefined when it is too large to compare. */
  async #encoded(
    request: Exchange['request'],
    answer: Answer | Answered,
    categorizeLabels: boolean,
  ): Promise<Answered | undefined> {
    if (!('kind' in answer)) return answer;
    const steps = encodeSteps(answer, { categorizeLabels, request });
    const { status, body } = await atPace(steps, new Pacer(this.#stopped.signal));
    return body.byteLength > this.#options.maxAnswerBytes
      ? undefined
      : { status, body: parsedBody(body.toString('utf8')) };
  }

  #ask(
    request: LokiRequest,
    { headers, orgId }: Exchange['caller'],
    signal: AbortSignal,
  ): Promise<Answered | undefined> {
    const flags = headers.get('x-loki-response-encoding-flags');
    return askLoki(request, {
      url: this.#base,
      headers: {
        ...(orgId === undefined ? {} : { 'x-scope-orgid': orgId }),
        ...(flags === undefined ? {} : { 'x-loki-response-encoding-flags': flags }),
        ...(this.#authorization === undefined ? {} : { authorization: this.#authorization }),
      },
      dispatcher: this.#agent,
      signal,
      maxBytes: this.#options.maxAnswerBytes,
    });
  }
}

function added(all: readonly Outcomes[]): Outcomes {
  const sum = (outcome: Outcome): number => all.reduce((before, one) => before + one[outcome], 0);
  return {
    equal: sum('equal'),
    different: sum('different'),
    failed: sum('failed'),
    skipped: sum('skipped'),
    not_sent: sum('not_sent'),
  };
}

/** The answer that a client gets for a refused query; undefined for failures, which are not compared. */
function refusalOf(error: unknown): Answered | undefined {
  if (error instanceof RefusedQuery) return { status: 400, body: error.message };
  if (error instanceof ApiError && error.status < 499) return { status: error.status, body: error.message };
  return undefined;
}
