import { and } from '../../../../victoria/logsql/build.js';
import { contains, containsTextsOf, holdsReplacement, isPattern, lineRule } from './line-rule.js';

export const lineReplacement = lineRule({
  id: 'lineReplacement',
  construct: '|=, |~ or |> with U+FFFD in the text',
  backend: '_msg:*"text"*',
  verdict: 'superset',
  reason:
    'the backend does not find words that hold this sign for bytes that are no text; it is asked for what stands around it',
  example: '{namespace="shop"} |= "au caf\ufffd lait"',
  match: (term) => (holdsReplacement(term) ? term : undefined),
  emit: (term) =>
    isPattern(term)
      ? and(...containsTextsOf(term.value))
      : and(...term.value.split(term.op === '|>' ? /\ufffd|<_>/ : '\ufffd').map(contains)),
});
