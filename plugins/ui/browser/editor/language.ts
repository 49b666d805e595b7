import {
  HighlightStyle,
  LanguageSupport,
  LRLanguage,
  syntaxHighlighting,
  type TagStyle,
} from '@codemirror/language';
import { parser } from '@grafana/lezer-logql';
import { styleTags, tags } from '@lezer/highlight';

/** Highlighting of the nodes of Grafana's grammar: selectors, line operations, names, texts, numbers. */
const highlighting = styleTags({
  LineComment: tags.lineComment,
  Identifier: tags.labelName,
  String: tags.string,
  'Number LiteralExpr/Number': tags.number,
  'Duration Bytes': tags.number,
  'Json Logfmt Unpack Pattern Regexp Unwrap LabelFormat LineFormat Decolorize Drop Keep Distinct':
    tags.keyword,
  'By Without On Ignoring GroupLeft GroupRight Bool Offset And Or Unless': tags.operatorKeyword,
  'Sum Avg Count Max Min Stddev Stdvar Bottomk Topk Sort Sort_Desc Approx_Topk': tags.function(
    tags.variableName,
  ),
  'CountOverTime Rate RateCounter BytesOverTime BytesRate AvgOverTime SumOverTime MinOverTime MaxOverTime StddevOverTime StdvarOverTime QuantileOverTime FirstOverTime LastOverTime AbsentOverTime LabelReplace Vector':
    tags.function(tags.variableName),
  'BytesConv DurationConv DurationSecondsConv Ip': tags.function(tags.variableName),
  'PipeExact PipeMatch PipePattern Npa Pipe Eq Neq Re Nre Gtr Gte Lss Lte Eql': tags.operator,
  'Add Sub Mul Div Mod Pow': tags.operator,
});

/** LogQL as parsed by Grafana's grammar. */
export const logql = LRLanguage.define({
  name: 'logql',
  parser: parser.configure({ props: [highlighting] }),
  languageData: { closeBrackets: { brackets: ['(', '[', '{', '"', '`'] }, commentTokens: { line: '#' } },
});

/** Colours are custom properties of the page, so that they follow the light and dark themes. */
const colours: readonly TagStyle[] = [
  { tag: tags.labelName, color: 'var(--code-name)' },
  { tag: tags.string, color: 'var(--code-text)' },
  { tag: tags.number, color: 'var(--code-number)' },
  { tag: tags.keyword, color: 'var(--code-keyword)' },
  { tag: tags.operatorKeyword, color: 'var(--code-keyword)' },
  { tag: tags.function(tags.variableName), color: 'var(--code-function)' },
  { tag: tags.operator, color: 'var(--code-operator)' },
  { tag: tags.lineComment, color: 'var(--ink-2)', fontStyle: 'italic' },
];

export const logqlSupport = new LanguageSupport(logql, [syntaxHighlighting(HighlightStyle.define(colours))]);
