import { parseMatchers, parseSteps, printPlain } from '../../logql/index.js';
import type { Expr, Matcher } from '../../logql/ast.js';
import type { Pacer } from '../../base/pace/pacer.js';
import { atPace, doAll, type Steps } from '../../base/pace/steps.js';

/** Whether names with dots are LogQL here (`-logql-dotted-names`). */
export type DottedNames = 'reject' | 'accept';

/**
 * A LogQL query as the client wrote it. It is parsed when somebody first asks for the tree, so that a missing tenant or a full
 * house is reported before a syntax error, as Loki does; the error then is a LogqlError with Loki's text.
 */
export class Query {
  readonly text: string;
  readonly #dottedNames: DottedNames;
  readonly #read: () => Steps<Expr>;
  #tree: (() => Expr) | undefined;

  /** @param read where the tree comes from, when it is not read from the text; the text has to mean the same */
  constructor(text: string, dottedNames: DottedNames, read?: () => Steps<Expr>) {
    this.text = text;
    this.#dottedNames = dottedNames;
    this.#read = read ?? (() => parseSteps(text, { dottedNames }));
  }

  get ast(): Expr {
    this.#tree ??= doAll(this.#readTree());
    return this.#tree();
  }

  /** Reads the text ahead, with pauses for others: a long one takes a while. What is wrong with it is told when its tree is asked for. */
  async read(pacer: Pacer): Promise<void> {
    this.#tree ??= await atPace(this.#readTree(), pacer);
  }

  /** The query with another tree, for stages that rewrite it; its text is one that reads back as that tree. */
  withAst(ast: Expr): Query {
    const changed = new Query(printPlain(ast), this.#dottedNames);
    changed.#tree = () => ast;
    return changed;
  }

  *#readTree(): Steps<() => Expr> {
    try {
      const ast = yield* this.#read();
      return () => ast;
    } catch (error) {
      return () => {
        throw error;
      };
    }
  }
}

/** A bare stream selector, as the label, series and index endpoints take it. */
export class Selector {
  readonly text: string;
  readonly #dottedNames: DottedNames;
  #matchers: readonly Matcher[] | undefined;

  constructor(text: string, dottedNames: DottedNames, matchers?: readonly Matcher[]) {
    this.text = text;
    this.#dottedNames = dottedNames;
    this.#matchers = matchers;
  }

  get matchers(): readonly Matcher[] {
    this.#matchers ??= parseMatchers(this.text, { dottedNames: this.#dottedNames });
    return this.#matchers;
  }

  withMatchers(text: string, matchers: readonly Matcher[]): Selector {
    return new Selector(text, this.#dottedNames, matchers);
  }
}
