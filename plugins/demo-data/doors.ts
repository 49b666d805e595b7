/** Requests that carry entries to VictoriaLogs, each as a collector would send it. */
import type { Door, SampleEntry } from './story.js';

export interface Push {
  /** Path and query. */
  readonly path: string;
  readonly type: string;
  readonly body: string;
}

/** One request for each door and each list of stream fields. */
export function pushesOf(entries: readonly SampleEntry[]): readonly Push[] {
  const groups = new Map<string, SampleEntry[]>();
  for (const entry of entries) {
    const key = entry.door === 'loki' ? entry.door : `${entry.door} ${streamFields(entry)}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [entry]);
    else group.push(entry);
  }
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    return first === undefined ? [] : [writers[first.door](group, streamFields(first))];
  });
}

function streamFields({ labels }: SampleEntry): string {
  return Object.keys(labels).join(',');
}

const writers: Readonly<Record<Door, (entries: readonly SampleEntry[], streamFields: string) => Push>> = {
  loki: (entries) => ({
    path: '/insert/loki/api/v1/push?disable_message_parsing=1',
    type: 'application/json',
    body: JSON.stringify({
      streams: entries.map(({ labels, atMs, line, fields }) => ({
        stream: labels,
        values: [[`${atMs}000000`, line, fields]],
      })),
    }),
  }),
  jsonLine: (entries, names) => ({
    path: `/insert/jsonline?_stream_fields=${names}&_msg_field=log&_time_field=time`,
    type: 'application/stream+json',
    body: linesOf(
      entries.map(({ labels, atMs, line, fields }) => ({
        ...{ ...labels, ...fields },
        ...{ log: line, time: new Date(atMs).toISOString() },
      })),
    ),
  }),
  elasticsearch: (entries, names) => ({
    path: `/insert/elasticsearch/_bulk?_stream_fields=${names}&_msg_field=message&_time_field=@timestamp`,
    type: 'application/x-ndjson',
    body: linesOf(
      entries.flatMap(({ labels, atMs, line, fields }) => [
        { create: {} },
        { '@timestamp': new Date(atMs).toISOString(), message: line, ...labels, ...fields },
      ]),
    ),
  }),
};

function linesOf(objects: readonly object[]): string {
  return objects.map((each) => `${JSON.stringify(each)}\n`).join('');
}
