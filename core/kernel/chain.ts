import { apiError } from '../base/errors/table.js';
import type { Answer, AnswerKind } from '../wire/answer/types.js';
import { blame, type PluginPlace } from './blame.js';
import type { Rest, RestUse, Stage } from './plugin/contract.js';
import type { Exchange } from './plugin/exchange.js';
import type { SlotName } from './plugin/slots.js';
import type { StageCall, StageMeter } from './stage-meter.js';

type PartsOf<Kind extends AnswerKind> = readonly Exclude<
  keyof Extract<Answer, { readonly kind: Kind }>,
  'kind'
>[];

/** Every kind of answer with its required members, to check answers that were not type-checked. */
const partsByKind: { readonly [Kind in AnswerKind]: PartsOf<Kind> } = {
  streams: ['streams', 'stats'],
  matrix: ['series', 'stats'],
  vector: ['samples', 'stats'],
  scalar: ['point', 'stats'],
  names: ['values'],
  series: ['series'],
  'index-stats': ['streams', 'chunks', 'bytes', 'entries'],
  formatted: ['query'],
  tenant: ['tenant'],
  several: ['answers'],
  encoded: ['status', 'contentType', 'headers', 'body'],
  volume: ['series', 'stats'],
  'detected-fields': ['fields'],
  'detected-field-values': ['values'],
  'detected-labels': ['labels'],
  patterns: ['patterns'],
  shards: ['shards'],
  live: ['history', 'events'],
};
const known = new Map<unknown, readonly string[]>(Object.entries(partsByKind));

/** The reason why a value is not an answer, such as `undefined` or `an answer of the unknown kind "rows"`; undefined for an answer. */
function answerFault(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null)
    return value === undefined || value === null ? String(value) : `a ${typeof value}`;
  if (!('kind' in value)) return 'an object without a kind';
  const parts = known.get(value.kind);
  if (parts === undefined)
    return `an answer of the unknown kind ${typeof value.kind === 'string' ? `"${value.kind}"` : `(a ${typeof value.kind})`}`;
  const missing = parts.find((part) => Reflect.get(value, part) === undefined);
  return missing === undefined
    ? undefined
    : `an answer of the kind "${String(value.kind)}" without "${missing}"`;
}

/** A stage and its position, made by the loader from the pipeline file. */
export interface ChainLink {
  readonly id: string;
  readonly rest: RestUse;
  readonly stage: Stage<SlotName, SlotName>;
  /** The slots that it promises to fill; none by default. */
  readonly gives?: readonly string[];
  /** The plugin's own name; the id by default. */
  readonly plugin?: string;
  readonly at?: string;
  readonly meter?: StageMeter;
}

/** Runs an exchange through the chain, or through the rest of it. */
export type Run = (exchange: Exchange) => Promise<Answer>;

/** A link of the chain, cleared when the chain's stages have stopped. */
interface Place {
  link: ChainLink | undefined;
  readonly promises: StagePromises;
}

/** The stages of a pipeline, connected. */
export class Chain {
  readonly run: Run;
  readonly #places: readonly Place[];
  #running = 0;

  /**
   * Composes the rest of the chain for every stage once, from the last stage to the first, so that a stage may run its rest any number of
   * times, including in parallel. The last stage must answer by itself.
   */
  constructor(links: readonly ChainLink[]) {
    const end: Run = () =>
      Promise.reject(
        new Error('no stage answered: the last stage of the pipeline ran the rest of the chain'),
      );
    this.#places = links.map((link) => ({
      link,
      promises: { kind: 'stage', plugin: link.id, gives: link.gives ?? [], ...placeOf(link) },
    }));
    this.run = this.#places.reduceRight<Run>((rest, place) => this.#before(place, rest), end);
  }

  /** True if a stage is running, even if its client has left. */
  get isRunning(): boolean {
    return this.#running > 0;
  }

  /**
   * Marks the stages as stopped and releases them: code that has kept a rest of the chain, such as background work, does not keep them in
   * memory.
   */
  end(): void {
    for (const place of this.#places) place.link = undefined;
  }

  #before(place: Place, rest: Run): Run {
    const { promises } = place;
    return async (given) => {
      given.signal.throwIfAborted();
      const { link } = place;
      // No client waits for this: the work of clients has ended before the stages were stopped.
      if (link === undefined) throw apiError('stopping', {});
      const span = given.span?.child(`stage ${link.id}`);
      const exchange = span === undefined ? given : given.derive({ span });
      let runs = 0;
      let passed: Answer | undefined;
      const counted: Rest<SlotName> = async (derived) => {
        runs += 1;
        holdToRest(promises, runs, derived);
        passed = await (call === undefined ? rest(derived) : metered(call, rest, derived));
        return passed;
      };
      const call = link.meter?.begin(exchange.waits);
      this.#running += 1;
      try {
        // The stage's type names the slots it needs; loading the pipeline has checked that they are filled.
        const answer = await link.stage.handle(exchange as Exchange<SlotName>, counted);
        holdToAnswer(promises, runs, answer);
        call?.answered();
        noteRepeat(link, exchange, answer, { runs, isUnchanged: answer === passed });
        span?.end({ 'ref.stage.runs': runs });
        return answer;
      } catch (thrown) {
        const error = blame(thrown, promises);
        call?.failed(error, exchange.signal.aborted);
        span?.end({ 'ref.stage.runs': runs }, error);
        throw error;
      } finally {
        this.#running -= 1;
      }
    };
  }
}

