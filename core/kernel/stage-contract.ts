import { answerFault } from '../wire/answer/kinds.js';
import type { PluginPlace } from './blame.js';
import type { RestUse } from './plugin/contract.js';
import type { Exchange } from './plugin/exchange.js';
import type { SlotName } from './plugin/slots.js';

/** What a stage has declared, by which it is held while it runs. */
export interface StagePromises extends PluginPlace {
  readonly rest: RestUse;
  readonly gives: readonly string[];
}

/** A plugin did what it declares not to do, or not what it must. */
export class ContractBreach extends Error {
  constructor({ kind, id }: PluginPlace, what: string) {
    super(`${kind} "${id}" ${what}`);
    this.name = 'ContractBreach';
  }
}

const most: Readonly<Record<RestUse, number>> = { never: 0, maybe: 1, once: 1, many: Infinity };
const least: Readonly<Record<RestUse, number>> = { never: 0, maybe: 0, once: 1, many: 0 };

/** Refuses to run the rest of the chain more often than declared, or without a slot that the stage promises to give. */
export function holdToRest(stage: StagePromises, runs: number, derived: Exchange): void {
  if (runs > most[stage.rest]) throw new RestMisuse(stage, runs);
  for (const slot of stage.gives)
    // Sites add slots of their own; they are names like any other here.
    if (derived.slots[slot as SlotName] === undefined)
      throw new ContractBreach(
        stage,
        `declares to give the slot "${slot}" and ran the rest of the chain without it`,
      );
}

/** Refuses what is no answer, and a rest that ran more or less often than declared, whatever became of the refusal above. */
export function holdToAnswer(stage: StagePromises, runs: number, answer: unknown): void {
  if (runs < least[stage.rest] || runs > most[stage.rest]) throw new RestMisuse(stage, runs);
  holdToAnyAnswer(stage, answer);
}

/** Refuses what is no answer. */
export function holdToAnyAnswer(place: PluginPlace, answer: unknown): void {
  const fault = answerFault(answer);
  if (fault !== undefined) throw new ContractBreach(place, `gave no answer but ${fault}`);
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
