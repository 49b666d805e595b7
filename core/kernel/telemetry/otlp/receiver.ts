/** Address, headers and resource attributes shared by metrics and traces. */
import type { TelemetryOptions } from '../../../base/options.gen.js';

/** Completes a base address, or one that ends in /v1, to /v1/metrics or /v1/traces. */
export function signalUrl(endpoint: string, signal: 'metrics' | 'traces'): URL {
  const url = new URL(endpoint);
  const path = url.pathname.replace(/\/+$/, '');
  if (path.endsWith(`/v1/${signal}`)) url.pathname = path;
  else url.pathname = path.endsWith('/v1') ? `${path}/${signal}` : `${path}/v1/${signal}`;
  return url;
}

/** The resource attributes of the process. */
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

/** The headers of `-otlp-headers`, by lower-case name. */
export function headersOf({
  otlpHeaders,
}: Pick<TelemetryOptions, 'otlpHeaders'>): Readonly<Record<string, string>> {
  return Object.fromEntries(otlpHeaders.map(readHeader));
}

/** Parses `Name=value`, whose value may contain `=`. The schema has validated both. */
function readHeader(text: string): readonly [name: string, value: string] {
  const at = text.indexOf('=');
  return [text.slice(0, at).toLowerCase(), text.slice(at + 1).trim()];
}
