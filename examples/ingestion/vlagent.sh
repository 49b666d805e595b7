# On each node, as a DaemonSet.
vlagent -kubernetesCollector \
  -kubernetesCollector.includePodLabels=false \
  -kubernetesCollector.ignoreFields=kubernetes.container_id,kubernetes.pod_ip,kubernetes.pod_node_name \
  -tmpDataPath=/var/lib/vlagent \
  -remoteWrite.url=http://localhost:9428/insert/native
