import type { EncodedAnswer } from '../wire/answer/types.js';
import type { StageMeter } from './stage-meter.js';

/** The way in which a stage that let a request through does so again when its bytes come again. */
export type AdmitAgain = () => boolean;

/** The way in which a stage that answered a request with kept bytes does so again. */
export interface AnswerAgain {
  /** The very answer that was given, if it is still kept and still right; undefined sends the request down the chain. */
  find(): EncodedAnswer | undefined;
  /** Counts that the answer was given once more. */
  given(): void;
}

/** A stage of a way, and how it would do the same again. */
interface OfStage<Again> {
  readonly again: Again;
  readonly meter: StageMeter | undefined;
}

/** A way through the stages that is known: what to do when the same bytes come again. */
export class Repeat {
  readonly #answering: OfStage<AnswerAgain>;
  readonly #admitting: readonly OfStage<AdmitAgain>[];

  /** @param admitting the stages before the one that answers, the outermost first */
  constructor(answering: OfStage<AnswerAgain>, admitting: readonly OfStage<AdmitAgain>[]) {
    this.#answering = answering;
    this.#admitting = admitting;
  }

  /** The body to send, with everything counted as if the stages had run; undefined, and nothing is counted, when they have to. */
  again(bodyOf: (answer: EncodedAnswer) => Buffer | undefined): Buffer | undefined {
    const { again, meter } = this.#answering;
    const found = again.find();
    const body = found === undefined ? undefined : bodyOf(found);
    if (body === undefined) return undefined;
    for (const stage of this.#admitting) if (!stage.again()) return undefined;
    again.given();
    for (const stage of this.#admitting) stage.meter?.repeated(false);
    meter?.repeated(true);
    return body;
  }
}

/** Asks a stage how it would do the same again; undefined when it cannot. */
type AskStage<Again> = OfStage<() => Again | undefined>;

/** Collects on a request's way up which stages it passed. They are asked how to repeat it only when somebody wants to know. */
export class RepeatPath {
  #answering: AskStage<AnswerAgain> | undefined;
  /** The innermost first. */
  #passed: AskStage<AdmitAgain>[] = [];

  answered(stage: AskStage<AnswerAgain>): void {
    this.#answering = stage;
    this.#passed = [];
  }

  passed(stage: AskStage<AdmitAgain>): void {
    this.#passed.push(stage);
  }

  /** The way was not a single one, or the answer was changed on it. */
  lost(): void {
    this.#answering = undefined;
    this.#passed = [];
  }

  /** A repetition of the whole way, if every stage of it can. */
  known(): Repeat | undefined {
    const answering = known(this.#answering);
    const admitting = this.#passed.toReversed().map(known);
    if (answering === undefined || !admitting.every((stage) => stage !== undefined)) return undefined;
    return new Repeat(answering, admitting);
  }
}

function known<Again>(asked: AskStage<Again> | undefined): OfStage<Again> | undefined {
  const again = asked?.again();
  return again === undefined ? undefined : { again, meter: asked?.meter };
}
