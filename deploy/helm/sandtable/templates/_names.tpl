{{- define "sandtable.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 50 | trimSuffix "-" }}
{{- end }}

{{- define "sandtable.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" }}
{{- else if contains (include "sandtable.name" .) .Release.Name }}
{{- .Release.Name | trunc 50 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name (include "sandtable.name" .) | trunc 50 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "sandtable.runners.namespace" -}}
{{- default (printf "%s-runners" (include "sandtable.fullname" .)) .Values.runners.namespace }}
{{- end }}

{{- define "sandtable.server.account" -}}
{{- if .Values.server.serviceAccount.create }}
{{- default (include "sandtable.fullname" .) .Values.server.serviceAccount.name }}
{{- else }}
{{- default "default" .Values.server.serviceAccount.name }}
{{- end }}
{{- end }}

{{- define "sandtable.runners.account" -}}
{{- printf "%s-runner" (include "sandtable.fullname" .) }}
{{- end }}

{{- define "sandtable.home.claim" -}}
{{- default (printf "%s-home" (include "sandtable.fullname" .)) .Values.server.home.existingClaim }}
{{- end }}

{{- define "sandtable.execd.url" -}}
{{- default (printf "http://%s-execd:8400" (include "sandtable.fullname" .)) .Values.execd.url }}
{{- end }}

{{/* What finds the pods of a component for ever: never changes over upgrades. Takes a list: the root, the component. */}}
{{- define "sandtable.selector" -}}
{{- $root := index . 0 -}}
app.kubernetes.io/name: {{ include "sandtable.name" $root }}
app.kubernetes.io/instance: {{ $root.Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{- define "sandtable.labels" -}}
{{- $root := index . 0 -}}
{{ include "sandtable.selector" . }}
app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
app.kubernetes.io/part-of: sandtable
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version | replace "+" "_" }}
{{- with $root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* What the server labels the pods of runs with. */}}
{{- define "sandtable.runners.selector" -}}
app.kubernetes.io/name: sandtable-runner
{{- end }}

{{/* Takes a list: the root, an image of the values. */}}
{{- define "sandtable.image" -}}
{{- $image := index . 1 -}}
{{- if $image.digest -}}
{{ $image.repository }}@{{ $image.digest }}
{{- else -}}
{{ $image.repository }}:{{ default (index . 0).Chart.AppVersion $image.tag }}
{{- end }}
{{- end }}

{{- define "sandtable.pull-secrets" -}}
{{- range . }}
- name: {{ . }}
{{- end }}
{{- end }}

{{/* In a pod with service links: the server's address. */}}
{{- define "sandtable.server.host" -}}
$({{ include "sandtable.fullname" . | upper | replace "-" "_" }}_SERVICE_HOST)
{{- end }}

{{/* As JSON: the names by which the server may be asked. */}}
{{- define "sandtable.server.names" -}}
{{- $names := list -}}
{{- $services := list (include "sandtable.fullname" .) -}}
{{- if .Values.chat.enabled -}}
{{- $services = append $services (printf "%s-chat" (include "sandtable.fullname" .)) -}}
{{- end -}}
{{- range $services -}}
{{- $inside := printf "%s.%s" . $.Release.Namespace -}}
{{- $names = concat $names (list . $inside (printf "%s.svc" $inside) (printf "%s.svc.cluster.local" $inside)) -}}
{{- end -}}
{{- if .Values.ingress.enabled -}}
{{- range .Values.ingress.hosts -}}
{{- $names = append $names .host -}}
{{- end -}}
{{- end -}}
{{- if .Values.gateway.enabled -}}
{{- $names = concat $names .Values.gateway.hostnames -}}
{{- end -}}
{{- concat $names .Values.server.allowedHosts | uniq | toJson -}}
{{- end }}

{{/* Not empty when the server can be reached from outside the cluster. */}}
{{- define "sandtable.server.exposed" -}}
{{- if or .Values.ingress.enabled .Values.gateway.enabled (ne .Values.server.service.type "ClusterIP") -}}
true
{{- end }}
{{- end }}

{{/* Not empty when everybody who can reach the server may use it. */}}
{{- define "sandtable.server.open" -}}
{{- if or .Values.server.insecure (not (or .Values.server.accounts .Values.server.trustedProxies (include "sandtable.server.exposed" .))) -}}
true
{{- end }}
{{- end }}
