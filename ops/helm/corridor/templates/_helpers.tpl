{{- /* Only the subset of the template language that `packages::template` of the tests knows may be used in this chart. */ -}}
{{- define "corridor.name" -}}
{{ .Release.Name | trunc 52 | trimSuffix "-" }}
{{- end }}

{{- define "corridor.selector" -}}
app.kubernetes.io/name: corridor
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "corridor.labels" -}}
{{ include "corridor.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "corridor.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- /* Of every pod. */ -}}
{{- define "corridor.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  seccompProfile: { type: RuntimeDefault }
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
volumes:
  - name: secrets
    secret:
      secretName: {{ .Values.secrets.existingSecret | quote }}
      # 0440
      defaultMode: 288
  - name: data
    emptyDir: {}
{{- with .Values.audit.existingClaim }}
  - name: audit
    persistentVolumeClaim:
      claimName: {{ . | quote }}
{{- end }}
{{- with .Values.extraVolumes }}
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- /* Of every container. */ -}}
{{- define "corridor.container" -}}
image: {{ include "corridor.image" . | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
env:
  - name: CORRIDOR_CONFIG
    value: /etc/corridor/corridor.toml
  - name: CORRIDOR_DATA_DIR
    value: /var/lib/corridor
  - name: CORRIDOR_SECRETS_DIR
    value: /run/secrets/corridor
  - name: CORRIDOR_HTTP__LISTEN
    value: 0.0.0.0:8480
  - name: CORRIDOR_TELEMETRY__LOG_FORMAT
    value: json
  {{- with .Values.publicUrl }}
  - name: CORRIDOR_HTTP__PUBLIC_URL
    value: {{ . | quote }}
  {{- end }}
  {{- with .Values.trustedProxies }}
  - name: CORRIDOR_HTTP__TRUSTED_PROXIES
    value: {{ toJson . | quote }}
  {{- end }}
  {{- if .Values.audit.existingClaim }}
  - name: CORRIDOR_AUDIT__CHECKPOINT_DIR
    value: /var/lib/corridor-audit
  {{- end }}
volumeMounts:
  - name: config
    mountPath: /etc/corridor
    readOnly: true
  - name: secrets
    mountPath: /run/secrets/corridor
    readOnly: true
  - name: data
    mountPath: /var/lib/corridor
{{- if .Values.audit.existingClaim }}
  - name: audit
    mountPath: /var/lib/corridor-audit
{{- end }}
{{- with .Values.extraVolumeMounts }}
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
