import test from 'ava';
import { generateRulesDoc } from '../../../../core/tools/generate/rules-doc.js';
import { describedRules } from '../../../../core/kernel/check/described-rules.js';

test.serial('every rule has a place in the table and a paragraph of its own', (t) => {
  const text = generateRulesDoc();
  for (const { id, title, docs } of describedRules) {
    t.true(text.includes(`| [${id}](#${id.toLowerCase()}) |`), id);
    t.true(text.includes(`#### ${id}\n\n**${title}.** ${docs}\n`), id);
  }
});
