import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import { compileFilter } from '../../../../plugins/embedded-backend/logsql/index.js';
import { matchesText } from '../../../../core/engine/plan/backend-pattern.js';
import { allRules, type AppliedRule } from '../../../../core/engine/plan/rules/index.js';
import { metricRules } from '../../../../core/engine/plan/rules/metric.js';
import type { HiddenExample, Verdict } from '../../../../core/engine/plan/rules/rule.js';
import type { Decision, LogsPlan } from '../../../../core/engine/plan/types.js';
import { parseQuery, type LogExpr } from '../../../../core/logql/index.js';
import { compilePipeline } from '../../../../core/logql/pipeline/output.js';
import { printFilter } from '../../../../core/victoria/logsql/print.js';
import { Naming } from '../../../../core/victoria/names/naming.js';
import { namesOptions } from '../../../../core/testing/options.js';
import { RowReader } from '../../../../core/victoria/names/row-reader.js';
import { type KnownNames, storedNames } from '../../../../core/victoria/names/name-learner.js';
import { rowsOf, type Fields } from '../../../plugins/embedded-backend/logsql/run-query.js';
import { runs } from '../../../setup/samples.js';
import { rowsAround } from './example-rows.js';
import { openLogs } from './planned.js';

/** The example of a rule about logs, and the decisions about it. */
class Example {
  readonly naming: Naming;
  readonly #expr: LogExpr;
  readonly #settings: Partial<HiddenExample>;
  readonly #reader: RowReader;
  readonly #passesStages: ReturnType<typeof compilePipeline>;

  constructor({ example }: AppliedRule) {
    this.#settings = typeof example === 'string' ? { query: example } : example;
    this.naming = new Naming({ ...namesOptions(), ...this.#settings.naming });
    const expr = parseQuery(this.#settings.query ?? '');
    if (expr.kind !== 'log') throw new Error('not a log query');
    this.#expr = expr;
    this.#reader = new RowReader(this.naming);
    this.#passesStages = compilePipeline(expr.stages);
  }

  get rows(): fc.Arbitrary<Fields> {
    return rowsAround(this.#expr);
  }

  get decisions(): readonly Decision[] {
    return openLogs(this.#expr, this.naming, this.#settings.pushdown).decisions;
  }

  /** The plan if these names are stored. */
  plan(names: KnownNames): LogsPlan {
    return this.#planOf(this.#expr, names);
  }

  /** The plan without a part of the query. */
  planWithout(part: Decision['part'], names: KnownNames): LogsPlan {
    const { selector, stages } = this.#expr;
    const matchers = selector.matchers.filter((one) => one !== part);
    return this.#planOf(
      { ...this.#expr, selector: { ...selector, matchers }, stages: stages.filter((one) => one !== part) },
      names,
    );
  }

  #planOf(expr: LogExpr, names: KnownNames): LogsPlan {
    return openLogs(expr, this.naming, this.#settings.pushdown).close(names);
  }

  /** True if Loki's response contains the row; undefined for a row without a stored line if line filters run in the proxy. */
  passes(row: Fields, stages = this.#passesStages): boolean | undefined {
    const { timestampNs, line, stream, structuredMetadata, isRebuilt } = this.#reader.read(row);
    if (isRebuilt && this.#expr.stages.some(({ kind }) => kind === 'line-filter')) return undefined;
    const isSelected = this.#expr.selector.matchers.every((matcher) => {
      const columns = this.naming.columnsOf(matcher.name);
      const [first = ''] = columns.map((field) => row[field] ?? '').filter((value) => value !== '');
      return matchesText(matcher, columns.length === 0 ? stream.labels.get(matcher.name) : first);
    });
    const entry = { timestampNs, line, stream: stream.labels, structuredMetadata };
    return isSelected && stages(entry) !== undefined;
  }
}

/** Statistics about a rule from running its example over rows. */
interface Seen {
  /** Rows of the answer that the backend sends (`sent`) or keeps back (`lost`). */
  sent: number;
  lost: number;
  /** Rows outside of the answer. */
  sentInVain: number;
  keptBack: number;
  /** True if the part under test adds something to the backend's filter. */
  isAsked: boolean;
  /** Rows for which the plan and the query differ. */
  wrong: number;
}

function look(example: Example, part: Decision['part']): Seen {
  const seen: Seen = { sent: 0, lost: 0, sentInVain: 0, keptBack: 0, isAsked: false, wrong: 0 };
  for (const rows of fc.sample(fc.array(example.rows, { minLength: 8, maxLength: 8 }), runs(40))) {
    const names = storedNames([...new Set(rows.flatMap(Object.keys))], example.naming);
    const { filter, residual } = example.plan(names);
    seen.isAsked ||= printFilter(filter) !== printFilter(example.planWithout(part, names).filter);
    const [isSent, passesHere] = [compileFilter(filter), compilePipeline(residual)];
    for (const [index, view] of rowsOf(rows).entries()) {
      const row = rows[index] ?? {};
      const passes = example.passes(row);
      if (passes === undefined) continue;
      const sent = isSent(view);
      if (passes) seen[sent ? 'sent' : 'lost'] += 1;
      else seen[sent ? 'sentInVain' : 'keptBack'] += 1;
      if ((sent && example.passes(row, passesHere)) !== passes) seen.wrong += 1;
    }
  }
  return seen;
}

/** The verdict that follows from these statistics. */
function verdictOf({ isAsked, sentInVain }: Seen): Verdict {
  if (!isAsked) return 'none';
  return sentInVain === 0 ? 'exact' : 'superset';
}

function holds(t: ExecutionContext, rule: AppliedRule): void {
  const example = new Example(rule);
  const part = example.decisions.find((decision) => decision.rule.id === rule.id)?.part;
  if (part === undefined) return t.fail('the example does not fall under the rule');
  const seen = look(example, part);
  t.is(seen.lost, 0, 'rows of the answer are kept back');
  t.is(seen.wrong, 0, 'the plan answers otherwise than the query');
  t.is(verdictOf(seen), rule.verdict, JSON.stringify(seen));
  if (rule.verdict !== 'none') t.true(seen.keptBack > 0 && seen.sent > 0);
  const stage = part.kind === 'matcher' ? undefined : part;
  const { residual } = example.plan(storedNames([], example.naming));
  if (stage !== undefined)
    t.is(residual.includes(stage), rule.verdict !== 'exact', 'what is left to evaluate');
}

const ofMetrics: ReadonlySet<string> = new Set(metricRules.map(({ id }) => id));
for (const rule of allRules) {
  if (ofMetrics.has(rule.id)) continue;
  test(`${rule.id} is ${rule.verdict}, as rows around its example show`, holds, rule);
}
