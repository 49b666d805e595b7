import type { Answer } from './types.js';

/** The answer with a warning about missing data; undefined if its kind has no warnings. */
export function warned(answer: Answer, warning: string): Answer | undefined {
  if (answer.kind === 'several')
    return { ...answer, answers: answer.answers.map((each) => each && withWarning(each, warning)) };
  return 'warnings' in answer ? withWarning(answer, warning) : undefined;
}

function withWarning<Part extends { readonly warnings: readonly string[] }>(
  part: Part,
  warning: string,
): Part {
  return { ...part, warnings: [...part.warnings, warning] };
}
