/** The command line or the environment cannot be used as it is: shown without a stack, exit status 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  readonly exitCode = 2;
  readonly problems: readonly string[];

  /** `problems`: one sentence each, all that were found. */
  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}
