import { metricRules } from './metric.js';
import type { Rule } from './types.js';

/**
 * Every construct of a query that the planner decides about, with its verdict and the reason. The planner names the rule
 * for each decision, so that what is done and what is told cannot differ.
 */
export const pushdownRules = {
  streamMatcher: {
    construct: '{name="v"}, !=, =~, !~',
    backend: '{name="v"}',
    verdict: 'exact',
    reason: 'missing equals empty in both, patterns are anchored and `.` matches line feeds in both',
  },
  serviceName: {
    construct: '{service_name="v"}',
    backend: '{service_name="v" or service_name="",service="v" or ...}',
    verdict: 'exact',
    reason: 'the label is derived: the first label of the discovery list that a stream has decides',
  },
  noSuchLabel: {
    construct: '{name="v"} on a name that is never a label',
    backend: 'all rows or none',
    verdict: 'exact',
    reason: 'structured metadata cannot be selected by stream',
  },
  extraLabel: {
    construct: '{name="v"} on a field of -extra-label-fields',
    backend: 'field:="v", field:~"^(?:re)$"',
    verdict: 'exact',
    reason: 'a column of rows that was declared a label; it has no index',
  },
  lineContains: {
    construct: '|= "text", != "text"',
    backend: '_msg:*"text"*',
    verdict: 'exact',
    reason: 'a substring by bytes in both',
  },
  lineReplacement: {
    construct: '|=, |~ or |> with U+FFFD in the text',
    backend: '_msg:*"text"*',
    verdict: 'superset',
    reason:
      'the backend does not find words that hold this sign for bytes that are no text; it is asked for what stands around it',
  },
  lineReplacementNot: {
    construct: '!=, !~ or !> with U+FFFD in the text',
    backend: '',
    verdict: 'none',
    reason: 'the backend does not find words that hold this sign, so its negation would keep them',
  },
  lineLiteralRegexp: {
    construct: '|~ "a|b", !~ "a|b" with plain texts only',
    backend: '(_msg:*"a"* or _msg:*"b"*)',
    verdict: 'exact',
    reason: 'Loki searches for the texts too, and drops an alternative that matches everything',
  },
  lineRegexp: {
    construct: '|~ "re", !~ "re"',
    backend: '_msg:*"text"* _msg:~"(?-s)re"',
    verdict: 'exact',
    reason:
      'the same language, once `.` does not match line feeds; where `\\b` or `^` looks back at literal text in front, the pattern goes behind `(?:\\b|\\B)`, because the backend tries it on what follows that text; texts that every match contains (in all cases, under (?i)) stand in front, because the backend finds them many times faster',
  },
  lineRegexpFold: {
    construct: '|~ "(?i)re" with k, s or letters beyond ASCII',
    backend: '_msg:~"(?i-s)re"',
    verdict: 'superset',
    reason: 'the backend also folds U+212A and U+017F, Loki does not on plain texts',
  },
  lineRegexpFoldNot: {
    construct: '!~ "(?i)re" with k, s or letters beyond ASCII',
    backend: '',
    verdict: 'none',
    reason: 'the backend also folds U+212A and U+017F, so its negation would lose lines',
  },
  lineRegexpDots: {
    construct: '|~ "re" with dots of both kinds, as in `\\s|.`',
    backend: '_msg:*"text"*',
    verdict: 'superset',
    reason: 'the backend takes some of the dots for the other kind, which matters for lines with line feeds',
  },
  lineRegexpDotsNot: {
    construct: '!~ "re" with dots of both kinds, as in `\\s|.`',
    backend: '',
    verdict: 'none',
    reason: 'the backend takes some of the dots for the other kind, so its negation would lose lines',
  },
  lineRegexpAll: {
    construct: '|~ "re" that matches the empty text',
    backend: '',
    verdict: 'none',
    reason: 'it lets every line pass in the backend; Loki may simplify it',
  },
  linePattern: {
    construct: '|> "a <_> b"',
    backend: '_msg:*"a "* _msg:*" b"*',
    verdict: 'superset',
    reason: 'order, anchors and wildcards of at least one character are checked here',
  },
  linePatternNot: {
    construct: '!> "a <_> b"',
    backend: '',
    verdict: 'none',
    reason: 'the negation of a superset would lose lines',
  },
  lineAddress: {
    construct: '|= ip("10.0.0.1")',
    backend: '_msg:*"10.0.0.1"*',
    verdict: 'superset',
    reason: 'the text may stand inside of a longer number',
  },
  lineNetwork: {
    construct: '|= ip("10.0.0.0/8"), != ip(...)',
    backend: '',
    verdict: 'none',
    reason: 'the backend tests whole values only',
  },
  lineMixed: {
    construct: 'alternatives of several kinds',
    backend: 'the alternatives joined by or',
    verdict: 'superset',
    reason: 'a line that one of them needs checked here is checked here',
  },
  lineAfterChange: {
    construct: 'a line filter after line_format, decolorize or unpack',
    backend: '',
    verdict: 'none',
    reason: 'it reads the changed line',
  },
  queryTooLong: {
    construct: 'filters that make the backend query longer than 16 KiB',
    backend: '',
    verdict: 'none',
    reason: 'the backend refuses longer queries',
  },
  labelText: {
    construct: '| name="v", | name=~"a|b", | name!=""',
    backend: 'name:="v" or {name="v"}, for every stored spelling of the name',
    verdict: 'superset',
    reason:
      'several stored names can mean one; a row may hide the value of its stream; repaired decimals are let through',
  },
  labelNot: {
    construct: '| name!="v", | name!~"a|b"',
    backend: '!(name:in("v") {name="v" or name=""})',
    verdict: 'superset',
    reason: 'sound where one stored field can be meant',
  },
  labelNegated: {
    construct: '| name!="v" with several stored spellings, | name!~"re", | name=~"re|"',
    backend: '',
    verdict: 'none',
    reason: 'which of the fields a row shows, or what the pattern leaves, is decided row by row',
  },
  labelMissing: {
    construct: '| name=""',
    backend: '!name:*, for every stored spelling of the name',
    verdict: 'superset',
    reason: 'missing equals empty in both',
  },
  labelNumber: {
    construct: '| name > 10, | name > 1s, | name > 1KB',
    backend: 'name:*',
    verdict: 'superset',
    reason:
      'a row without the label is dropped; one whose value is no number is kept and marked, so values are compared here',
  },
  labelAddress: {
    construct: '| name = ip("10.0.0.0/8")',
    backend: 'name:*',
    verdict: 'superset',
    reason: 'a row without the label is dropped, networks are compared here',
  },
  labelAfterError: {
    construct: '| name > 10 behind a stage that may fail',
    backend: '',
    verdict: 'none',
    reason: 'rows that are marked with an error pass comparisons of numbers',
  },
  labelParsed: {
    construct: '| name="v" behind a stage that can make, change or drop the name',
    backend: '',
    verdict: 'none',
    reason: 'the value is not what is stored',
  },
  labelLevel: {
    construct: '| detected_level="error", | detected_level=~"warn|error"',
    backend: '(_msg:*"err"* or ... all cases ... or level:* or severity:* ...)',
    verdict: 'superset',
    reason:
      'a level told by the line is a word of it; info and unknown are left to the rows, of which any page holds some',
  },
  labelDerived: {
    construct: '| service_name="v", | detected_level="info", | name_extracted="v", | __error__="v"',
    backend: '',
    verdict: 'none',
    reason: 'the value is made here',
  },
  labelFilledIn: {
    construct: '| severity_text!="v" and other negated filters on fields that the backend fills in',
    backend: '',
    verdict: 'none',
    reason: 'a filled-in value is shown as missing',
  },
  labelDeep: {
    construct: 'label filters nested deeper than 50 levels',
    backend: '',
    verdict: 'none',
    reason: 'the backend query would be no shorter than the rows are many',
  },
  lineRewrite: {
    construct: '| line_format, | decolorize, | unpack',
    backend: '',
    verdict: 'none',
    reason: 'templates and escapes have no equal in the backend; a bare decolorize needs the line here',
  },
  parser: {
    construct: '| json, | logfmt, | regexp, | pattern',
    backend: '',
    verdict: 'none',
    reason: 'names, duplicates, clashes and errors are read differently',
  },
  labelRewrite: {
    construct: '| label_format, | drop, | keep',
    backend: '',
    verdict: 'none',
    reason: 'they change labels row by row',
  },
  ...metricRules,
} as const satisfies Record<string, Rule>;

export type RuleId = keyof typeof pushdownRules;
