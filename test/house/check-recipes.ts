/** Follows the recipes in a copy of the repository and type-checks the result. Run by `.ci/run`. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../core/kernel/options/index.js';
import { readRecipes } from './recipes.js';
import { Workshop } from './workshop.js';

const root = packageRoot();
const workshop = new Workshop();
try {
  for (const recipe of readRecipes(readFileSync(join(root, 'docs/recipes.md'), 'utf8')))
    workshop.write(recipe);
  await workshop.transpile();
  const generated = await workshop.generate();
  const checked = generated.isWell ? await workshop.checkTypes() : generated;
  process.stdout.write(checked.isWell ? 'the recipes are typed\n' : checked.output);
  process.exitCode = checked.isWell ? 0 : 1;
} finally {
  workshop.close();
}
