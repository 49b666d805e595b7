{{- define "ref-proxy.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 52 | trimSuffix "-" }}
{{- else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 52 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "ref-proxy.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "ref-proxy.labels" -}}
{{ include "ref-proxy.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | quote }}
{{- end }}

{{- define "ref-proxy.serviceAccount" -}}
{{- if .Values.serviceAccount.create }}{{ .Values.serviceAccount.name | default (include "ref-proxy.name" .) }}
{{- else }}{{ .Values.serviceAccount.name | default "default" }}{{ end }}
{{- end }}

{{- /* The ConfigMap of the pipeline, or nothing for the default one. */ -}}
{{- define "ref-proxy.pipeline" -}}
{{- if .Values.existingPipeline }}{{ .Values.existingPipeline }}
{{- else if .Values.pipeline }}{{ include "ref-proxy.name" . }}-pipeline{{ end }}
{{- end }}

{{- /* Every secret that becomes a file: flag, secret, key. */ -}}
{{- define "ref-proxy.secretFlags" -}}
{{- $all := .Values.secretFlags }}
{{- if .Values.peers.enabled }}
{{- $secret := required "peers.secret: the existing secret with the token of the replicas" .Values.peers.secret }}
{{- $all = append $all (dict "flag" "peer-auth-token" "secret" $secret "key" .Values.peers.key) }}
{{- end }}
{{- toYaml $all }}
{{- end }}

{{- /* A value as a flag has it: Helm reads numbers as floating ones, and prints large ones with an exponent. */ -}}
{{- define "ref-proxy.text" -}}
{{- if and (kindIs "float64" .) (eq (floor .) .) }}{{ printf "%.0f" . }}{{ else }}{{ . }}{{ end }}
{{- end }}
