import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { packageRoot } from '../../core/kernel/options/index.js';
import { applyStep, readRecipes } from './recipes.js';
import { Workshop } from './workshop.js';

const root = packageRoot();
const recipes = readRecipes(readFileSync(join(root, 'docs/recipes.md'), 'utf8'));
const commands = recipes.flatMap((recipe) => recipe.commands);

test('there is a recipe for each of the usual changes', (t) => {
  t.deepEqual(
    recipes.map(({ title }) => title),
    [
      'A new built-in stage',
      'A new operation',
      'A new pushdown rule',
      'A new stage of LogQL',
      'A new template function',
      'A new range function',
    ],
  );
  for (const { title, steps, commands: ownCommands } of recipes) {
    t.true(steps.length > 0, title);
    t.true(
      ownCommands.some((command) => command.startsWith('npx ava ')),
      `${title} runs tests`,
    );
  }
});

// All recipes share one copy: they must not conflict, and need only one build and one test run.
test('who follows the recipes to the letter has a repository whose tests pass', async (t) => {
  const workshop = new Workshop();
  try {
    for (const recipe of recipes) workshop.write(recipe);
    await workshop.transpile();
    const generated = await workshop.generate();
    t.true(generated.isWell, generated.output);
    for (const command of commands) {
      const [program, ...args] = command.split(' ');
      if (program !== 'node') continue;
      const { isWell, output } = await workshop.node(...args);
      t.true(isWell, `${command}\n${output}`);
    }
    const tests = commands
      .filter((command) => command.startsWith('npx ava '))
      .flatMap((command) => command.split(' ').slice(2));
    const { isWell, output } = await workshop.test(tests);
    t.true(isWell, output);
  } finally {
    workshop.close();
  }
});

test('every command of a recipe is one that its test runs', (t) => {
  for (const command of commands) t.regex(command, /^(?:npm run generate$|node |npx ava )/);
});

test('a recipe that no longer fits its files is found', (t) => {
  const step = { path: 'core/a.ts', language: 'diff', text: ' one\n-two\n+three\n' };
  t.is(applyStep(step, 'zero\none\ntwo\nfour\n'), 'zero\none\nthree\nfour\n');
  t.is(applyStep({ ...step, text: '+last\n' }, 'first\n'), 'first\nlast\n');
  t.throws(() => applyStep(step, 'one\n2\n'), { message: /^core\/a\.ts: these lines stand 0 times/ });
  t.throws(() => applyStep(step, 'one\ntwo\none\ntwo\n'), { message: /stand 2 times/ });
  t.throws(() => applyStep(step, undefined), { message: /does not exist/ });
  t.throws(() => applyStep({ ...step, language: 'ts' }, 'one\n'), { message: /exists/ });
});
