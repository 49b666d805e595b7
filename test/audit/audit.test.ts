/** Tests the audit itself, and the quick claims of the specification; `npm run audit-spec` checks all of them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { packageRoot } from '../../core/kernel/options/index.js';
import { audit } from './audit.js';
import { differenceOf, readFailures, render } from './document.js';
import { expect, lineNumbers, type Section } from './section.js';
import { checkable, sections } from './sections.js';

const claims = sections.flatMap((section) => section.claims);
const doc = (name: string): string => readFileSync(join(packageRoot(), 'docs', name), 'utf8');

test.serial('docs/specification.md is what the last audit of these claims found', (t) => {
  t.true(doc('specification.md') === render(sections, readFailures()), 'run npm run audit-spec');
});

test.serial('every line of the specification that can be checked has a claim', (t) => {
  const claimed = new Set(claims.flatMap(({ lines }) => lineNumbers(lines)));
  t.deepEqual(
    lineNumbers(checkable).filter((line) => !claimed.has(line)),
    [],
  );
  t.is(new Set(claims.map(({ says }) => says)).size, claims.length, 'no two claims have the same words');
});

test.serial('every difference from the specification is a sentence of docs/differences.md', (t) => {
  const text = doc('differences.md');
  const told = claims.map(differenceOf).filter((difference) => difference !== undefined);
  t.true(told.length > 10);
  t.deepEqual(
    told.filter((difference) => !text.includes(`- ${difference}`)),
    [],
  );
});

test.serial('a claim that a proxy does not keep fails, and says why', async (t) => {
  const made: Section = {
    title: 'made up',
    claims: [
      {
        lines: '1',
        says: 'unknown paths are answered',
        probe: async (lab) => {
          const { status } = await (await lab.site()).get('/none');
          expect(status === 200, `the status is ${status}`);
        },
      },
      { lines: '2', says: 'nothing', differs: 'it does something', probe: () => Promise.resolve() },
    ],
  };
  const found = await audit([made], undefined, 2, () => undefined);
  t.deepEqual(
    found.map(({ outcome, why }) => [outcome, why]),
    [
      ['fails', 'the status is 404'],
      ['differs', 'it does something'],
    ],
  );
});

test.serial('the quick claims of the specification hold', async (t) => {
  const quick = sections.map(({ title, claims: all }) => ({
    title,
    claims: all.filter(({ isQuick }) => isQuick === true),
  }));
  const found = await audit(quick, undefined, 4, () => undefined);
  t.true(found.length > 180);
  t.deepEqual(
    found.filter(({ outcome }) => outcome === 'fails').map(({ claim, why }) => `${claim.says}: ${why ?? ''}`),
    [],
  );
});
