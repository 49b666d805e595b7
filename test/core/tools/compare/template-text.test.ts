/** Texts in queries that look like dashboard variables but are not. */
import test from 'ava';
import { fast, fileOf, lokiOf, runCompare, streams, until } from './two-lokis.js';

test.serial(
  'groups of a regular expression and variables of a template are no variables of a dashboard',
  async (t) => {
    const [reference, candidate] = [await lokiOf(t, () => streams()), await lokiOf(t, () => streams())];
    const queries = [
      'label_replace(rate({app="shop"}[1m]), "short", "${1}-$2", "app", "(.)(.*)")',
      '{app="shop"} | line_format "{{ $size := len .line }}{{ $size }}"',
    ];
    const panels = queries.map((expr) => ({
      title: expr,
      datasource: { type: 'loki', uid: 'x' },
      targets: [{ refId: 'A', expr }],
    }));
    const file = await fileOf(t, 'literal.json', JSON.stringify({ title: 'Literal', panels }));
    const sides = [`-reference=${reference.url}`, `-candidate=${candidate.url}`, until, fast];
    const { out } = await runCompare(...sides, file);
    t.deepEqual(
      candidate.asked.map(({ params }) => params.get('query')),
      queries,
    );
    t.notRegex(out, /no value for/);
  },
);
