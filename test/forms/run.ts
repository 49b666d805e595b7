/**
 * `npm run forms`: makes a release and checks each of its forms as far as this machine has the tools; missing tools are listed. Exits with
 * 1 if
 * a check fails. `-- --packed` uses the package that `npm run package` has left in dist, `-- --only=TEXT` runs the checks with that text in
 * their sentence.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { archiveChecks } from './archives.js';
import { chartChecks } from './chart.js';
import { newFolder, NotRun, root, run, type Check } from './check.js';
import { composeChecks } from './compose.js';
import { containerChecks } from './container.js';
import { systemdChecks } from './systemd.js';
import { serveLogs } from './yesterday.js';

const checks: readonly Check[] = [
  ...archiveChecks,
  ...systemdChecks,
  ...composeChecks,
  ...chartChecks,
  ...containerChecks,
];

async function main(): Promise<number> {
  const only = process.argv.find((text) => text.startsWith('--only='))?.slice('--only='.length) ?? '';
  const packed = process.argv.includes('--packed') ? ['--packed'] : [];
  const folder = newFolder();
  try {
    const release = join(folder, 'release');
    const flags = ['--draft', `--to=${release}`, ...packed];
    process.stdout.write(run('npm', ['run', '--silent', 'release', '--', ...flags], { cwd: root }));
    const logs = await serveLogs();
    try {
      const chosen = checks.filter(([sentence]) => sentence.includes(only));
      return await runAll(chosen, { folder, release, backend: logs.url });
    } finally {
      await logs.stop();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function runAll(chosen: readonly Check[], lab: Parameters<Check[1]>[0]): Promise<number> {
  const count = { passed: 0, failed: 0, left: 0 };
  for (const [sentence, check] of chosen) {
    const startedMs = performance.now();
    try {
      await check(lab);
      count.passed += 1;
      console.log(`  ok  ${sentence} (${((performance.now() - startedMs) / 1000).toFixed(1)} s)`);
    } catch (error) {
      if (error instanceof NotRun) {
        count.left += 1;
        console.log(`NOT RUN  ${sentence}: ${error.message}`);
      } else {
        count.failed += 1;
        console.log(`FAIL  ${sentence}`, error);
      }
    }
  }
  console.log(`${count.passed} checks passed, ${count.failed} failed, ${count.left} not run`);
  return count.failed === 0 ? 0 : 1;
}

process.exitCode = await main();
