import { present } from '../../../../victoria/logsql/build.js';
import { lineField, lineRule } from './line-rule.js';

export const lineNotEmpty = lineRule({
  id: 'lineNotEmpty',
  construct: '|~ ".+", !~ ".+"',
  backend: '_msg:*',
  verdict: 'exact',
  reason: 'Loki only looks whether there is a character, be it a line feed',
  example: '{namespace="shop"} |~ ".+"',
  match: ({ test }) => (test.kind === 'not-empty' ? lineField : undefined),
  emit: present,
});
