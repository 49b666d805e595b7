import test from 'ava';
import { builtInDefinitions, helpText } from '../../../../core/kernel/options/index.js';

test('help shows every flag once, under the name of its section or plugin', async (t) => {
  const definitions = builtInDefinitions();
  const text = await helpText(definitions, {
    usage: 'ref-proxy serve [flags]',
    own: [{ name: 'pipeline', kind: 'string', description: 'Pipeline file.' }],
  });
  t.true(text.startsWith('ref-proxy serve [flags]'));
  const shown = [...text.matchAll(/^ {2}-{1,2}([a-z][\w.-]*)/gm)].map((match) => match[1]);
  const flags = definitions.flatMap(({ flag }) => (flag === undefined ? [] : [flag]));
  t.deepEqual(shown.sort(), ['pipeline', ...flags].sort());
  for (const owner of ['server', 'backend', 'tier0']) t.regex(text, new RegExp(`^${owner}:$`, 'm'));
});
