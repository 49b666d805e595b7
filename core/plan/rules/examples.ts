import type { RuleId } from './table.js';

/** A query for each rule, in which it is applied; docs/pushdown.md shows what becomes of it. */
export const ruleExamples: Readonly<Partial<Record<RuleId, string>>> = {
  streamMatcher: '{namespace="shop", pod=~"cart-.+"}',
  serviceName: '{service_name="cart"}',
  noSuchLabel: '{namespace="shop", event_name="started"}',
  lineContains: '{namespace="shop"} |= "timeout"',
  lineLiteralRegexp: '{namespace="shop"} |~ "timeout|refused"',
  lineRegexp: '{namespace="shop"} |~ "took [0-9]{4,}ms"',
  lineRegexpFold: '{namespace="shop"} |~ "(?i)disk.full"',
  lineRegexpFoldNot: '{namespace="shop"} !~ "(?i)disk.full"',
  lineRegexpAll: '{namespace="shop"} |~ "x*"',
  linePattern: '{namespace="shop"} |> "<_> took <_>ms"',
  linePatternNot: '{namespace="shop"} !> "<_> took <_>ms"',
  lineAddress: '{namespace="shop"} |= ip("10.0.0.1")',
  lineNetwork: '{namespace="shop"} |= ip("10.0.0.0/8")',
  lineMixed: '{namespace="shop"} |~ "timeout" or "took [0-9]+s"',
  lineAfterChange: '{namespace="shop"} | line_format "{{.pod}}" |= "cart"',
  labelText: '{namespace="shop"} | trace_id="a1b2"',
  labelNot: '{namespace="shop"} | user!="admin"',
  labelNegated: '{namespace="shop"} | user!~"adm.*"',
  labelMissing: '{namespace="shop"} | user=""',
  labelNumber: '{namespace="shop"} | status_code >= 500',
  labelAddress: '{namespace="shop"} | client=ip("10.0.0.0/8")',
  labelAfterError: '{namespace="shop"} | json took="took" | status_code >= 500',
  labelParsed: '{namespace="shop"} | json | user="admin"',
  labelLevel: '{namespace="shop"} | detected_level="error"',
  labelDerived: '{namespace="shop"} | detected_level="info"',
  labelFilledIn: '{namespace="shop"} | severity_text!="Info"',
  lineRewrite: '{namespace="shop"} | decolorize',
  parser: '{namespace="shop"} | logfmt',
  labelRewrite: '{namespace="shop"} | drop pod',
  metricGroups: 'sum by (pod) (rate({namespace="shop"} |= "timeout" [5m]))',
  metricLevel: 'sum by (detected_level) (count_over_time({namespace="shop"}[1m]))',
  metricAbsent: 'absent_over_time({namespace="shop"}[5m])',
  metricIdentity: 'count_over_time({namespace="shop"}[5m])',
  metricUnwrap: 'sum(sum_over_time({namespace="shop"} | unwrap took [5m]))',
  metricStages: 'sum by (user) (count_over_time({namespace="shop"} | json [5m]))',
};

/** Rules that no short query shows, and why. */
export const rulesWithoutExample: Readonly<Partial<Record<RuleId, string>>> = {
  queryTooLong: 'the query would be longer than 16 KiB',
  extraLabel: 'only with -extra-label-fields',
  metricOff: 'any query with -pushdown=off',
  labelDeep: 'the query would have more than 50 levels',
};
