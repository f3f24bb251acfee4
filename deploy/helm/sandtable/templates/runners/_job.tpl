{{/*
The Job of one run. For each the server sets name and labels, arguments, deadlines and limits, and adds two volumes:
what is to be done as the file /job/order (from an annotation; neither argument nor environment), and a sized /scratch
in memory.
*/}}
{{- define "sandtable.runners.job" -}}
apiVersion: batch/v1
kind: Job
metadata:
  namespace: {{ include "sandtable.runners.namespace" . }}
  labels:
    {{- include "sandtable.runners.selector" . | nindent 4 }}
    app.kubernetes.io/part-of: sandtable
    {{- with .Values.runners.kueueQueue }}
    kueue.x-k8s.io/queue-name: {{ . }}
    {{- end }}
    {{- with .Values.commonLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  backoffLimit: 0
  completions: 1
  parallelism: 1
  activeDeadlineSeconds: 300
  ttlSecondsAfterFinished: 300
  template:
    metadata:
      labels:
        {{- include "sandtable.runners.selector" . | nindent 8 }}
        app.kubernetes.io/part-of: sandtable
        {{- with .Values.commonLabels }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
        {{- with .Values.runners.podLabels }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      {{- with .Values.runners.podAnnotations }}
      annotations: {{- toYaml . | nindent 8 }}
      {{- end }}
    spec: {{- include "sandtable.runners.pod" . | nindent 6 }}
{{- end }}

{{- define "sandtable.runners.pod" -}}
restartPolicy: Never
# A run that is cancelled or out of time gets no time to think about it.
terminationGracePeriodSeconds: 0
serviceAccountName: {{ include "sandtable.runners.account" . }}
automountServiceAccountToken: false
enableServiceLinks: false
hostNetwork: false
hostPID: false
hostIPC: false
{{- if not (kindIs "invalid" .Values.runners.security.hostUsers) }}
hostUsers: {{ .Values.runners.security.hostUsers }}
{{- end }}
{{- with .Values.runners.runtimeClassName }}
runtimeClassName: {{ . }}
{{- end }}
{{- with .Values.runners.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .Values.runners.imagePullSecrets }}
imagePullSecrets: {{- include "sandtable.pull-secrets" . | nindent 2 }}
{{- end }}
{{- with .Values.runners.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.runners.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.runners.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
securityContext: {{- include "sandtable.pod.security" .Values.runners.security | nindent 2 }}
containers:
  - name: runner
    image: {{ include "sandtable.image" (list . .Values.runners.image) | quote }}
    imagePullPolicy: {{ .Values.runners.image.pullPolicy }}
    securityContext: {{- include "sandtable.container.security" . | nindent 6 }}
    resources:
      requests: {{- toYaml .Values.runners.requests | nindent 8 }}
      limits:
        cpu: {{ .Values.limits.threads | quote }}
        # With what the engine needs for itself.
        memory: {{ add .Values.limits.memoryMb .Values.limits.tmpMb 512 }}Mi
        ephemeral-storage: {{ .Values.runners.ephemeralStorage }}
    {{- if .Values.data.existingClaim }}
    volumeMounts:
      - name: data
        mountPath: /data
        readOnly: true
    {{- end }}
{{- with .Values.data.existingClaim }}
volumes:
  - name: data
    persistentVolumeClaim:
      claimName: {{ . }}
      readOnly: true
{{- end }}
{{- end }}
