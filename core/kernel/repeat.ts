import type { EncodedAnswer } from '../wire/answer/types.js';
import type { StageMeter } from './stage-meter.js';

/** How a stage that let a request through does so again when its bytes come again. */
export type AdmitAgain = () => boolean;

/** How a stage that answered a request with kept bytes does so again. */
export interface AnswerAgain {
  /** The very answer that was given, if it is still kept and still right; undefined sends the request down the chain. */
  find(): EncodedAnswer | undefined;
  /** Counts that the answer was given once more. */
  given(): void;
}

/** A way through the stages that is known: what to do when the same bytes come again. */
export class Repeat {
  readonly #answer: AnswerAgain;
  readonly #answering: StageMeter | undefined;
  /** Outermost last, as they were added. */
  readonly #admissions: { readonly admit: AdmitAgain; readonly meter: StageMeter | undefined }[] = [];

  constructor(answer: AnswerAgain, meter: StageMeter | undefined) {
    this.#answer = answer;
    this.#answering = meter;
  }

  /** Adds the stage before those that are known. */
  add(admit: AdmitAgain, meter: StageMeter | undefined): void {
    this.#admissions.push({ admit, meter });
  }

  /** The body to send, with everything counted as if the stages had run; undefined, and nothing is counted, when they have to. */
  again(bodyOf: (answer: EncodedAnswer) => Buffer | undefined): Buffer | undefined {
    const found = this.#answer.find();
    const body = found === undefined ? undefined : bodyOf(found);
    if (body === undefined) return undefined;
    const admissions = this.#admissions;
    for (let at = admissions.length - 1; at >= 0; at -= 1)
      if (admissions[at]?.admit() !== true) return undefined;
    this.#answer.given();
    for (const { meter } of admissions) meter?.repeated(false);
    this.#answering?.repeated(true);
    return body;
  }
}

/** Collects on a request's way up which stages can do the same again. One stage that cannot makes the way unknown. */
export class RepeatPath {
  #repeat: Repeat | undefined;

  /** The whole way, if every stage of it has been added. */
  get known(): Repeat | undefined {
    return this.#repeat;
  }

  answered(again: AnswerAgain | undefined, meter: StageMeter | undefined): void {
    this.#repeat = again === undefined ? undefined : new Repeat(again, meter);
  }

  passed(again: AdmitAgain | undefined, meter: StageMeter | undefined): void {
    if (again === undefined) this.#repeat = undefined;
    else this.#repeat?.add(again, meter);
  }

  lost(): void {
    this.#repeat = undefined;
  }
}
