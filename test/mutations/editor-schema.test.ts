/** The schema for editors over changed files: it refuses none that the checker takes, and most of what a schema can see. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import test from 'ava';
import { parseDocument } from 'yaml';
import { packageRoot } from '../../core/kernel/options/index.js';
import { changedFile } from './made.js';
import { findingsIn } from './measure.js';

/** What a schema can see: the frame, unknown options, and values that are not allowed. */
const visible: ReadonlySet<string> = new Set(['R006', 'R007', 'R008']);

/** What an editor reads; undefined where there is nothing to hold against a schema. */
function read(text: string): unknown {
  const document = parseDocument(text);
  if (document.errors.length > 0) return undefined;
  try {
    return document.toJS() as unknown;
  } catch {
    // An alias of nothing.
    return undefined;
  }
}

test.serial(
  'the schema for editors agrees with the checker on changed files, as far as a schema can',
  async (t) => {
    const schema = JSON.parse(
      readFileSync(join(packageRoot(), 'schemas', 'pipeline.schema.json'), 'utf8'),
    ) as object;
    const isValid = new Ajv2020({ strict: false, validateFormats: false }).compile(schema);
    let [seen, refused] = [0, 0];
    const missed: string[] = [];
    for (let step = 0; step < 500; step += 1) {
      const { text, kind } = changedFile(23, step);
      const value = read(text);
      if (value === undefined) continue;
      const findings = await findingsIn(text);
      const isRefused = !isValid(value);
      if (isRefused)
        t.true(findings.length > 0, `${kind}: ${JSON.stringify(isValid.errors?.slice(0, 3))}\n${text}`);
      const [first] = findings;
      if (first === undefined || !visible.has(first.rule)) continue;
      seen += 1;
      if (isRefused) refused += 1;
      else missed.push(`${kind}: ${first.message}`);
    }
    t.true(seen > 100);
    t.true(refused >= 0.9 * seen, `${refused} of ${seen}\n${missed.join('\n')}`);
  },
);
