/** lokitool: its read-only rule commands, and the errors for its write commands. */
import { parse } from 'yaml';
import { holds, list, members, present, same, text } from './check.js';
import { featuresOf } from './feature.js';
import type { Http, Reply } from './http.js';
import { knownGroups, slashed, withRules } from './rules-service.js';

const prefixes = ['/loki/api/v1/rules', '/api/prom/rules'] as const;
const everyRead = prefixes.flatMap((prefix) =>
  ['', '/{namespace}', '/{namespace}/{group}'].map(
    (rest) => `GET ${prefix.replace('/loki/api/v1/', '')}${rest}`,
  ),
);

export const lokitool = featuresOf('lokitool', 'logcli, canary, lokitool', [
  {
    feature: 'rules list, print and diff: groups by namespace as YAML, on both paths',
    notOnLoki: 'it evaluates rules itself',
    sends: ['GET rules', 'GET /api/prom/rules'],
    run: async ({ http, orgId, stage }) => {
      await withRules(stage, async (url) => {
        for (const prefix of prefixes) {
          const namespaces = members(parse((await get(http.at(url), prefix, orgId)).text), 'namespaces');
          for (const { file, name, rules } of knownGroups) {
            const groups = list(namespaces.get(file), file).map((item) => members(item, 'a group'));
            const group = present(
              groups.find((each) => each.get('name') === name),
              name,
            );
            same(list(group.get('rules'), 'rules').length, rules.length, `rules of ${name}`);
          }
        }
      });
    },
  },
  {
    feature: 'rules get: a group of a namespace, also with encoded slashes in names',
    notOnLoki: 'it evaluates rules itself',
    sends: everyRead.filter((name) => name.includes('{')),
    run: async ({ http, orgId, stage }) => {
      const { namespace, group } = slashed;
      await withRules(stage, async (url) => {
        for (const prefix of prefixes) {
          const file = await get(http.at(url), `${prefix}/${encodeURIComponent(namespace)}`, orgId);
          same([...members(parse(file.text), 'a namespace').keys()], [namespace], 'namespace');
          const path = `${prefix}/${encodeURIComponent(group.file)}/${encodeURIComponent(group.name)}`;
          const one = await get(http.at(url), path, orgId);
          const read = members(parse(one.text), 'a group');
          same(text(read.get('name'), 'name'), group.name, 'name');
          for (const item of list(read.get('rules'), 'rules')) {
            const rule = members(item, 'a rule');
            holds(rule.has('alert') || rule.has('record'), 'neither alert nor record');
            text(rule.get('expr'), 'expr');
          }
        }
      });
    },
  },
  {
    feature: 'unknown rules return 404, which it prints as "requested resource not found"',
    notOnLoki: 'it evaluates rules itself',
    sends: ['GET rules/{namespace}/{group}', 'GET rules/{namespace}'],
    run: async ({ http, orgId, stage }) => {
      await withRules(stage, async (url) => {
        for (const path of ['none/none', 'none']) {
          const reply = await get(http.at(url), `${prefixes[0]}/${path}`, orgId);
          same(reply.status, 404, path);
        }
      });
    },
  },
  {
    feature: 'without a rules backend the list is empty or not found, never a server error',
    notOnLoki: 'it evaluates rules itself',
    sends: ['GET rules', 'GET /api/prom/rules'],
    run: async ({ http, orgId }) => {
      for (const prefix of prefixes) {
        const reply = await get(http, prefix, orgId);
        holds(
          reply.status === 404 || (reply.status === 200 && members(parse(reply.text), 'rules').size === 0),
          reply.text,
        );
      }
    },
  },
  {
    feature: 'rules load and delete are refused with an explanation',
    notOnLoki: 'it evaluates rules itself',
    sends: ['POST rules/{namespace}', 'DELETE rules/{namespace}/{group}'],
    run: async ({ http, orgId }) => {
      const headers = { 'User-Agent': 'lokitool/3.6.0', 'X-Scope-OrgID': orgId };
      const body = 'name: g\nrules:\n  - alert: a\n    expr: vector(1)\n';
      const load = await http.send('POST', `${prefixes[0]}/ns`, { headers, body });
      const drop = await http.send('DELETE', `${prefixes[0]}/ns/g`, { headers });
      for (const reply of [load, drop]) {
        same(reply.status, 405, 'status');
        holds(reply.text.trim() !== '', 'no words');
      }
    },
  },
]);

async function get(http: Http, path: string, orgId: string): Promise<Reply> {
  return http.send('GET', path, { headers: { 'User-Agent': 'lokitool/3.6.0', 'X-Scope-OrgID': orgId } });
}
