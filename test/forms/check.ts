import assert from 'node:assert/strict';
import { execFileSync, spawnSync, type ExecFileSyncOptions } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { packageRoot } from '../../core/kernel/options/index.js';
import { questions } from './yesterday.js';

export const root = packageRoot();

/** Thrown by a check if this machine lacks a tool for it. */
export class NotRun extends Error {}

/** The environment that the checks of one run share. */
export interface Lab {
  /** A folder that is removed at the end. */
  readonly folder: string;
  /** The folder of the release. */
  readonly release: string;
  /** An embedded backend with logs. */
  readonly backend: string;
}

export type Check = readonly [sentence: string, run: (lab: Lab) => void | Promise<void>];

export function newFolder(): string {
  return mkdtempSync(join(tmpdir(), 'ref-proxy-forms-'));
}

export function readYaml(path: string): unknown {
  return parse(readFileSync(join(root, path), 'utf8'), { merge: true });
}

/** Runs a command and returns its output; throws with all its output if it fails. */
export function run(command: string, args: readonly string[], options: ExecFileSyncOptions = {}): string {
  return execFileSync(command, args, { stdio: 'pipe', maxBuffer: 2 ** 28, ...options, encoding: 'utf8' });
}

/** @throws NotRun if a program is not installed */
export function needs(...programs: readonly string[]): void {
  for (const program of programs)
    if (spawnSync('sh', ['-c', `command -v ${program}`]).status !== 0)
      throw new NotRun(`${program} is not installed`);
}

interface DataSources {
  readonly datasources: readonly DataSource[];
}

interface DataSource {
  readonly type: string;
  readonly url: string;
  readonly jsonData: { readonly httpHeaderName1: string };
  readonly secureJsonData: { readonly httpHeaderValue1: string };
}

/** The data source for ref-proxy in examples/grafana/datasource.yaml. */
export function dataSource(): DataSource {
  const { datasources } = readYaml('examples/grafana/datasource.yaml') as DataSources;
  const source = datasources.find(({ type }) => type === 'loki');
  assert(source, 'a data source of type loki');
  return source;
}

/** Sends a query as Grafana does with its provisioning file, with this form as the host. */
export async function answersGrafana(url: string): Promise<void> {
  const source = dataSource();
  const address = source.url.replace(new URL(source.url).origin, url);
  const headers = { [source.jsonData.httpHeaderName1]: source.secureJsonData.httpHeaderValue1 };
  const question = questions.find((each) => each.startsWith('query_range'));
  const answer = await fetch(`${address}/loki/api/v1/${question}`, { headers });
  const text = await answer.text();
  assert.equal(answer.status, 200, text);
  assert.match(text, /"level=info order \d+ took \d+ ms"/);
}
