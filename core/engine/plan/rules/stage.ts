import { stageDescriptors } from '../../../logql/stages/index.js';
import type { WhyHere } from '../../../logql/stages/stage.js';
import type { RuleText } from './rule.js';

const stages = Object.values(stageDescriptors);

/** The rules about stages that are not pushed down. */
export const stageRules: Readonly<Record<WhyHere, RuleText<WhyHere>>> = {
  lineAfterChange: here(
    'lineAfterChange',
    `a line filter after ${lineChanges().replace(/, (\w+)$/, ' or $1')}`,
    'it reads the changed line',
    '{namespace="shop"} | line_format "{{.pod}}" |= "cart"',
  ),
  lineRewrite: here(
    'lineRewrite',
    wordsOf('lineRewrite'),
    'the backend has no equivalent of templates and escapes; decolorize needs the line in the proxy',
    '{namespace="shop"} | decolorize',
  ),
  parser: here(
    'parser',
    wordsOf('parser'),
    'names, duplicates, conflicts and errors are handled differently',
    '{namespace="shop"} | logfmt',
  ),
  labelRewrite: here(
    'labelRewrite',
    wordsOf('labelRewrite'),
    'they change labels row by row',
    '{namespace="shop"} | drop pod',
  ),
};

function here(id: WhyHere, construct: string, reason: string, example: string): RuleText<WhyHere> {
  return { id, construct, backend: '', verdict: 'none', reason, example };
}

function wordsOf(why: WhyHere): string {
  return stages.flatMap(({ word, whyHere }) => (whyHere === why ? [`| ${word}`] : [])).join(', ');
}

function lineChanges(): string {
  return stages.flatMap(({ word, changesLine }) => (changesLine === 'no' ? [] : [word])).join(', ');
}
