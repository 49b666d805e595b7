import type { TemplateToken } from './token.js';
import { lexTemplate } from './lexer.js';

/**
 * Tokens with pushback as in Go's template parser: up to three tokens. The current token decides the line that an error names, so pushback
 * must work as in Go.
 */
export class TokenStream {
  readonly #tokens: Iterator<TemplateToken, TemplateToken>;
  readonly #held: [TemplateToken, TemplateToken, TemplateToken];
  #backed = 0;
  #last: TemplateToken | undefined;

  constructor(source: string) {
    this.#tokens = lexTemplate(source);
    const none: TemplateToken = { kind: 'eof', text: '', offset: 0, line: 0 };
    this.#held = [none, none, none];
  }

  get line(): number {
    return this.#held[0].line;
  }

  next(): TemplateToken {
    if (this.#backed > 0) this.#backed--;
    else this.#held[0] = this.#read();
    return this.#current();
  }

  backup(): void {
    this.#backed++;
  }

  /** Pushes back the current token and an earlier one before it. */
  backup2(earlier: TemplateToken): void {
    this.#held[1] = earlier;
    this.#backed = 2;
  }

  /** Pushes back the current token and two earlier ones before it. */
  backup3(earliest: TemplateToken, earlier: TemplateToken): void {
    this.#held[1] = earlier;
    this.#held[2] = earliest;
    this.#backed = 3;
  }

  peek(): TemplateToken {
    if (this.#backed > 0) return this.#held[this.#backed - 1] ?? this.#held[0];
    this.#backed = 1;
    this.#held[0] = this.#read();
    return this.#held[0];
  }

  nextNonSpace(): TemplateToken {
    let token = this.next();
    while (token.kind === 'space') token = this.next();
    return token;
  }

  peekNonSpace(): TemplateToken {
    const token = this.nextNonSpace();
    this.backup();
    return token;
  }

  #current(): TemplateToken {
    return this.#held[this.#backed] ?? this.#held[0];
  }

  /** After the end, the last token repeats. */
  #read(): TemplateToken {
    if (this.#last !== undefined) return this.#last;
    const { value, done } = this.#tokens.next();
    if (done === true) this.#last = value;
    return value;
  }
}
