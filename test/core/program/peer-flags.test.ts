/** Flags and variables of operators who migrate from another proxy for VictoriaLogs. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { startDevBackend, type DevBackend } from '../../../plugins/embedded-backend/dev-backend.js';
import { builtInDefinitions, FlagIndex, parseCommandLine } from '../../../core/kernel/options/index.js';
import { loadPipeline } from '../../../core/kernel/pipeline/index.js';
import { startProxy } from '../../../core/program/start-proxy.js';
import { CapturedLog } from '../../../core/testing/index.js';
import { withDisk } from '../cache/disk-engines.js';
import { refusedSets, startingSets, type PeerSet } from './peer-flags-sets.js';

const pipelineFile = 'pipelines/reference-compatible.yaml';
const index = new FlagIndex(builtInDefinitions());
let backend: DevBackend;
test.before(async () => {
  backend = await startDevBackend();
});
test.after.always(() => backend.close());

/** Loads the set as its operator would enter it here: on free ports, in a folder of its own. */
async function load({ flags, env = {} }: PeerSet, folder: string) {
  await writeFile(join(folder, 'tenant-map.yaml'), 'team-alpha: { account_id: 1, project_id: 1 }\n');
  const here = (text: string): string => text.replaceAll('BACKEND', backend.url).replaceAll('FOLDER', folder);
  const names = new Set(flags.map((flag) => /^--?([^=]+)/.exec(flag)?.[1]));
  const listeners = ['listen', 'admin-listen'].filter((name) => !names.has(name));
  const given = [...flags.map(here), ...listeners.map((name) => `-${name}=127.0.0.1:0`)];
  const variables = Object.entries(env).map(([name, text]) => [name, here(text)] as const);
  const line = parseCommandLine(given, index);
  const loaded = await loadPipeline(pipelineFile, { flags: line.flags, env: Object.fromEntries(variables) });
  const told = loaded.findings.map(({ rule, severity, message }) => `${severity} ${rule}: ${message}`);
  return { pipeline: loaded.pipeline, problems: [...line.problems, ...line.positionals], told };
}

async function withFolder(use: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'ref-proxy-'));
  try {
    await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const needsDisk = ({ flags }: PeerSet): boolean => flags.some((flag) => /^-disk-cache-path=./.test(flag));

for (const set of startingSets) {
  const declare = needsDisk(set) ? withDisk(test.serial) : test.serial;
  declare(`${set.name}: starts and answers`, async (t: ExecutionContext) => {
    await withFolder(async (folder) => {
      const { pipeline, problems, told } = await load(set, folder);
      t.deepEqual(problems, []);
      if (pipeline === undefined) {
        t.fail(told.join('\n'));
        return;
      }
      const proxy = await startProxy(pipeline, { logTo: new CapturedLog() });
      try {
        // Some of the sets require a tenant id.
        const response = await fetch(`${proxy.urls.main}/loki/api/v1/labels`, {
          headers: { 'X-Scope-OrgID': 'team-alpha' },
        });
        t.is(response.status, 200);
        t.like(await response.json(), { status: 'success' });
      } finally {
        await proxy.close();
      }
    });
  });
}

for (const set of refusedSets)
  test.serial(`${set.name}: is refused, as there`, async (t) => {
    await withFolder(async (folder) => {
      const { pipeline, problems, told } = await load(set, folder);
      t.true(pipeline === undefined || problems.length > 0);
      t.regex([...problems, ...told.filter((text) => text.startsWith('error'))].join('\n'), set.reason);
    });
  });

test.serial('each of their variables sets an option', (t) => {
  const read = new Set(builtInDefinitions().flatMap(({ env }) => env));
  const given = new Set(startingSets.flatMap(({ env = {} }) => Object.keys(env)));
  // As specified, these two variables have no effect; the flags with the same names do.
  const specified = ['LABEL_STYLE', 'METADATA_FIELD_MODE'];
  t.deepEqual(
    [...given].filter((name) => !read.has(name)),
    specified,
  );
});
