import { join } from 'node:path';
import { stringify } from 'yaml';
import type { Json } from '../../comparison/json.js';
import { printQuery } from '../../victoria/logsql/print.js';
import { writeInFolder } from '../give-report.js';
import type { ConvertedFile, ConvertedRule } from './convert-rules.js';

/** A rule file for vmalert. */
interface VmalertFile {
  /** Path below the output directory; its first part tells the data source. */
  readonly path: string;
  readonly text: string;
}

/** The rules as files for two vmalert processes: one asks VictoriaLogs, the other one asks the proxy. */
export function vmalertFiles(files: readonly ConvertedFile[]): readonly VmalertFile[] {
  return files.flatMap((file) => [
    ...fileOf(file, 'victorialogs', 'vlogs', ({ logsql }) => logsql !== undefined),
    ...fileOf(file, 'logql', 'prometheus', ({ logsql }) => logsql === undefined),
  ]);
}

export async function writeVmalertFiles(folder: string, files: readonly VmalertFile[]): Promise<void> {
  for (const { path, text } of files) await writeInFolder(join(folder, path), text);
}

function fileOf(
  converted: ConvertedFile,
  folder: string,
  type: 'vlogs' | 'prometheus',
  isTaken: (rule: ConvertedRule) => boolean,
): readonly VmalertFile[] {
  const headers = headersOf(converted, type);
  const groups = converted.groups.flatMap(({ group: { name, members }, rules }) => {
    const taken = rules.filter(isTaken).map(ruleOf);
    if (taken.length === 0) return [];
    return [{ name, type, ...members, ...(headers.length === 0 ? {} : { headers }), rules: taken }];
  });
  if (groups.length === 0) return [];
  const path = join(folder, converted.file.path.replace(/\.(?:rules|json|yml)$/, '.yaml'));
  return [{ path, text: stringify({ groups }, { lineWidth: 0 }) }];
}

function headersOf({ file, tenant }: ConvertedFile, type: 'vlogs' | 'prometheus'): readonly string[] {
  if (type === 'prometheus') return file.tenant === undefined ? [] : [`X-Scope-OrgID: ${file.tenant}`];
  const { accountId, projectId } = tenant;
  if (accountId === 0 && projectId === 0) return [];
  return [`AccountID: ${accountId}`, `ProjectID: ${projectId}`];
}

function ruleOf({ rule: { expr, members }, logsql }: ConvertedRule): Json {
  const { alert, record, labels, ...others } = members;
  const name = record === undefined ? { alert } : { record };
  if (logsql === undefined) return { ...name, expr, ...(labels === undefined ? {} : { labels }), ...others };
  // vmalert adds this label to each series of VictoriaLogs; an empty value removes it again.
  const own = { ...(typeof labels === 'object' ? labels : {}), stats_result: '' };
  return { ...name, expr: printQuery(logsql), labels: own, ...others };
}
