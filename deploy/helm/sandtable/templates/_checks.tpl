{{/* Values that contradict each other; the schema says the same of most, in a machine's words. */}}
{{- define "sandtable.checks" -}}
{{- $several := or (gt (int .Values.server.replicas) 1) .Values.server.autoscaling.enabled }}
{{- if and $several (not .Values.database.existingSecret) }}
{{- fail "More than one server needs a database that they share: set database.existingSecret to a secret with the address of a Postgres database, or leave server.replicas at 1 and server.autoscaling.enabled at false." }}
{{- end }}
{{- if and (include "sandtable.server.exposed" .) (not (or .Values.server.insecure .Values.server.accounts .Values.server.trustedProxies)) }}
{{- fail "The server would be reachable from outside the cluster, and no one would be asked to sign in: set server.accounts to true, or server.trustedProxies to the addresses of the proxy that signs people in, or server.insecure to true if everybody may use it." }}
{{- end }}
{{- if and .Values.server.accounts .Values.server.insecure }}
{{- fail "server.accounts asks everybody to sign in, and server.insecure nobody: set one of them." }}
{{- end }}
{{- if and .Values.server.oidc.existingSecret (not (and .Values.server.accounts .Values.server.publicUrl)) }}
{{- fail "An identity provider needs server.accounts and server.publicUrl." }}
{{- end }}
{{- if and (eq .Values.backend "kubernetes") (eq (include "sandtable.runners.namespace" .) .Release.Namespace) }}
{{- fail (printf "Runs need a namespace of their own: %s is the release's. Set runners.namespace to another, or leave it empty." .Release.Namespace) }}
{{- end }}
{{- with .Values.server.a2a }}
{{- $ports := list 8000 (int .port) (int .grpcPort) }}
{{- if and .enabled (ne (len ($ports | uniq)) 3) }}
{{- fail "server.a2a needs two ports of its own: server.a2a.port and server.a2a.grpcPort must differ, and 8000 is the server's." }}
{{- end }}
{{- end }}
{{- if eq .Values.backend "remote" }}
{{- if not (or .Values.execd.enabled .Values.execd.url) }}
{{- fail "backend: remote needs an execution service: set execd.enabled, or execd.url to one that exists." }}
{{- end }}
{{- if not .Values.execd.existingSecret }}
{{- fail "backend: remote needs a token that server and service share: set execd.existingSecret." }}
{{- end }}
{{- else if .Values.execd.enabled }}
{{- fail (printf "execd.enabled installs a service that nobody asks: backend is %s. Set backend to remote." .Values.backend) }}
{{- end }}
{{- if and .Values.model.existingSecret (not (or .Values.model.anthropicKey .Values.model.openaiKey)) }}
{{- fail "model.existingSecret names a secret, but not what in it is a key: set model.anthropicKey or model.openaiKey." }}
{{- end }}
{{- end }}
