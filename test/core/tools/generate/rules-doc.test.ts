import test from 'ava';
import { generateRulesDoc } from '../../../../core/tools/generate/rules-doc.js';
import { describedRules } from '../../../../core/kernel/check/described-rules.js';

test.serial('every rule has a place in the table and a paragraph of its own', async (t) => {
  const text = await generateRulesDoc();
  for (const { id, title, docs } of await describedRules()) {
    t.true(text.includes(`| [${id}](#${id.toLowerCase()}) |`), id);
    t.true(text.includes(`#### ${id}\n\n**${title}.** ${docs}\n`), id);
  }
});
