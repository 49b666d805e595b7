/**
 * `npm run audit-spec`: checks the specification line by line on running proxies, prints the result of each line, and writes
 * docs/specification.md. `--only=TEXT` checks only the claims with that text in their lines or words, and writes nothing. BACKEND_URL names
 * a
 * real VictoriaLogs to use instead of the embedded backend.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../core/kernel/options/index.js';
import { readArguments } from '../watch/arguments.js';
import { audit, type Finding } from './audit.js';
import { failuresFile, render, textOfFailures } from './document.js';
import { sections } from './sections.js';

const options = readArguments(process.argv.slice(2), ['only', 'at-once', 'slow']);
const only = options.text('only', '');
const wanted = sections.map(({ title, claims }) => ({
  title,
  claims: claims.filter(({ lines, says }) => `${title} ${lines} ${says}`.includes(only)),
}));
const startedMs = Date.now();
const findings = await audit(wanted, process.env['BACKEND_URL'], options.number('at-once', 6), (finding) =>
  console.log(lineOf(finding)),
);
for (const outcome of ['holds', 'differs', 'missing', 'fails'] as const)
  console.log(`${findings.filter((each) => each.outcome === outcome).length} ${outcome}`);
console.log(`${findings.length} claims in ${Math.round((Date.now() - startedMs) / 1000)} s`);
if (options.flag('slow'))
  for (const { claim, ms } of [...findings].sort((a, b) => b.ms - a.ms).slice(0, 15))
    console.log(`${ms} ms: ${claim.says}`);
const failures = findings.filter(({ outcome }) => outcome === 'fails');
if (only === '' && process.env['BACKEND_URL'] === undefined) {
  const texts = failures.map(({ claim }) => claim.says);
  writeFileSync(failuresFile, textOfFailures(texts));
  writeFileSync(join(packageRoot(), 'docs/specification.md'), render(sections, texts));
}
process.exitCode = failures.length === 0 ? 0 : 1;

function lineOf({ claim, outcome, why }: Finding): string {
  return `${outcome.padEnd(7)} | ${claim.lines.padEnd(16)} | ${claim.says}${why === undefined ? '' : `\n        ${why}`}`;
}
