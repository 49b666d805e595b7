import type { BackendAnswer, BackendCall } from './fake-victorialogs.js';

/** An answer of the backend to calls of a path, and with these arguments if they are given. */
export interface ScriptedAnswer {
  /** `/select/logsql/query`. */
  readonly path: string;
  /** Arguments that the call must have. */
  readonly args?: Readonly<Record<string, string>>;
  /** Maximum number of uses; unlimited by default. */
  readonly times?: number;
  /** 200 by default. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Log rows, one JSON object per line. */
  readonly rows?: readonly Readonly<Record<string, string>>[];
  /** Names or values with their counts, in the format of listings of fields, values and streams. */
  readonly values?: Readonly<Record<string, number>>;
  readonly json?: unknown;
  readonly body?: string;
}

/** The answers of a backend in a test: the first one that matches a call and is not used up. */
export class Script {
  readonly #answers: readonly ScriptedAnswer[];
  readonly #given: number[];

  constructor(answers: readonly ScriptedAnswer[]) {
    this.#answers = answers;
    this.#given = answers.map(() => 0);
  }

  take(call: BackendCall): BackendAnswer | undefined {
    const index = this.#answers.findIndex(
      (answer, place) => (this.#given[place] ?? 0) < (answer.times ?? Infinity) && fits(answer, call),
    );
    const answer = this.#answers[index];
    if (answer === undefined) return undefined;
    this.#given[index] = (this.#given[index] ?? 0) + 1;
    const { status, headers } = answer;
    return {
      body: bodyOf(answer),
      ...(status === undefined ? {} : { status }),
      ...(headers === undefined ? {} : { headers }),
    };
  }

  /** Indexes of the answers that no call has used. */
  unused(): readonly number[] {
    return this.#given.flatMap((count, index) => (count === 0 ? [index] : []));
  }
}

function fits({ path, args = {} }: ScriptedAnswer, call: BackendCall): boolean {
  return path === call.path && Object.entries(args).every(([name, value]) => call.args.get(name) === value);
}

function bodyOf({ rows, values, json, body = '' }: ScriptedAnswer): string {
  if (rows !== undefined) return rows.map((row) => `${JSON.stringify(row)}\n`).join('');
  if (values !== undefined)
    return JSON.stringify({ values: Object.entries(values).map(([value, hits]) => ({ value, hits })) });
  return json === undefined ? body : JSON.stringify(json);
}
