{{/* Security of every pod here: what the pod security standard `restricted` asks for. Takes users, groups, filter. */}}
{{- define "sandtable.pod.security" -}}
runAsNonRoot: true
{{- if not (kindIs "invalid" .runAsUser) }}
runAsUser: {{ int64 .runAsUser }}
{{- end }}
{{- if not (kindIs "invalid" .runAsGroup) }}
runAsGroup: {{ int64 .runAsGroup }}
{{- end }}
{{- if not (kindIs "invalid" .fsGroup) }}
fsGroup: {{ int64 .fsGroup }}
fsGroupChangePolicy: OnRootMismatch
{{- end }}
seccompProfile:
  {{- toYaml .seccompProfile | nindent 2 }}
{{- end }}

{{/* And of every container: no value can loosen it. */}}
{{- define "sandtable.container.security" -}}
allowPrivilegeEscalation: false
privileged: false
readOnlyRootFilesystem: true
runAsNonRoot: true
capabilities:
  drop: [ALL]
{{- end }}

{{- define "sandtable.env.database" -}}
{{- with .Values.database.existingSecret }}
- name: SANDTABLE_DATABASE_URL
  valueFrom:
    secretKeyRef:
      name: {{ . }}
      key: {{ $.Values.database.key }}
{{- end }}
{{- end }}

{{- define "sandtable.env.execd-token" -}}
- name: SANDTABLE_EXECD_TOKEN
  valueFrom:
    secretKeyRef:
      name: {{ .Values.execd.existingSecret }}
      key: {{ .Values.execd.key }}
{{- end }}

{{- define "sandtable.env.model" -}}
- name: SANDTABLE_MODEL
  value: {{ .Values.model.name | quote }}
{{- with .Values.model.baseUrl }}
- name: SANDTABLE_MODEL_BASE_URL
  value: {{ . | quote }}
{{- end }}
{{- if .Values.model.existingSecret }}
{{- range $variable, $key := dict "SANDTABLE_ANTHROPIC_API_KEY" .Values.model.anthropicKey "SANDTABLE_OPENAI_API_KEY" .Values.model.openaiKey }}
{{- if $key }}
- name: {{ $variable }}
  valueFrom:
    secretKeyRef:
      name: {{ $.Values.model.existingSecret }}
      key: {{ $key }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- define "sandtable.env.limits" -}}
- name: SANDTABLE_TIMEOUT_S
  value: {{ .Values.limits.timeoutSeconds | quote }}
- name: SANDTABLE_MEMORY_MB
  value: {{ .Values.limits.memoryMb | quote }}
- name: SANDTABLE_TMP_MB
  value: {{ .Values.limits.tmpMb | quote }}
- name: SANDTABLE_THREADS
  value: {{ .Values.limits.threads | quote }}
{{- end }}

{{- define "sandtable.env.kubernetes" -}}
- name: SANDTABLE_KUBERNETES_NAMESPACE
  value: {{ include "sandtable.runners.namespace" . }}
- name: SANDTABLE_KUBERNETES_IMAGE
  value: {{ include "sandtable.image" (list . .Values.runners.image) | quote }}
- name: SANDTABLE_KUBERNETES_TEMPLATE
  value: /etc/sandtable/runner/job.json
- name: SANDTABLE_KUBERNETES_WARM
  value: {{ .Values.runners.warm | quote }}
{{- end }}

{{- define "sandtable.env.server" -}}
- name: SANDTABLE_HOME
  value: /var/lib/sandtable
- name: SANDTABLE_HOST
  value: 0.0.0.0
- name: SANDTABLE_PORT
  value: "8000"
{{- if .Values.server.a2a.enabled }}
- name: SANDTABLE_A2A
  value: "true"
- name: SANDTABLE_A2A_PORT
  value: {{ .Values.server.a2a.port | quote }}
- name: SANDTABLE_A2A_GRPC_PORT
  value: {{ .Values.server.a2a.grpcPort | quote }}
{{- end }}
- name: SANDTABLE_ALLOWED_HOSTS
  value: {{ include "sandtable.server.names" . | fromJsonArray | join "," | quote }}
{{- with .Values.server.trustedProxies }}
- name: SANDTABLE_TRUSTED_PROXIES
  value: {{ join "," . | quote }}
{{- end }}
{{- if .Values.server.accounts }}
- name: SANDTABLE_ACCOUNTS
  value: "on"
{{- end }}
{{- with .Values.server.publicUrl }}
- name: SANDTABLE_PUBLIC_URL
  value: {{ . | quote }}
{{- end }}
{{- if include "sandtable.server.open" . }}
- name: SANDTABLE_INSECURE
  value: "true"
{{- end }}
- name: SANDTABLE_BACKEND
  value: {{ .Values.backend }}
{{ include "sandtable.env.model" . }}
{{- with include "sandtable.env.database" . }}
{{- . }}
{{- end }}
{{- if .Values.signingKey.existingSecret }}
- name: SANDTABLE_SIGNING_KEY
  value: /etc/sandtable/signing/{{ .Values.signingKey.key }}
{{- end }}
{{- if eq .Values.backend "kubernetes" }}
{{ include "sandtable.env.kubernetes" . }}
{{- else if eq .Values.backend "remote" }}
- name: SANDTABLE_EXECD_URL
  value: {{ include "sandtable.execd.url" . | quote }}
{{ include "sandtable.env.execd-token" . }}
{{- end }}
{{ include "sandtable.env.limits" . }}
{{- range $name, $value := .Values.server.settings }}
- name: {{ $name }}
  value: {{ $value | toString | quote }}
{{- end }}
{{- with .Values.server.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}
