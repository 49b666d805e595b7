/**
 * `npm run fleet:leaks`: sends interleaved requests of three tenants to a fleet, some for several tenants, half of them with credentials
 * that
 * are forwarded. Exits with 1 if a response contains data that its caller must not see, or lacks data that it must see.
 *
 *   npm run fleet:leaks -- [--requests=10000] [--seed=N] [--replicas=3] [--discovery=static|none] [--workers=2] [--store=redis://...]
 */
import { readArguments } from '../watch/arguments.js';
import { discoveryOf } from './discovery.js';
import { leaks } from './leaks.js';

const options = readArguments(process.argv.slice(2), [
  'requests',
  'seed',
  'replicas',
  'discovery',
  'workers',
  'store',
  'loops',
]);
const replicas = options.number('replicas', 3);
const discovery = options.text('discovery', 'static');
const store = options.text('store', '');
const seed = options.number('seed', 20_261_123);
const report = await leaks({
  requests: options.number('requests', 10_000),
  seed,
  replicas,
  loops: options.number('loops', 12),
  discovery: discovery === 'none' || store !== '' ? undefined : await discoveryOf(discovery, replicas),
  flags: [
    ...(options.number('workers', 1) > 1 ? [`-workers=${options.number('workers', 1)}`] : []),
    ...(store === '' ? [] : [`-shared-cache-url=${store}`]),
  ],
});
const { asked, statuses, backendCalls } = report;
const counts = [...statuses].map(([status, count]) => `${count} times ${status}`).join(', ');
console.log(
  `seed ${seed}: ${asked} requests, ${counts}; ${backendCalls} calls of the backend; ${report.leaks.length} leaks`,
);
for (const leak of report.leaks.slice(0, 10)) console.log(`  ${leak}`);
process.exitCode = report.leaks.length === 0 ? 0 : 1;
