import { readFileSync } from 'node:fs';
import test from 'ava';
import { parseQuery, type Stage } from '../../../../core/logql/index.js';
import { compileTemplate, type Rendered } from '../../../../core/logql/template/index.js';
import { goldenPath, type Golden } from '../pipeline/golden.js';

// The file holds one object of this shape per line.
const goldens = readFileSync(goldenPath, 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as Golden);
const templates = goldens.filter(({ family }) => family === 'template');

function stagesOf(query: string): readonly Stage[] {
  const expr = parseQuery(query);
  return expr.kind === 'log' ? expr.stages : [];
}

/** The labels before the format, taken from the same line after a stage that does not change labels. */
function labelsBefore(golden: Golden): ReadonlyMap<string, string> {
  const plain = templates.find(
    ({ query, line, out_labels: labels }) =>
      line === golden.line &&
      labels['__error__'] === undefined &&
      stagesOf(query).at(-1)?.kind === 'line-format',
  );
  return new Map(Object.entries(plain?.out_labels ?? golden.out_labels));
}

function run(golden: Golden, template: string, name: 'line' | 'label'): Rendered {
  const labels = labelsBefore(golden);
  const compiled = compileTemplate(template, name);
  return compiled.render(
    (label) => labels.get(label),
    golden.line,
    BigInt(golden.ts),
    () => labels,
  );
}

test('line_format gives the lines and errors of the recordings', (t) => {
  let checked = 0;
  for (const golden of templates) {
    const formats = stagesOf(golden.query).filter((stage) => stage.kind === 'line-format');
    const [format, ...others] = formats;
    if (format === undefined || others.length > 0) continue;
    const error = golden.out_labels['__error_details__'];
    const expected = error === undefined ? { text: golden.out_line } : { error };
    t.deepEqual(run(golden, format.template, 'line'), expected, golden.id);
    checked++;
  }
  t.is(checked, 162);
});

test('label_format gives the labels and errors of the recordings', (t) => {
  let checked = 0;
  for (const golden of templates) {
    const stage = stagesOf(golden.query).find(({ kind }) => kind === 'label-format');
    if (stage?.kind !== 'label-format' || !golden.kept) continue;
    // Renames change the labels that templates of the same stage see; pipeline tests cover this.
    if (stage.assignments.some(({ kind }) => kind === 'rename')) continue;
    for (const assignment of stage.assignments) {
      if (assignment.kind === 'rename') continue;
      const error = golden.out_labels['__error_details__'];
      const expected = error === undefined ? { text: golden.out_labels[assignment.name] ?? '' } : { error };
      t.deepEqual(run(golden, assignment.template, 'label'), expected, golden.id);
      checked++;
    }
  }
  t.is(checked, 10);
});
