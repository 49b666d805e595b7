import { buildTable, type Table } from '../grammar/table.js';
import { addLabelFilterRules } from './label-filter-rules.js';
import { addLogRules } from './log-rules.js';
import { addMetricRules, query } from './metric-rules.js';
import { addStageRules } from './stage-rules.js';
import { grammar } from './tokens.js';
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
  grammar.rule(start)([query, grammar.end], ([made]) => made);
  addLogRules();
  addStageRules();
  addLabelFilterRules();
  addMetricRules();
  return buildTable(grammar);
}
