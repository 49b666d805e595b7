import type { EncodedAnswer } from '../wire/answer/types.js';
import type { StageMeter } from './stage-meter.js';

/** Repeats a stage's decision to let a request through. */
export type AdmitAgain = () => boolean;

/** Repeats a stage's answer from cached bytes. */
export interface AnswerAgain {
  /** The same answer, if it is still cached and valid; undefined sends the request down the chain. */
  find(): EncodedAnswer | undefined;
  /** Counts that the answer was given again. */
  given(): void;
}

/** A stage of a recorded path, and how to repeat its part. */
interface OfStage<Again> {
  readonly again: Again;
  readonly meter: StageMeter | undefined;
}

/** A recorded path through the stages, for when the same bytes come again. */
export class Repeat {
  readonly #answering: OfStage<AnswerAgain>;
  readonly #admitting: readonly OfStage<AdmitAgain>[];

  /** @param admitting the stages before the answering one, outermost first */
  constructor(answering: OfStage<AnswerAgain>, admitting: readonly OfStage<AdmitAgain>[]) {
    this.#answering = answering;
    this.#admitting = admitting;
  }

  /** The body to send, with everything counted as if the stages had run; undefined, with nothing counted, if they must run. */
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

/** Asks a stage how to repeat its part; undefined if it cannot. */
type AskStage<Again> = OfStage<() => Again | undefined>;

/** Records the stages that a request passed, on its way up. They are only asked how to repeat their part if a repeat is wanted. */
export class RepeatPath {
  #answering: AskStage<AnswerAgain> | undefined;
  /** Stages passed so far, innermost first. */
  #passed: AskStage<AdmitAgain>[] = [];

  answered(stage: AskStage<AnswerAgain>): void {
    this.#answering = stage;
    this.#passed = [];
  }

  passed(stage: AskStage<AdmitAgain>): void {
    this.#passed.push(stage);
  }

  /** Marks the path as not repeatable: it branched, or the answer was changed on it. */
  lost(): void {
    this.#answering = undefined;
    this.#passed = [];
  }

  /** A repeat of the whole path, if every stage of it supports that. */
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
