{{/* Takes a list: where to and on which ports, the protocols. */}}
{{- define "sandtable.egress" -}}
{{- $rule := index . 0 -}}
- ports:
    {{- range $protocol := index . 1 }}
    {{- range $rule.ports }}
    - protocol: {{ $protocol }}
      port: {{ . }}
    {{- end }}
    {{- end }}
  {{- with $rule.to }}
  to: {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}
