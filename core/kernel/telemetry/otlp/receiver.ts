/** Address, headers and resource attributes, which metrics and traces have in common. */
import type { TelemetryOptions } from '../../../base/options.gen.js';

/** A base address and one that ends in /v1 are completed to /v1/metrics or /v1/traces. */
export function signalUrl(endpoint: string, signal: 'metrics' | 'traces'): URL {
  const url = new URL(endpoint);
  const path = url.pathname.replace(/\/+$/, '');
  if (path.endsWith(`/v1/${signal}`)) url.pathname = path;
  else url.pathname = path.endsWith('/v1') ? `${path}/${signal}` : `${path}/v1/${signal}`;
  return url;
}

/** The attributes of the process. */
export function resourceOf(options: TelemetryOptions): readonly (readonly [key: string, value: string])[] {
  const wanted: readonly (readonly [string, string | undefined])[] = [
    ['service.name', options.otelServiceName],
    ['service.namespace', options.otelServiceNamespace],
    ['service.instance.id', options.otelServiceInstanceId],
    ['deployment.environment.name', options.deploymentEnvironment],
  ];
  return wanted.flatMap(([key, value]) =>
    value === undefined || value === '' ? [] : [[key, value] as const],
  );
}

/** The headers of `-otlp-headers`, by names in lower case. */
export function headersOf({
  otlpHeaders,
}: Pick<TelemetryOptions, 'otlpHeaders'>): Readonly<Record<string, string>> {
  return Object.fromEntries(otlpHeaders.map(readHeader));
}

/** `Name=value`; the value may have `=` in it. The schema has checked both. */
function readHeader(text: string): readonly [name: string, value: string] {
  const at = text.indexOf('=');
  return [text.slice(0, at).toLowerCase(), text.slice(at + 1).trim()];
}
