/** A mutant that no test can notice, or need not. */
export interface ExplainedMutant {
  readonly file: string;
  /** The line, without its indentation. */
  readonly code: string;
  readonly replacement: string;
  readonly reason: string;
}

export const explained: readonly ExplainedMutant[] = [];
