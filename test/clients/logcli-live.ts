/** logcli: live tailing and deletion. */
import { holds, same } from './check.js';
import { hourMs, minuteMs, nanos } from './demo-data.js';
import { featuresOf } from './feature.js';
import { readGrafanaAnswer, type LogRow } from './grafana-reader.js';
import { goQuery, type Pairs } from './http.js';
import { api, ask, headersOf, rangeOf } from './logcli-program.js';
import { between, lastHour, ofService } from './oracle.js';
import type { LiveLine } from './stage.js';
import { Tail } from './tail.js';

export const logcliLive = featuresOf('logcli', 'logcli, canary, lokitool', [
  {
    feature: 'query --tail: limit, start and delay_for; lines in order of time',
    sends: ['WS tail'],
    run: async ({ http, stage }) => {
      const labels = { service_name: 'live', env: 'logcli' };
      const now = Date.now();
      await stage.push(
        [30, 20, 10].map((back) => ({ labels, line: `${back} minutes ago`, atMs: now - back * minuteMs })),
      );
      const pairs: Pairs = [
        ['delay_for', '1'],
        ['limit', '2'],
        ['query', '{service_name="live", env="logcli"}'],
        ['start', String(nanos(now - hourMs))],
      ];
      const tail = await Tail.open(http, pairs, {
        'User-Agent': 'loki-logcli/3.6.0',
        'X-Scope-OrgID': stage.liveOrgId,
      });
      await stage.push([{ labels, line: 'now' }]);
      const lines = await tail.untilLines(3);
      same(
        lines.map(({ line }) => line),
        ['20 minutes ago', '10 minutes ago', 'now'],
        'lines',
      );
      tail.end();
    },
  },
  {
    feature: "delete without the proxy's confirmation header is refused and deletes nothing",
    notOnLoki: 'its deletion is another',
    sends: ['POST delete', 'GET query_range'],
    run: async (scene) => {
      const { http, orgId, data } = scene;
      const [start, end] = [Math.floor(data.endMs / 1000) - 3_600, Math.floor(data.endMs / 1000)];
      const query = goQuery([
        ['query', '{app="batch-worker"}'],
        ['start', String(start)],
        ['end', String(end)],
      ]);
      const reply = await http.send('POST', `${api}/delete`, { query, headers: headersOf(orgId) });
      same(reply.status, 400, 'status');
      holds(reply.text.includes('X-Delete-Confirmation'), reply.text);
      const pairs: Pairs = [['query', '{app="batch-worker"}'], ['limit', '1000'], ...rangeOf(lastHour(data))];
      const { rows } = await ask(scene, 'query_range', pairs);
      same(
        rows.length,
        between(data, data.endMs - hourMs, data.endMs, ofService('batch-worker')).length,
        'lines',
      );
    },
  },
  {
    feature: 'delete --header "X-Delete-Confirmation: true": 204, deletes these lines and no others',
    notOnLoki: 'its deletion is another',
    sends: ['POST delete', 'GET query_range'],
    run: async ({ http, stage }) => {
      const now = Date.now();
      const line = (env: string): LiveLine => ({
        labels: { service_name: 'live', env },
        line: `of ${env}`,
        atMs: now - minuteMs,
      });
      await stage.push([line('doomed'), line('spared')]);
      const headers = { ...headersOf(stage.liveOrgId), 'X-Delete-Confirmation': 'true' };
      const seconds = Math.floor(now / 1000);
      const pairs: Pairs = [
        ['query', '{service_name="live", env="doomed"}'],
        ['start', String(seconds - 600)],
        ['end', String(seconds)],
      ];
      const reply = await http.send('POST', `${api}/delete`, { query: goQuery(pairs), headers });
      same([reply.status, reply.text], [204, ''], 'answer');
      const left = async (): Promise<readonly LogRow[]> => {
        const query: Pairs = [
          ['query', '{service_name="live", env=~"doomed|spared"}'],
          ['limit', '10'],
          ...rangeOf({ startMs: now - hourMs, endMs: Date.now() }),
        ];
        const asked = await http.send('GET', `${api}/query_range`, {
          query: goQuery(query),
          headers: headersOf(stage.liveOrgId),
        });
        return readGrafanaAnswer(asked.text).rows;
      };
      const until = Date.now() + 30_000;
      while (Date.now() < until && (await left()).some(({ line: text }) => text === 'of doomed'));
      same(
        (await left()).map(({ line: text }) => text),
        ['of spared'],
        'lines',
      );
    },
  },
  {
    feature: 'delete list and delete cancel are refused with an explanation',
    notOnLoki: 'its deletion is another',
    sends: ['GET delete', 'DELETE delete'],
    run: async ({ http, orgId }) => {
      for (const method of ['GET', 'DELETE']) {
        const reply = await http.send(method, `${api}/delete`, { headers: headersOf(orgId) });
        same(reply.status, 405, `${method} delete`);
        holds(reply.text.trim() !== '', `${method} delete says nothing`);
      }
    },
  },
]);
