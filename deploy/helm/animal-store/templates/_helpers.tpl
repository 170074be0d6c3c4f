{{- define "animal-store.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else if contains $name .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "animal-store.selectorLabels" -}}
app.kubernetes.io/name: animal-store
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "animal-store.apiLabels" -}}
{{ include "animal-store.selectorLabels" . }}
app.kubernetes.io/component: api
{{- end -}}

{{- define "animal-store.labels" -}}
{{ include "animal-store.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "animal-store.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end -}}
{{- end -}}

{{- define "animal-store.serviceAccountName" -}}
{{- default (include "animal-store.fullname" .) .Values.serviceAccount.name -}}
{{- end -}}

{{- define "animal-store.postgresName" -}}
{{ include "animal-store.fullname" . }}-postgres
{{- end -}}

{{/* Formats a variable as text. Helm reads numbers as floats: `quote` alone would write 1000000 as 1e+06. */}}
{{- define "animal-store.text" -}}
{{- if kindIs "string" . -}}{{ . | quote }}{{- else -}}{{ . | toJson | quote }}{{- end -}}
{{- end -}}

{{/* The Secrets of this release: { database, migrationDatabase, databaseReplicas, redis }, each { name, key } or absent. */}}
{{- define "animal-store.secrets" -}}
{{- $secrets := .Values.secrets -}}
{{- $owner := dict "name" (printf "%s-app" (include "animal-store.postgresName" .)) "key" "uri" -}}
{{- $database := $secrets.database -}}
{{- if not $database.name -}}
{{- if not .Values.postgres.enabled }}{{ fail "secrets.database.name is required unless postgres.enabled is true" }}{{ end -}}
{{- if .Values.migrations.grants.enabled }}{{ fail "secrets.database.name is required if migrations.grants.enabled is true; set it to the Secret with the URL of the service's role" }}{{ end -}}
{{- $database = $owner -}}
{{- end -}}
{{- $migration := $secrets.migrationDatabase -}}
{{- if not $migration.name -}}
{{- $migration = ternary $owner $database .Values.postgres.enabled -}}
{{- end -}}
{{- $found := dict "database" $database "migrationDatabase" $migration -}}
{{- if and $secrets.databaseReplicas.name .Values.citus.enabled }}{{ fail "secrets.databaseReplicas cannot be used with citus.enabled" }}{{ end -}}
{{- if $secrets.databaseReplicas.name }}{{ $_ := set $found "databaseReplicas" $secrets.databaseReplicas }}{{ end -}}
{{- if $secrets.redis.name }}{{ $_ := set $found "redis" $secrets.redis }}{{ end -}}
{{- toJson $found -}}
{{- end -}}

{{/* An environment variable from a Secret: the URL itself, or the file that contains it. Takes { as, variable, secret, file }. */}}
{{- define "animal-store.secretVariable" -}}
{{- if eq .as "file" -}}
- name: {{ .variable }}_FILE
  value: /etc/animal-store/secrets/{{ .file }}
{{- else -}}
- name: {{ .variable }}
  valueFrom:
    secretKeyRef: { name: {{ .secret.name | quote }}, key: {{ .secret.key | quote }} }
{{- end -}}
{{- end -}}

{{/* Takes a list of { secret, file }. */}}
{{- define "animal-store.secretVolume" -}}
- name: secrets
  projected:
    # 0440
    defaultMode: 288
    sources:
      {{- range . }}
      - secret:
          name: {{ .secret.name | quote }}
          items: [{ key: {{ .secret.key | quote }}, path: {{ .file }} }]
      {{- end }}
{{- end -}}

{{/* The mounts of containers that connect to the database. */}}
{{- define "animal-store.databaseMounts" -}}
{{- if eq .Values.secrets.as "file" -}}
- { name: secrets, mountPath: /etc/animal-store/secrets, readOnly: true }
{{ end -}}
{{- with .Values.extraVolumeMounts -}}
{{ toYaml . }}
{{- end -}}
{{- end -}}

{{- define "animal-store.podSecurityContext" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
seccompProfile: { type: RuntimeDefault }
{{- end -}}

{{- define "animal-store.containerSecurityContext" -}}
readOnlyRootFilesystem: true
allowPrivilegeEscalation: false
capabilities: { drop: [ALL] }
{{- end -}}

{{/* What the values set for every pod. Takes { context, serviceAccount }. */}}
{{- define "animal-store.podSettings" -}}
serviceAccountName: {{ .serviceAccount }}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext: {{- include "animal-store.podSecurityContext" .context | nindent 2 }}
{{- range $name := list "imagePullSecrets" "priorityClassName" "nodeSelector" "tolerations" "affinity" }}
{{- with index $.context.Values $name }}
{{ $name }}: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- end -}}

{{/* preStopSeconds + DRAIN_SECONDS + shutdown + 5 s. The shutdown takes up to 15 s for requests and 5 s for the pool, with workers up to 30 s. */}}
{{- define "animal-store.terminationGracePeriodSeconds" -}}
{{- $end := ternary 35 25 (gt (int .Values.config.WORKERS) 1) -}}
{{- add (int .Values.preStopSeconds) (int .Values.config.DRAIN_SECONDS) $end -}}
{{- end -}}
