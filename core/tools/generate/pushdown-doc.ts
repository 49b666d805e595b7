import type { NamesOptions } from '../../base/options.gen.js';
import { readBuiltInSchemas, resolveOptions } from '../../kernel/options/index.js';
import { Query } from '../../wire/api/request.js';
import { Naming } from '../../victoria/names/naming.js';
import { explainQuery } from '../../engine/plan/explain/explain.js';
import { allRules, type AppliedRule } from '../../engine/plan/rules/index.js';
import { cell, code } from './cells.js';

const head = `# What is pushed down

For operators who tune queries, and for contributors. Generated from core/engine/plan/rules by \`npm run generate\`; do not edit.

This table lists every construct of LogQL with its query to VictoriaLogs and a verdict: the result is complete (\`exact\`), has extra rows that
the proxy filters out (\`superset\`), or is not requested (\`none\`: the proxy evaluates the construct on the rows that the rest of the query selects).
\`ref-proxy explain 'QUERY'\` and \`GET /debug/explain?query=\` show which rules apply to a query: rules of one kind
are listed in the order they are tried, and the first that matches decides.

| Rule | Construct | Verdict | Asked of the backend | Why |
|---|---|---|---|---|
`;

const examplesHead = `
## Examples

The examples use the default names. Line filters also keep rows without a stored line, which the proxy filters; the examples omit
this part of the query.

| Rule | LogQL | LogsQL |
|---|---|---|
`;

const placeholder = / or !_msg:\* or _msg:="missing [^"]*"\*/g;
const longestShown = 200;

/** docs/pushdown.md: the table of rules, with one example each. */
export function generatePushdownDoc(): string {
  const table = allRules.map(
    ({ id, construct, verdict, backend, reason }) =>
      `| ${id} | ${code(construct)} | ${verdict} | ${code(backend)} | ${cell(reason)} |\n`,
  );
  return head + table.join('') + examplesHead + allRules.map(exampleRow).join('');
}

function exampleRow({ id, example }: AppliedRule): string {
  if (typeof example !== 'string') return `| ${id} | none: ${cell(example.whyHidden)} | |\n`;
  const { reads } = explainQuery(new Query(example, 'reject'), defaultNaming());
  const asked = reads.map(({ logsql }) => logsql.replace(placeholder, ''));
  return `| ${id} | ${code(example)} | ${asked.map(shortened).map(code).join(' ')} |\n`;
}

function defaultNaming(): Naming {
  const schema = readBuiltInSchemas().get('names') ?? {};
  // The generated type describes what resolveOptions returns for this schema.
  return new Naming(
    resolveOptions(schema, {}, { flags: new Map(), env: {} }).options as unknown as NamesOptions,
  );
}

function shortened(text: string): string {
  return text.length <= longestShown ? text : `${text.slice(0, longestShown)}...`;
}
