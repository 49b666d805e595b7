import { and } from '../../../../victoria/logsql/build.js';
import { contains, lineRule } from './line-rule.js';

export const linePattern = lineRule({
  id: 'linePattern',
  construct: '|> "a <_> b"',
  backend: '_msg:*"a "* _msg:*" b"*',
  verdict: 'superset',
  reason: 'order, anchors and wildcards of at least one character are checked here',
  example: '{namespace="shop"} |> "<_> took <_>ms"',
  match: ({ test }) => (test.kind === 'pattern' ? test.value.split('<_>') : undefined),
  emit: (texts) => and(...texts.map(contains)),
});
