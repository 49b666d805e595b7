/** A mutant that no test can notice, or need not. */
export interface ExplainedMutant {
  readonly file: string;
  /** The line, without its indentation. */
  readonly code: string;
  readonly replacement: string;
  readonly reason: string;
}

export const explained: readonly ExplainedMutant[] = [
  {
    file: 'core/wire/answer/merge/index.ts',
    code: 'if (other === undefined || byHeat(own, other) < 0) hottest.set(value, own);',
    replacement: 'byHeat(own, other) <= 0',
    reason: 'of two that are equally hot either may stay',
  },
];
