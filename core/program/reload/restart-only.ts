import type { Pipeline } from '../../kernel/pipeline/types.js';

/** Options of `server` that are fixed when listeners, the process or its workers are created. */
const ofServer = [
  'workers',
  'tlsRequireClientCert',
  'httpMaxHeaderBytes',
  'goMemLimit',
  'goMemLimitPercent',
  'goGcPercent',
] as const;
/** Options of `telemetry` that a reload can change: only the routes, since writers, exporters and series are created once. */
const liveTelemetry: ReadonlySet<string> = new Set(['registerInstrumentation']);

/** The options that differ, such as `server.workers`, and that a running process cannot change. */
export function needsRestart(before: Pipeline, after: Pipeline): readonly string[] {
  const server = ofServer.filter((key) => before.server[key] !== after.server[key]);
  const tls = (['tlsCertFile', 'tlsClientCaFile'] as const).filter(
    (key) => (before.server[key] === undefined) !== (after.server[key] === undefined),
  );
  const was = new Map<string, unknown>(Object.entries(before.telemetry));
  const is = new Map<string, unknown>(Object.entries(after.telemetry));
  const telemetry = [...new Set([...was.keys(), ...is.keys()])].filter(
    (key) => !liveTelemetry.has(key) && JSON.stringify(was.get(key)) !== JSON.stringify(is.get(key)),
  );
  return [
    ...[...server, ...tls].map((key) => `server.${key}`),
    ...telemetry.map((key) => `telemetry.${key}`),
  ];
}