function placeOf({ id, rest, plugin, at }: ChainLink): Pick<StagePromises, 'id' | 'rest'> {
  return { id, rest, ...(plugin === undefined ? {} : { plugin }), ...(at === undefined ? {} : { at }) };
}

/** Records how the stage could repeat its work. Only a single pass down and up the chain can be repeated. */
function noteRepeat(
  { stage, meter }: ChainLink,
  exchange: Exchange,
  answer: Answer,
  { runs, isUnchanged }: { readonly runs: number; readonly isUnchanged: boolean },
): void {
  // As above, the slots that the stage needs are filled.
  const given = exchange as Exchange<SlotName>;
  if (runs === 0) exchange.repeat.answered({ again: () => stage.answerAgain?.(given, answer), meter });
  else if (runs === 1 && isUnchanged)
    exchange.repeat.passed({ again: () => stage.admitAgain?.(given), meter });
  else exchange.repeat.lost();
}

async function metered(call: StageCall, rest: Run, exchange: Exchange): Promise<Answer> {
  call.restStarted(exchange.waits);
  let failure: unknown;
  try {
    return await rest(exchange);
  } catch (error) {
    failure = error;
    throw error;
  } finally {
    call.restEnded(failure);
  }
}

/** Declarations of a stage that are enforced while it runs. */
interface StagePromises extends PluginPlace {
  readonly rest: RestUse;
  readonly gives: readonly string[];
}

/** A plugin did something that it declares not to do, or did not do what it must. */
class ContractBreach extends Error {
  constructor({ kind, id }: PluginPlace, what: string) {
    super(`${kind} "${id}" ${what}`);
    this.name = 'ContractBreach';
  }
}

const maxRuns: Readonly<Record<RestUse, number>> = { never: 0, maybe: 1, once: 1, many: Infinity };
const minRuns: Readonly<Record<RestUse, number>> = { never: 0, maybe: 0, once: 1, many: 0 };

/** Throws if the rest of the chain runs more often than declared, or without a slot that the stage promises to fill. */
function holdToRest(stage: StagePromises, runs: number, derived: Exchange): void {
  if (runs > maxRuns[stage.rest]) throw new RestMisuse(stage, runs);
  for (const slot of stage.gives)
    // Sites add slots of their own; here they are names like any other.
    if (derived.slots[slot as SlotName] === undefined)
      throw new ContractBreach(
        stage,
        `declares that it gives the slot "${slot}", but ran the rest of the chain without it`,
      );
}

/**
 * Throws if the value is not an answer, or if the rest ran more or less often than declared, even if the stage caught the earlier error.
 */
function holdToAnswer(stage: StagePromises, runs: number, answer: unknown): void {
  if (runs < minRuns[stage.rest] || runs > maxRuns[stage.rest]) throw new RestMisuse(stage, runs);
  holdToAnyAnswer(stage, answer);
}

/** Throws if the value is not an answer. */
export function holdToAnyAnswer(place: PluginPlace, answer: unknown): void {
  const fault = answerFault(answer);
  if (fault !== undefined) throw new ContractBreach(place, `returned ${fault} instead of an answer`);
}

/** A stage ran the rest of the chain more or less often than it declared. */
export class RestMisuse extends ContractBreach {
  constructor(stage: StagePromises, runs: number) {
    super(
      stage,
      `declares rest: '${stage.rest}' but ran the rest of the chain ${runs} time${runs === 1 ? '' : 's'}`,
    );
    this.name = 'RestMisuse';
  }
}
