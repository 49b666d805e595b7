/** Loki's build information: its flat keys, and the same under `data` for Prometheus-style readers. */
export function buildInfo(version: string): object {
  const info = {
    version,
    revision: 'ref-proxy',
    branch: 'main',
    buildUser: '',
    buildDate: '',
    goVersion: process.version,
  };
  return { ...info, status: 'success', data: info };
}
