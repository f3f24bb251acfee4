{{/* Takes a list: the root, the name of the program, what it is given. */}}
{{- define "sandtable.test" -}}
{{- $root := index . 0 -}}
{{- $program := index . 1 -}}
{{- $given := index . 2 -}}
{{- $_ := set $given "seconds" $root.Values.tests.timeoutSeconds -}}
{{- if eq $root.Values.backend "kubernetes" -}}
{{- $_ := set $given "cluster" (dict "host" "$(KUBERNETES_SERVICE_HOST)" "port" "$(KUBERNETES_SERVICE_PORT)" "namespace" (include "sandtable.runners.namespace" $root)) -}}
{{- end -}}
apiVersion: v1
kind: Pod
metadata:
  name: {{ include "sandtable.fullname" $root }}-test-{{ $program }}
  namespace: {{ $root.Release.Namespace }}
  labels: {{- include "sandtable.labels" (list $root "test") | nindent 4 }}
  annotations:
    helm.sh/hook: test
    helm.sh/hook-delete-policy: before-hook-creation
spec:
  restartPolicy: Never
  activeDeadlineSeconds: {{ $root.Values.tests.timeoutSeconds }}
  terminationGracePeriodSeconds: 0
  # What the server may do, and no more.
  serviceAccountName: {{ include "sandtable.server.account" $root }}
  automountServiceAccountToken: {{ eq $root.Values.backend "kubernetes" }}
  # The server is found by its variable: that works in clusters without names, too.
  enableServiceLinks: true
  {{- with $root.Values.imagePullSecrets }}
  imagePullSecrets: {{- include "sandtable.pull-secrets" . | nindent 4 }}
  {{- end }}
  securityContext: {{- include "sandtable.pod.security" $root.Values.server.security | nindent 4 }}
  {{- with $root.Values.server.nodeSelector }}
  nodeSelector: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $root.Values.server.tolerations }}
  tolerations: {{- toYaml . | nindent 4 }}
  {{- end }}
  containers:
    - name: test
      image: {{ include "sandtable.image" (list $root $root.Values.server.image) | quote }}
      imagePullPolicy: {{ $root.Values.server.image.pullPolicy }}
      command: [python3, -B, /etc/sandtable/tests/{{ $program }}.py]
      securityContext: {{- include "sandtable.container.security" $root | nindent 8 }}
      args:
        - {{ $given | mustToJson | quote }}
      resources:
        requests:
          cpu: 50m
          memory: 64Mi
        limits:
          cpu: 500m
          memory: 128Mi
      volumeMounts:
        - name: tests
          mountPath: /etc/sandtable/tests
          readOnly: true
        {{- if eq $root.Values.backend "kubernetes" }}
        - name: runner
          mountPath: /etc/sandtable/runner
          readOnly: true
        {{- end }}
  volumes:
    - name: tests
      configMap:
        name: {{ include "sandtable.fullname" $root }}-tests
    {{- if eq $root.Values.backend "kubernetes" }}
    - name: runner
      configMap:
        name: {{ include "sandtable.fullname" $root }}-runner
    {{- end }}
{{- end }}
