/**
 * Tests the editor schema with changed files: it must accept every file that the checker accepts, and reject most mistakes a schema can
 * detect.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import test from 'ava';
import { parseDocument } from 'yaml';
import { packageRoot } from '../../core/kernel/options/index.js';
import { changedFile } from './made.js';
import { findingsIn } from './measure.js';

/** Rules that a schema can check: the frame, unknown options, and invalid values. */
const visible: ReadonlySet<string> = new Set(['R006', 'R007', 'R008']);

/** The document as an editor parses it; undefined if there is nothing to validate. */
function read(text: string): unknown {
  const document = parseDocument(text);
  if (document.errors.length > 0) return undefined;
  try {
    return document.toJS() as unknown;
  } catch {
    // An alias without an anchor.
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
