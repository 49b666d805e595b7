import type { Span } from '../ast.js';

export type Associativity = 'left' | 'right';

/** A token kind; `T` is the value its tokens carry. Declaration order is the order of expected-token lists. */
export class Terminal<T> {
  declare protected readonly value: T;
  readonly kind = 'terminal';
  constructor(
    readonly name: string,
    readonly index: number,
    readonly level: number,
    readonly associativity: Associativity,
  ) {}
}

/** A rule's left side; `T` is the result type of its actions. */
export class Nonterminal<T> {
  declare protected readonly value: T;
  readonly kind = 'nonterminal';
  constructor(
    readonly name: string,
    readonly index: number,
  ) {}
}

export type GrammarSymbol<T = unknown> = Terminal<T> | Nonterminal<T>;

/** The type of a symbol's value. */
type ValueOf<S> = S extends Terminal<infer T> ? T : S extends Nonterminal<infer T> ? T : never;
type ValuesOf<S extends readonly GrammarSymbol[]> = { readonly [K in keyof S]: ValueOf<S[K]> };

export type Action = (values: readonly unknown[], span: Span) => unknown;

export interface Rule {
  readonly index: number;
  readonly left: Nonterminal<unknown>;
  readonly right: readonly GrammarSymbol[];
  readonly action: Action;
}

/** A grammar as data: terminals in declaration order, nonterminals, and rules with the actions that build the tree. */
export class Grammar {
  readonly terminals: Terminal<unknown>[] = [];
  readonly nonterminals: Nonterminal<unknown>[] = [];
  readonly rules: Rule[] = [];
  /** End of input, and the pseudo-token of error recovery; neither is ever "expected". */
  readonly end = this.terminal<undefined>('$end');
  readonly error = this.terminal<undefined>('error');
  #level = 0;

  terminal<T>(name: string): Terminal<T> {
    return this.#declare<T>(name, 0, 'left');
  }

  /** Declares operators of one precedence; each call binds tighter than the previous one. */
  operators<T>(associativity: Associativity, names: readonly string[]): Terminal<T>[] {
    this.#level++;
    return names.map((name) => this.#declare<T>(name, this.#level, associativity));
  }

  nonterminal<T>(name: string): Nonterminal<T> {
    const symbol = new Nonterminal<T>(name, this.nonterminals.length);
    this.nonterminals.push(symbol);
    return symbol;
  }

  /** Returns a function that adds a rule for a nonterminal; in two steps, so that the left side types the action's result. */
  rule<T>(
    left: Nonterminal<T>,
  ): <const S extends readonly GrammarSymbol[]>(
    right: S,
    action: (values: ValuesOf<S>, span: Span) => T,
  ) => void {
    return (right, action) => {
      // The parser passes an action exactly the values of the symbols on its right side.
      this.rules.push({ index: this.rules.length, left, right, action: action as Action });
    };
  }

  #declare<T>(name: string, level: number, associativity: Associativity): Terminal<T> {
    const symbol = new Terminal<T>(name, this.terminals.length, level, associativity);
    this.terminals.push(symbol);
    return symbol;
  }
}
