import type { FilterTest } from '../../../../logql/pipeline/filter-meaning.js';
import { anyCasePattern } from '../../../../logql/pipeline/text-in-any-case.js';
import type { LogsqlFilter } from '../../../../victoria/logsql/ast.js';
import { and } from '../../../../victoria/logsql/build.js';
import { contains, containsTextsOf, lineRule } from './line-rule.js';

export const lineReplacement = lineRule({
  id: 'lineReplacement',
  construct: '|=, |~ or |> with U+FFFD in the text',
  backend: '_msg:*"text"*',
  verdict: 'superset',
  reason:
    'the backend does not find words that hold this sign for bytes that are no text; it is asked for what stands around it',
  example: '{namespace="shop"} |= "au caf\ufffd lait"',
  match: ({ test }) => (holdsReplacement(test) ? test : undefined),
  emit: (test) => and(...around(test)),
});

function around(test: FilterTest): readonly LogsqlFilter[] {
  switch (test.kind) {
    case 'contains':
    case 'equals':
      if (test.ignoresCase) return containsTextsOf(anyCasePattern(test.text));
      return test.text.split('\ufffd').map(contains);
    case 'pattern':
      return test.value.split(/\ufffd|<_>/).map(contains);
    case 'regexp':
      return containsTextsOf(test.pattern);
    case 'all':
    case 'not-empty':
    case 'ip':
      return [];
  }
}

/** Whether a test holds the sign that stands for bytes that are no text, plainly or as a pattern writes it. */
export function holdsReplacement(test: FilterTest): boolean {
  switch (test.kind) {
    case 'contains':
    case 'equals':
      return test.text.includes('\ufffd');
    case 'pattern':
      return test.value.includes('\ufffd');
    case 'regexp':
      return /\ufffd|\\x\{0*fffd\}/i.test(test.pattern);
    case 'all':
    case 'not-empty':
    case 'ip':
      return false;
  }
}
