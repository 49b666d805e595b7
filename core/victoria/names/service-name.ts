/** The label that Loki derives for every stream. */
export const serviceNameLabel = 'service_name';

/** The `service_name` of a stream without any label of the discovery list. */
export const unknownService = 'unknown_service';

/** Labels from which Loki takes `service_name`, in its order (limit `discover_service_name`). */
export const serviceDiscoveryLabels: readonly string[] = [
  'service',
  'app',
  'application',
  'app_name',
  'name',
  'app_kubernetes_io_name',
  'container',
  'container_name',
  'k8s_container_name',
  'component',
  'workload',
  'job',
  'k8s_job_name',
];

/** The `service_name` of a stream: its own, or the first discovery label with a value. */
export function discoverServiceName(labels: ReadonlyMap<string, string>): string {
  const own = labels.get(serviceNameLabel);
  if (own !== undefined && own !== '') return own;
  for (const name of serviceDiscoveryLabels) {
    const value = labels.get(name);
    if (value !== undefined && value !== '') return value;
  }
  return unknownService;
}
