import test from 'ava';
import { aims, filesPassed, repeatedName } from './files-passed.js';
import { requestKinds } from './request-kinds.js';

/** Limits for the files of core and plugins in which a function runs. Lower them only. */
const bounds: Readonly<Record<string, number>> = {
  'lines with a filter': 119,
  'rate by a label': 145,
  'level histogram': 146,
  'count by a label of JSON': 148,
  'quantile of a number in JSON': 149,
  [repeatedName]: 24,
};

test.serial('a request passes no more source files than it did', async (t) => {
  const passed = await filesPassed();
  t.deepEqual([...passed.keys()], Object.keys(bounds));
  const offences: string[] = [];
  for (const [name, files] of passed) {
    const most = bounds[name] ?? 0;
    const kind = requestKinds.find((known) => known.name === name);
    const aim = kind === undefined ? '' : `; the aim is ${kind.isMetric ? aims.metric : aims.log}`;
    const told = `${name}: ${files.length} files, at most ${most}${aim}`;
    t.log(told);
    // A low count would mean that nothing was measured.
    if (files.length >= 20 && files.length <= most) continue;
    offences.push(told);
    t.log(files.join('\n'));
  }
  t.deepEqual(offences, []);
});
