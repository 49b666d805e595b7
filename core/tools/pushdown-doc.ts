import { Query } from '../wire/api/query.js';
import { defaultNamingSettings, Naming } from '../victoria/names/naming.js';
import { explainQuery } from '../engine/plan/explain/explain.js';
import { allRules, type AppliedRule } from '../engine/plan/rules/index.js';

const head = `# What is pushed down

Generated from core/engine/plan/rules by \`npm run generate\`; do not edit.

For every construct of LogQL: what VictoriaLogs is asked, and whether that is the whole answer (\`exact\`), more rows than are wanted, of
which the rest is sorted out here (\`superset\`), or nothing (\`none\`: evaluated here, on rows that the rest of the query selects).
\`ref-proxy explain 'QUERY'\` and \`GET /debug/explain?query=\` tell which rules a query falls under: rules of one kind
stand in the order they are tried, and the first that matches decides.

| Rule | Construct | Verdict | Asked of the backend | Why |
|---|---|---|---|---|
`;

const examplesHead = `
## Examples

With the default names. A filter on lines also lets rows through that have no stored line, where it could say no to them; the text
that stands for them is left out below.

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
  const { reads } = explainQuery(new Query(example, 'reject'), new Naming(defaultNamingSettings));
  const asked = reads.map(({ logsql }) => logsql.replace(placeholder, ''));
  return `| ${id} | ${code(example)} | ${asked.map(shortened).map(code).join(' ')} |\n`;
}

function shortened(text: string): string {
  return text.length <= longestShown ? text : `${text.slice(0, longestShown)}...`;
}

function code(text: string): string {
  return text === '' ? '' : `\`${cell(text)}\``;
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}
