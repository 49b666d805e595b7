import { matchersSteps, parseSteps, printPlain } from '../../logql/index.js';
import type { Expr, Matcher } from '../../logql/ast.js';
import type { Pacer } from '../../base/pace/pacer.js';
import { atPace, doAll, type Steps } from '../../base/pace/steps.js';

/** Determines whether LogQL may use names with dots (`-logql-dotted-names`). */
export type DottedNames = 'reject' | 'accept';

/**
 * A LogQL query as the client wrote it. It is parsed when its tree is first used, so that a missing tenant or an overload is reported
 * before a syntax error, as in Loki. The error is a LogqlError with Loki's text.
 */
export class Query {
  readonly text: string;
  readonly #dottedNames: DottedNames;
  readonly #read: () => Steps<Expr>;
  #tree: (() => Expr) | undefined;

  /** @param read creates the tree if it is not parsed from the text; both must have the same meaning */
  constructor(text: string, dottedNames: DottedNames, read?: () => Steps<Expr>) {
    this.text = text;
    this.#dottedNames = dottedNames;
    this.#read = read ?? (() => parseSteps(text, { dottedNames }));
  }

  get ast(): Expr {
    this.#tree ??= doAll(keptError(this.#read()));
    return this.#tree();
  }

  /**
   * Parses the text in advance, with pauses for other work because a long text takes a while. Its errors are thrown when the tree is used.
   */
  async read(pacer: Pacer): Promise<void> {
    this.#tree ??= await atPace(keptError(this.#read()), pacer);
  }

  /** The query with another tree, for stages that rewrite it. Its text is printed from the tree and parses back to it. */
  withAst(ast: Expr): Query {
    const changed = new Query(printPlain(ast), this.#dottedNames);
    changed.#tree = () => ast;
    return changed;
  }
}

/** A bare stream selector, as the label, series and index endpoints accept it. It is parsed as a Query is. */
export class Selector {
  readonly text: string;
  readonly #dottedNames: DottedNames;
  #matchers: (() => readonly Matcher[]) | undefined;

  constructor(text: string, dottedNames: DottedNames, matchers?: readonly Matcher[]) {
    this.text = text;
    this.#dottedNames = dottedNames;
    this.#matchers = matchers === undefined ? undefined : () => matchers;
  }

  get matchers(): readonly Matcher[] {
    this.#matchers ??= doAll(this.#read());
    return this.#matchers();
  }

  async read(pacer: Pacer): Promise<void> {
    this.#matchers ??= await atPace(this.#read(), pacer);
  }

  withMatchers(text: string, matchers: readonly Matcher[]): Selector {
    return new Selector(text, this.#dottedNames, matchers);
  }

  #read(): Steps<() => readonly Matcher[]> {
    return keptError(matchersSteps(this.text, { dottedNames: this.#dottedNames }));
  }
}

/** Steps that return the result, or throw the error, for each caller. */
function* keptError<Result>(steps: Steps<Result>): Steps<() => Result> {
  try {
    const result = yield* steps;
    return () => result;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}
