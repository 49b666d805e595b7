import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { freePort } from '../core/program/child.js';
import { plainTarball, unpacked } from './archives.js';
import { needs, root, run, type Check } from './check.js';
import { answersAndEnds } from './program.js';

const unitFile = join(root, 'deploy', 'systemd', 'ref-proxy.service');
const environmentFile = join(root, 'deploy', 'systemd', 'ref-proxy.env');
/** The maximum exposure level. `systemd-analyze security` rates levels up to 4.9 as "OK". */
const mostExposed = 2;

export const systemdChecks: readonly Check[] = [
  [
    'systemd reads the unit without a complaint, and its sandbox leaves little open',
    ({ folder }) => {
      needs('systemd-analyze');
      // The program has another path on this machine.
      const unit = join(folder, 'ref-proxy.service');
      writeFileSync(
        unit,
        readFileSync(unitFile, 'utf8').replaceAll('/opt/ref-proxy/bin/ref-proxy', process.execPath),
      );
      assert.equal(run('systemd-analyze', ['verify', '--man=no', unit]), '');
      const text = run('systemd-analyze', ['security', '--offline=true', '--no-pager', unit]);
      const level = Number(/Overall exposure level for \S+: ([\d.]+)/.exec(text)?.[1]);
      assert(level <= mostExposed, `exposure ${level}`);
    },
  ],
  [
    'the command of the unit serves with the settings of its environment file',
    async (lab) => {
      const unit = readFileSync(unitFile, 'utf8');
      const command = /^ExecStart=(.*)$/m.exec(unit)?.[1];
      assert(command);
      const tree = unpacked({ ...lab, folder: subfolder(lab.folder, 'opt') }, plainTarball);
      const state = subfolder(lab.folder, 'state');
      const address = `127.0.0.1:${await freePort()}`;
      const settings = readFileSync(environmentFile, 'utf8')
        .replaceAll('127.0.0.1:3100', address)
        .replaceAll('http://127.0.0.1:9428', lab.backend)
        .replaceAll('/var/lib/ref-proxy', state);
      const environment = parseEnv(settings);
      const [program = '', ...args] = command.replace('/opt/ref-proxy', tree).split(' ');
      const env = { ...process.env, ...environment };
      const admin = '-admin-listen=127.0.0.1:0';
      await answersAndEnds([program, ...args, admin], `http://${address}`, { env, cwd: state });
    },
  ],
];

function subfolder(folder: string, name: string): string {
  const path = join(folder, name);
  mkdirSync(path);
  return path;
}
