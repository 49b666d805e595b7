import type { Answer } from './types.js';

/** An answer that says what is missing; undefined for one that cannot say so. */
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
