import { Agent } from 'undici';
import { compareAnswers, hasData, type Answered, type ComparedRequest } from '../../comparison/answers.js';
import { askLoki } from '../../comparison/ask-loki.js';
import type { Difference } from '../../comparison/difference.js';
import { asArray, asObject } from '../../comparison/json.js';
import { RateTurns } from '../queries/pace.js';
import { timeoutSignal, timerMs } from '../../base/time/waits.js';

/** A Loki API, and the headers that it needs. */
export interface Side {
  /** URL without `/loki/api/v1`. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

interface AskLimits {
  readonly timeoutMs: number;
  readonly maxAnswerBytes: number;
  /** Maximum number of requests to each side per second. */
  readonly rate: number;
}

/** A request with the name of its query. */
export interface NamedRequest extends ComparedRequest {
  readonly group: string;
  readonly name: string;
  /** LogQL with all variables filled in, or the path. */
  readonly text: string;
  readonly orgId?: string;
}

export type Outcome =
  | { readonly kind: 'equal'; readonly hasData: boolean }
  | {
      readonly kind: 'different';
      readonly difference: Difference;
      readonly answers: readonly [Answered, Answered];
    }
  /** The reference gives different answers to the same request. */
  | { readonly kind: 'unsteady'; readonly difference: Difference }
  /** A side gave no answer: unreachable, timeout, too large. */
  | { readonly kind: 'failed'; readonly reason: string };

export interface Compared {
  readonly request: NamedRequest;
  readonly outcome: Outcome;
  /** Milliseconds until the whole answer had arrived; undefined if there was none. */
  readonly referenceMs?: number;
  readonly candidateMs?: number;
}

/** Sends requests to two Loki APIs at a limited rate, one after another, and compares the answers. */
export class Asker {
  readonly #agent: Agent;
  readonly #sides: readonly [Side, Side];
  readonly #limits: AskLimits;
  readonly #turns: RateTurns;
  #count = 0;

  constructor(reference: Side, candidate: Side, limits: AskLimits) {
    this.#sides = [reference, candidate];
    this.#limits = limits;
    this.#turns = new RateTurns(limits.rate);
    this.#agent = new Agent({
      connections: 2,
      headersTimeout: timerMs(limits.timeoutMs),
      bodyTimeout: timerMs(limits.timeoutMs),
    });
  }

  close(): Promise<void> {
    return this.#agent.close();
  }

  /**
   * Sends a request to both sides. A difference only counts if the reference repeats its answer and the candidate still differs: logs that
   * arrive in between are not a difference.
   */
  async compare(asked: NamedRequest): Promise<Compared> {
    try {
      // The sides take turns in being first, so that neither profits from a common page cache.
      const [reference, candidate] = await this.#both(asked, this.#count++ % 2 === 0);
      const times = { referenceMs: reference.ms, candidateMs: candidate.ms };
      const difference = compareAnswers(asked, reference, candidate);
      if (difference === undefined)
        return { request: asked, ...times, outcome: { kind: 'equal', hasData: hasData(reference) } };
      const [again, other] = await this.#both(asked, true);
      if (compareAnswers(asked, reference, again) !== undefined) {
        const late = compareAnswers(asked, again, other);
        const outcome: Outcome =
          late === undefined
            ? { kind: 'equal', hasData: hasData(again) }
            : { kind: 'unsteady', difference: late };
        return { request: asked, ...times, outcome };
      }
      return {
        request: asked,
        ...times,
        outcome: { kind: 'different', difference, answers: [reference, candidate] },
      };
    } catch (error) {
      if (!(error instanceof NoAnswerError)) throw error;
      return { request: asked, outcome: { kind: 'failed', reason: error.message } };
    }
  }

  /** The values of a label on the reference side. */
  async labelValues(label: string, params: URLSearchParams): Promise<readonly string[]> {
    const path = `/loki/api/v1/label/${encodeURIComponent(label)}/values`;
    const { status, body } = await this.#send(this.#sides[0], { path, params: Object.fromEntries(params) });
    if (status !== 200)
      throw new NoAnswerError(`the values of the label ${label} are answered with ${status}`);
    return asArray(asObject(body)['data']).filter((value) => typeof value === 'string');
  }

  async #both(asked: NamedRequest, isReferenceFirst: boolean): Promise<readonly [Timed, Timed]> {
    await this.#turns.next();
    const [reference, candidate] = this.#sides;
    if (isReferenceFirst) {
      const first = await this.#send(reference, asked, asked.orgId);
      return [first, await this.#send(candidate, asked, asked.orgId)];
    }
    const first = await this.#send(candidate, asked, asked.orgId);
    return [await this.#send(reference, asked, asked.orgId), first];
  }

  async #send({ url, headers }: Side, asked: ComparedRequest, orgId?: string): Promise<Timed> {
    const { timeoutMs, maxAnswerBytes } = this.#limits;
    const startedMs = performance.now();
    try {
      const answer = await askLoki(asked, {
        url,
        headers: { ...(orgId === undefined ? {} : { 'x-scope-orgid': orgId }), ...headers },
        dispatcher: this.#agent,
        signal: timeoutSignal(timeoutMs),
        maxBytes: maxAnswerBytes,
      });
      if (answer === undefined)
        throw new NoAnswerError(`${url} answers with more than ${maxAnswerBytes} bytes (-max-answer-bytes)`);
      return { ...answer, ms: performance.now() - startedMs };
    } catch (error) {
      if (error instanceof NoAnswerError) throw error;
      const isTimeout = error instanceof Error && /Timeout|Abort/.test(error.name);
      const reason = isTimeout ? `no answer within ${timeoutMs} ms (-timeout)` : String(error);
      throw new NoAnswerError(`${url}: ${reason}`, { cause: error });
    }
  }
}

/** A side cannot be reached. */
export class NoAnswerError extends Error {}

interface Timed extends Answered {
  readonly ms: number;
}
