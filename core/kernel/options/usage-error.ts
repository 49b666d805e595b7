/** The command line or environment is invalid: shown without a stack, exit status 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  readonly exitCode = 2;
  readonly problems: readonly string[];

  /** `problems`: all that were found, one sentence each. */
  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}
