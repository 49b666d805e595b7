import type { TemplateToken } from './token.js';
import type { TokenStream } from './token-stream.js';

/** A template that Go refuses to parse; the message is Go's. */
export class TemplateSyntaxError extends Error {
  override readonly name = 'TemplateSyntaxError';
}

/** What the pipeline parser needs from the parser of the surrounding template. */
export interface ParseScope {
  readonly stream: TokenStream;
  /** Names of the visible variables, innermost last. */
  readonly variables: string[];
  hasFunction(name: string): boolean;
  fail(message: string): never;
  unexpected(token: TemplateToken, context: string, described: string): never;
  /** Runs a nested parse; refuses nesting that is too deep. */
  nested<T>(parse: () => T): T;
}
