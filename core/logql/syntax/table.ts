import { buildTable, type Table } from '../grammar/table.js';
import { addLabelFilterRules } from './label-filter-rules.js';
import { addLogRules } from './log-rules.js';
import { addMetricRules, query } from './metric-rules.js';
import { grammar } from './tokens.js';
import { stageDescriptors } from '../stages/index.js';
import type { Expr } from '../ast.js';
import type { Invalid } from './invalid.js';

let table: Table | undefined;

/** LogQL's parser table, built on first use. */
export function logqlTable(): Table {
  table ??= makeTable();
  return table;
}

function makeTable(): Table {
  const start = grammar.nonterminal<Expr | Invalid>('start');
  // A rule of its own, as in Loki: at any other token a query has ended, and what follows is not read as its continuation.
  const whole = grammar.nonterminal<Expr | Invalid>('whole query');
  grammar.rule(start)([whole, grammar.end], ([made]) => made);
  grammar.rule(whole)([query], ([made]) => made);
  addLogRules();
  for (const descriptor of Object.values(stageDescriptors)) descriptor.addRules();
  addLabelFilterRules();
  addMetricRules();
  return buildTable(grammar);
}
